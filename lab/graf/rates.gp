set xlabel 'kind'
set ylabel 'false-positive rate, as a multiple of 1/256'
set xrange [-0.5:4.5]
stats 'rates.csv' using ($4 * 256) nooutput
set yrange [2 - STATS_max * 1.02:STATS_max * 1.02]
set key top right
plot 1 title '1/256' linetype 7, \
     'rates.csv' using 0:($2 * 256):($3 * 256):($4 * 256):xtic(1) \
         with yerrorbars title 'measured' linetype 1
