set xlabel 'k, probes for each block'
set ylabel 'new blocks for which the index is read'
set logscale y
set format y '10^{%L}'
set xrange [1:13]
set key top right
plot 'probes.csv' using 1:6 with lines title 'formula' linetype 7, \
     '' using 1:7 with lines title '2^{-k}' linetype 8, \
     '' using 1:3:4:5 with yerrorbars title 'measured' linetype 1
