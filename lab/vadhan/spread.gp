set ylabel 'spread of filters, as a multiple of the planned one'
set style data points
set xrange [-0.6:6.6]
set yrange [0:*]
set key top right
set xtics rotate by -25
plot 'spread.csv' using ($0 - 0.24):2:xtic(1) title 'random keys' linetype 1, \
     '' using ($0 - 0.08):3 title 'in a row' linetype 2, \
     '' using ($0 + 0.08):4 title 'times 2^{32}' linetype 3, \
     '' using ($0 + 0.24):5 title 'cube' linetype 4
