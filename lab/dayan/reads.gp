set xlabel 'bits of all filters for each key'
set ylabel 'reads for an absent key, in three runs'
set logscale y
set xrange [3:15]
set key top right
plot 'reads.csv' using 1:5 with lines title 'formula' linetype 7, \
     '' using 1:9 with lines notitle linetype 7, \
     '' using 1:2:3:4 with yerrorbars title 'equal rates' linetype 2, \
     '' using 1:6:7:8 with yerrorbars \
         title 'rates in proportion to the keys' linetype 1
