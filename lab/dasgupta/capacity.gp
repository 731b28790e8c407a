set xlabel 'odours learned'
set ylabel 'novelty of another'
set xrange [-2:102]
set yrange [-0.05:1.05]
set key top right
plot 'capacity.csv' using 1:5 with lines title '0.95^n' linetype 7, \
     '' using 1:2:3:4 with yerrorbars title 'measured' linetype 1
