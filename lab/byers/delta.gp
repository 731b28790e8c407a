set xlabel 'share of the keys that are others'
set ylabel 'bytes of the difference, as a share of the filter'
set logscale x
set format x '10^{%L}'
set yrange [0:1]
set key top left
plot 'delta.csv' using 1:2 with linespoints title '8 bits a key' linetype 1, \
     '' using 1:3 with linespoints title '16 bits a key' linetype 2
