set xlabel 'm, bits (10 a key, k = 7)'
set ylabel 'rate, as a multiple of the classic formula'
set logscale x
stats 'vanishes.csv' using 1 nooutput
set xrange [17:STATS_max * 1.2]
set yrange [0.95:1.8]
set key top right
plot 'vanishes.csv' using 1:3 with lines \
         title 'bound of Goel and Gupta' linetype 3, \
     '' using 1:2 with lines title 'exact' linetype 7, \
     1 with lines title 'classic formula' linetype 8, \
     '' using 1:4:5:6 with yerrorbars title 'measured' linetype 1
