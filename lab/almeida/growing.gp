set xlabel 'keys added'
set ylabel 'false-positive rate'
set logscale x
set format x '10^{%L}'
set xrange [800:*]
set yrange [0:0.016]
ratio(i) = int(word('50 80 90', i))
plot 0.01 title 'asked for' linetype 7, \
     for [i = 1 : 3] 'growing.csv' using ($2 == ratio(i) ? $1 : NaN):3:4:5 \
         with yerrorlines linetype i title sprintf('ratio 0.%d', ratio(i) / 10)
