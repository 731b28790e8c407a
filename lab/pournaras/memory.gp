set xlabel 'rate of the filters'
set ylabel 'bytes of a node for each member'
set logscale x
set format x '10^{%L}'
set xrange [0.0008:0.07]
set yrange [0:28]
set key top right
plot 20 linetype 8 title 'a table of hashes and values', \
     'memory.csv' using 1:2 with linespoints linetype 1 title 'counting', \
     '' using 1:3 with linespoints linetype 2 title 'cuckoo', \
     '' using 1:4 with linespoints linetype 3 title 'quotient'
