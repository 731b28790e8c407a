set xlabel 'bits in a region'
set ylabel 'share of the keys that can leave'
set xrange [0:42]
set yrange [0:1.05]
set key top right
plot 'regions.csv' using 1:2:3:4 with yerrorbars title 'measured' linetype 1, \
     '' using 1:5 with lines title 'formula' linetype 7
