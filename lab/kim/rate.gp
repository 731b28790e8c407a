set xlabel 'k, probes'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [0:17]
set key bottom right
# Where nothing was found the point is the interval's upper end.
plot for [i=1:4] 'rate.csv' \
         using ($1 == word('1 2 3 5', i) + 0 ? $2 : NaN):\
               ($3 > 0 ? $3 : $5):($4 > 0 ? $4 : $5):5 \
         with yerrorbars title 'T = '.word('1 2 3 5', i) linetype i, \
     for [i=1:4] '' using ($1 == word('1 2 3 5', i) + 0 ? $2 : NaN):6 \
         with lines title '' linetype 7
