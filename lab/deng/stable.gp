set xlabel 'keys of the stream'
set ylabel 'false-positive rate'
set logscale x
set format x '10^{%L}'
set xrange [100:200000]
set yrange [0:0.25]
array names[4] = [ \
    'm = 100000, k = 3, max = 1, P = 10', \
    'm = 100000, k = 3, max = 3, P = 10', \
    'm = 10000, k = 2, max = 3, P = 35', \
    'm = 10000, k = 4, max = 7, P = 26' ]
plot for [i = 1 : 4] 'stable.csv' using ($1 == i ? $2 : NaN):6 with lines \
         linetype 7 title (i == 1 ? 'stable point' : ''), \
     for [i = 1 : 4] '' using ($1 == i ? $2 : NaN):3:4:5 with yerrorlines \
         linetype i title names[i]
