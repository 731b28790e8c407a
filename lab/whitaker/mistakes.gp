field(i) = word('32/3 64/2 64/4 64/6 128/3 128/4 128/6 256/4 256/6 256/8', i + 1)
set xlabel 'hops of a path without a circle'
set ylabel 'share of packets stopped by mistake'
set logscale y
set format y '10^{%L}'
set xrange [0:31]
set yrange [1e-4:1.5]
set key bottom right
plot for [i = 0 : 9] 'mistakes.csv' using ($1 == i ? $4 : NaN):8 \
         with lines title '' linetype 7, \
     for [i = 0 : 9] '' using ($1 == i ? $4 : NaN):5:6:7 \
         with yerrorbars linetype (i % 6 + 1) pointtype (i + 4) \
         title field(i), \
     NaN with lines title 'the chain (bits/bits of an interface)' linetype 7
