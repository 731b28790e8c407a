set ylabel 'rate, as a multiple of the true one'
set style data points
set xrange [-0.6:7.6]
set yrange [0.4:1.3]
set key bottom left
set xtics rotate by -25
plot 'inputs.csv' using ($0 - 0.24):2:3:4:xtic(1) with yerrorbars \
         title 'random keys' linetype 1, \
     '' using ($0 - 0.08):5:6:7 with yerrorbars \
         title 'in a row' linetype 2, \
     '' using ($0 + 0.08):8:9:10 with yerrorbars \
         title 'times 2^{32}' linetype 3, \
     '' using ($0 + 0.24):11:12:13 with yerrorbars \
         title 'cube' linetype 4
