set xlabel 'T'
set ylabel 'probes a counter at the best k'
set xrange [0:31]
set key top left
plot 'load.csv' using 1:2 with linespoints title 'best load' linetype 1
