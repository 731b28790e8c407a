set xlabel 'keys'
set ylabel 'bits a key'
set logscale x
set format x '10^{%L}'
set xrange [80:*]
set yrange [7:16]
set key top right
plot 'sizes.csv' using 1:2 with linespoints linetype 1 title 'xor', \
     '' using 1:3 with linespoints linetype 2 title 'binary fuse of 3', \
     '' using 1:4 with linespoints linetype 3 title 'binary fuse of 4', \
     '' using 1:5 with linespoints linetype 4 title 'bumped ribbon', \
     '' using 1:6 with linespoints linetype 5 title 'Golomb-coded set', \
     8 * 1.4427 title 'Bloom filter' linetype 8, \
     8 title 'limit of information' linetype 7
