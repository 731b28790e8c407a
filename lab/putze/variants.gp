set ylabel 'false-positive rate at 10 bits a key'
set style data points
set logscale y
set yrange [0.007:0.2]
set xrange [-0.6:8.6]
set key top right
set xtics rotate by -25
plot 'variants.csv' using ($0 - 0.06):2:3:4:xtic(1) with yerrorbars \
         title 'measured' linetype 1, \
     '' using ($0 + 0.06):5 title 'named' linetype 8 pointtype 6
