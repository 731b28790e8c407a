set xlabel 'keys added'
set ylabel 'bits a key'
set logscale x
set format x '10^{%L}'
set xrange [800:*]
set yrange [0:*]
set key bottom right
plot for [i = 2 : 4] 'cost.csv' using 1:i with linespoints linetype (i - 1)
