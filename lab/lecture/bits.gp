set xlabel 'bits a key'
set ylabel 'rate, as a multiple of the table''s'
set logscale x 2
set xrange [0.4:20]
set yrange [0.9:1.15]
set key top right
table(bits) = 0.5 ** (bits * log(2))
plot 1 title '0.6185^{bits}, the table' linetype 7, \
     'bits.csv' \
         using ($1 * 0.98):($4 / table($1)):($5 / table($1)):($6 / table($1)) \
         with yerrorbars title 'best whole k' linetype 1, \
     '' using ($1 * 1.02):($8 / table($1)):($9 / table($1)):($10 / table($1)) \
         with yerrorbars title 'k rounded up' linetype 2
