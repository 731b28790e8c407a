set xlabel 'bits a key'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [10:38]
set key top right
plot 'sets.csv' using 1:2:3:4 with yerrorbars title '4, 5, 6, 7' linetype 1, \
     '' using 1:5:6:7 with yerrorbars title '4, 6, 7' linetype 2, \
     '' using 1:8:9:10 with yerrorbars title '8, 12, 14, 15' linetype 3, \
     for [i=11:13] '' using 1:i with lines title '' linetype 7
