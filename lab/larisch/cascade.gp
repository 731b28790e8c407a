set xlabel 'other keys for each listed one'
set ylabel 'bits of a listed key'
set logscale x 2
set xrange [3:340]
set yrange [0:*]
plot 'cascade.csv' using 1:6 with lines title 'formula, Bloom filters' linetype 8, \
     '' using 1:2:3:4 with yerrorbars title 'of Bloom filters' linetype 1, \
     '' using 1:5 with linespoints title 'of ribbon filters (ours)' linetype 2, \
     '' using 1:7 with lines title 'limit of information' linetype 7
