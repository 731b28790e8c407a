set xlabel 'keys planned for'
set ylabel 'share of slots in use'
set logscale x
set format x '10^{%L}'
stats 'load.csv' using 1 nooutput
set xrange [80:STATS_max * 1.3]
set yrange [0.92:1.002]
set key bottom right
apart(i) = 1.05 ** (i - 1)
plot 0.95 title '95 %' linetype 7, \
     for [i = 0 : 2] 'load.csv' \
         using ($2 == 6 + 5 * i ? $1 * apart(i) : NaN):3:4:5 \
         with yerrorlines linetype (i + 1) \
         title sprintf('fingerprints of %d bits', 6 + 5 * i)
