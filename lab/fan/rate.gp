set xlabel 'f, bits of a fingerprint'
set ylabel 'rate, as a multiple of the bound'
set xrange [5:15]
set yrange [0.8:1.15]
set key top left
chance(slots, values) = 1 - (1 - 1. / values) ** slots
bound(f) = chance(8, 2 ** f)
plot 1 title 'bound' linetype 8, \
     chance(8 * 0.95, 2 ** x - 1) / bound(x) \
         title 'expected with 0.95 of the slots in use' linetype 7, \
     'rate.csv' using ($2 > 0.92 ? $1 : NaN):($3 / $7):($4 / $7):($5 / $7) \
         with yerrorbars title 'measured' linetype 1, \
     '' using ($2 < 0.92 ? $1 + 0.1 : NaN):($3 / $7):($4 / $7):($5 / $7) \
         with yerrorbars title 'measured with 0.90' linetype 2
