set xlabel 'rate of the filters'
set ylabel 'values missing or old, in all nodes'
set logscale xy
set format x '10^{%L}'
set xrange [0.0008:0.07]
set yrange [0.1:*]
set key top left
above(x) = x > 0 ? x : NaN
plot 'bound.csv' using 1:2 with lines linetype 7 title '2 n N f²', \
     '' using 1:(above($3)) with points linetype 1 title 'counting', \
     '' using 1:(above($4)) with points linetype 2 title 'cuckoo', \
     '' using 1:(above($5)) with points linetype 3 title 'quotient'
