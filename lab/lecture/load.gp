set xlabel 'keys'
set ylabel 'false-positive rate'
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
set xrange [40:8e5]
set yrange [1e-6:2]
set key bottom right
rate(n, m) = (1 - exp(-4 * n / m)) ** 4
only(m) = 'load.csv using ($1 == m ? $2 : NaN)'
plot for [b = 12:18:2] rate(x, 2.0 ** b) linetype (b / 2 - 5) \
         title sprintf('m = 2^{%d}', b), \
     'load.csv' using 2:($3 > 0 ? $3 : NaN):4:5 with yerrorbars linetype 8 \
         title 'measured'
