set xlabel 'bits a key'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [22:62]
set key top right
plot 'memory.csv' using 1:2:3:4 with yerrorbars title 'counting' linetype 1, \
     '' using 1:5:6:7 with yerrorbars title 'variable, l = 4' linetype 2, \
     '' using 1:8 with lines title 'formula' linetype 7, \
     '' using 1:9 with lines title '' linetype 7
