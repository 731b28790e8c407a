set xlabel 'k, probes'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [0:21]
set yrange [1e-4:1]
set key bottom left
bits(i) = i < 2 ? 8 + 2 * i : 16
plot for [i = 0 : 2] 'probes.csv' using ($1 == bits(i) ? $2 : NaN):6 \
         with lines title '' linetype 7, \
     for [i = 0 : 2] '' using ($1 == bits(i) ? $2 : NaN):3:4:5 \
         with yerrorbars linetype (i + 1) \
         title sprintf('%d bits a key', bits(i)), \
     NaN with lines title 'formula' linetype 7
