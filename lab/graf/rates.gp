set ylabel 'false-positive rate'
set xrange [-0.5:4.5]
set yrange [0.0037:0.0041]
plot 'rates.csv' using 0:2:3:4:xtic(1) with yerrorbars title 'measured' linetype 1, \
     1 / 256.0 title '1/256' linetype 7
