set xlabel 'keys added'
set ylabel 'bits a key'
set logscale x
set format x '10^{%L}'
stats 'cost.csv' using 1 nooutput
set xrange [900:STATS_max * 1.1]
set yrange [0:*] extend
set key bottom right
ratio(i) = int(word('50 80 90', i))
plot for [i = 1 : 3] 'cost.csv' using ($2 == ratio(i) ? $1 : NaN):3 \
         with linespoints linetype i title sprintf('ratio 0.%d', ratio(i) / 10)
