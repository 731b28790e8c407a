set xlabel 'rate of errors'
set ylabel 'bits a key'
set logscale xy 2
set format x '2^{%L}'
set xrange [0.0009:0.27]
set yrange [2:2048]
set key top right
plot 'service.csv' using 1:2 with linespoints linetype 1 \
         title 'memory, single shot', \
     '' using 1:3 with linespoints linetype 2 title 'memory, blocked', \
     '' using 1:8 with lines linetype 8 title 'sent, hashes', \
     '' using 1:4:5:6 with yerrorbars linetype 3 \
         title 'sent, coded, 16 computers', \
     '' using 1:7 with lines linetype 7 title 'formula'
