set xlabel 'keys planned for'
set ylabel 'share of slots in use'
set logscale x
set format x '10^{%L}'
set xrange [70:*]
set yrange [0.8:1]
set key bottom right
plot 0.95 title '95 %' linetype 7, \
     for [i = 0 : 2] 'load.csv' using ($2 == 6 + 5 * i ? $1 : NaN):3:4:5 \
         with yerrorlines linetype (i + 1) title sprintf('%d bits', 6 + 5 * i)
