bits(i) = 2 ** (12 + 2 * i)
stats 'keys.csv' using 1 nooutput
last = int(log(STATS_max / bits(0)) / log(4) + 0.5)
set xlabel 'n, keys in the filter'
set ylabel 'false-positive rate'
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
set xrange [200:5e5]
set yrange [1e-5:2]
set key bottom right
plot for [i = 0 : last] 'keys.csv' using ($1 == bits(i) ? $2 : NaN):7 \
         with lines title '' linetype 7, \
     for [i = 0 : last] '' using ($1 == bits(i) ? $2 : NaN):12 \
         with lines title '' linetype 8, \
     for [i = 0 : last] '' using ($1 == bits(i) ? $2 : NaN):4:5:6 \
         with yerrorbars linetype (i + 1) \
         title sprintf('m = 2^{%d} bits', 12 + 2 * i), \
     for [i = 0 : last] '' using ($1 == bits(i) ? $2 : NaN):9:10:11 \
         with yerrorbars linetype (i + 1) pointtype 6 title '', \
     NaN with lines title 'formula, k = 7' linetype 7, \
     NaN with lines title 'formula, best k (hollow points)' linetype 8
