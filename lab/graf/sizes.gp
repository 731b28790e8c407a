set xlabel 'keys'
set ylabel 'bits a key'
set logscale xy
set format x '10^{%L}'
stats 'sizes.csv' using 1 nooutput
set xrange [80:STATS_max * 1.2]
set yrange [7:70]
set ytics (8, 9, 10, 12, 16, 24, 32, 48, 64)
set key top right
plot 'sizes.csv' using 1:2 with linespoints linetype 1 title 'xor', \
     '' using 1:3 with linespoints linetype 2 title 'binary fuse of 3', \
     '' using 1:4 with linespoints linetype 3 title 'binary fuse of 4', \
     '' using 1:5 with linespoints linetype 4 title 'bumped ribbon', \
     '' using 1:6 with linespoints linetype 5 title 'Golomb-coded set', \
     8 * 1.4427 title 'Bloom filter' linetype 8, \
     8 title 'limit of information' linetype 7
