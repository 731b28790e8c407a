set xlabel 'keys that are in'
set ylabel 'keys'
set xrange [0:4200]
set yrange [*:*] extend
set key top left
plot 'count.csv' using 1:8 with lines \
         title 'standard deviation of the estimate: theory' linetype 7, \
     '' using 1:5:6:7 with yerrorbars title 'measured' linetype 1, \
     '' using 1:($2 - $1):($3 - $1):($4 - $1) with yerrorbars \
         title 'mean error of the estimate' linetype 2
