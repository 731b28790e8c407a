set ylabel 'rate, as a multiple of the exact one'
set xrange [-0.5:8.5]
set yrange [0.9:1.7]
set key top right
set xtics rotate by 30 right
set xlabel 'bits, keys, probes' offset 0,-1
named(i) = sprintf('%s, %s, %s', strcol(i), strcol(i + 1), strcol(i + 2))
plot 'small.csv' using 0:($9 / $7) \
         title 'bound of Goel and Gupta' with points linetype 3, \
     '' using 0:($4 / $7):($5 / $7):($6 / $7) with yerrorbars \
         title 'measured' linetype 1, \
     '' using 0:($8 / $7):xtic(named(1)) \
         title 'classic formula' with points linetype 2, \
     1 title 'exact' linetype 7
