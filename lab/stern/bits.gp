set xlabel 'bits a state'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set key bottom left
plot 'bits.csv' using 1:2 with lines title 'Bloom filter' linetype 1, \
     '' using 1:3 with lines title 'table, slots anew' linetype 2, \
     '' using 1:4 with lines title 'table, slots in a row' linetype 3, \
     '' using 1:5 with lines title 'compaction' linetype 4, \
     '' using 1:6:7:8 with yerrorbars title 'measured' linetype 4
