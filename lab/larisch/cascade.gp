set xlabel 'other keys for each listed one'
set ylabel 'bits of a listed key'
set logscale x 2
stats 'cascade.csv' using 1 nooutput
set xrange [3.5:STATS_max * 1.15]
set yrange [0:*] extend
set key bottom right
plot 'cascade.csv' using 1:8 with lines linetype 8 \
         title 'formula, Bloom filters', \
     '' using 1:2:3:4 with yerrorbars linetype 1 title 'of Bloom filters', \
     '' using 1:5:6:7 with yerrorlines linetype 2 \
         title 'of ribbon filters (ours)', \
     '' using 1:9 with lines title 'limit of information' linetype 7
