set xlabel 'l, the least increment (1: a counting filter)'
set ylabel 'false-positive rate'
set logscale x 2
set logscale y
set xrange [0.8:20]
set format y '10^{%L}'
set key top right
plot 'cells.csv' using ($2 == 8000 ? $1 : NaN):4:5:6 with yerrorbars \
         title '8 cells a key, k = 4' linetype 1, \
     '' using ($2 == 10000 ? $1 : NaN):4:5:6 with yerrorbars \
         title '10 cells a key, k = 6' linetype 2, \
     '' using 1:7 with points title 'formula' linetype 8 pointsize 1.5
