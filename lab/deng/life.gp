set ylabel 'adds until it is gone'
set style data points
set xrange [-0.6:3.6]
set yrange [0:*]
set key top left
plot 'life.csv' using ($0 - 0.2):5:6:7:xtic(sprintf('k = %d, max = %d', $1, \
         $2)) with yerrorbars title 'a cell, never set again' linetype 1, \
     '' using ($0):8:9:10 with yerrorbars title 'a cell' linetype 2, \
     '' using ($0 + 0.2):11:12:13 with yerrorbars title 'a key' linetype 3, \
     '' using ($0):4 title 'c N / s' linetype 8 pointtype 6
