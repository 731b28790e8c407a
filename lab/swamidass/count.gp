set xlabel 'keys that are in'
set ylabel 'standard deviation of the estimate, keys'
set y2label 'mean error of the estimate, keys'
set ytics nomirror
set y2tics
set border 11
set y2range [-4:4]
set yrange [0:*]
plot 'count.csv' using 1:6 with lines title 'standard deviation: theory' linetype 7, \
     '' using 1:5 with points title 'measured' linetype 1, \
     '' using 1:($2 - $1):($3 - $1):($4 - $1) axes x1y2 with yerrorbars \
         title 'mean error (right axis)' linetype 2
