set xlabel 'keys added'
set ylabel 'false-positive rate'
set logscale x
set format x '10^{%L}'
stats 'growing.csv' using 1 nooutput
set xrange [900:STATS_max * 1.2]
set yrange [0:0.0145]
ratio(i) = int(word('50 80 90', i))
apart(i) = 1.03 ** (i - 2)
plot 0.01 title 'asked for' linetype 7, \
     for [i = 1 : 3] 'growing.csv' \
         using ($2 == ratio(i) ? $1 * apart(i) : NaN):3:4:5 \
         with yerrorlines linetype i title sprintf('ratio 0.%d', ratio(i) / 10)
