set xlabel 'keys gathered at a time'
set ylabel 'pages written for a key'
set logscale xy
set format x '10^{%L}'
set xrange [0.7:*]
set key bottom left
plot 'writes.csv' using 1:2:3:4 with yerrorbars linetype 1 title 'buffered', \
     '' using 1:5 with lines linetype 1 title 'P (1 - (1 - 1/P)^b) / b', \
     '' using 1:6 with lines linetype 2 title 'a filter without pages'
