set xlabel 'bits a key of a standard filter of the same rate'
set ylabel 'bits more, %'
set xrange [3:25]
set yrange [0:80]
plot 'space.csv' using 1:($5 * 100) with linespoints title 'split' linetype 3, \
     '' using 1:($4 * 100) with linespoints title 'blocked' linetype 2
