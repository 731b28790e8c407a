set xlabel 'keys of the stream'
set ylabel 'false-positive rate'
set logscale x
set format x '10^{%L}'
set xrange [100:200000]
set yrange [0:0.25]
names = '"m = 100000, k = 3, max 1, P = 10" "100000, 3, 3, 10" "10000, 2, 3, 35" "10000, 4, 7, 26"'
plot for [i = 1 : 4] 'stable.csv' using 1:(column(i + 1)) with linespoints \
         linetype i title word(names, i), \
     for [i = 1 : 4] '' using 1:(column(i + 5)) with lines linetype 7 \
         title (i == 1 ? 'the stable point' : '')
