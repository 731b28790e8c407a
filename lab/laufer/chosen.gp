set xlabel 'share of the bits that the sender has set'
set ylabel 'share of strangers that the field has'
set logscale y
set format y '10^{%L}'
set xrange [-0.05:1.05]
set yrange [1e-3:2]
set key bottom right
plot 'chosen.csv' using ($1 == 0 ? $2 : NaN):6 with lines title 'formula' \
         linetype 7, \
     '' using ($1 == 2 ? $2 : NaN):6 with lines notitle linetype 7, \
     '' using ($1 == 0 ? $2 : NaN):3:4:5 with yerrorbars linetype 2 \
         title 'two bits set', \
     '' using ($1 == 2 ? $2 : NaN):3:4:5 with yerrorbars linetype 1 \
         title 'two set, two reset', \
     1.0 / 16 with lines linetype 8 title 'bound, 1/16'
