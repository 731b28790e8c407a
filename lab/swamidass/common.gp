set xlabel 'keys in common'
set ylabel 'keys'
set xrange [-30:1030]
set yrange [*:*] extend
set key top right
plot 'common.csv' using 1:9 with lines \
         title 'standard deviation of the estimate: theory' linetype 7, \
     '' using 1:5:6:7 with yerrorbars title 'measured' linetype 1, \
     '' using 1:($2 - $1):($3 - $1):($4 - $1) with yerrorbars \
         title 'mean error of the estimate' linetype 2
