set xlabel 'bits a key'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [3:21]
set key top right
plot 'rate.csv' using 1:6 with lines linetype 7 \
         title 'blocked: short formula', \
     '' using 1:3:4:5 with yerrorbars title 'blocked: measured' linetype 2, \
     '' using 1:10 with lines title 'standard: formula' linetype 8, \
     '' using 1:7:8:9 with yerrorbars title 'standard: measured' linetype 1
