set xlabel 'share of single elements taken for repeated'
set ylabel 'bits an element'
set logscale x 2
set format x '2^{%L}'
set xrange [2e-5:0.2]
set yrange [8:23]
set key top right
plot 'rates.csv' using 1:2 with lines linetype 1 title 'one round', \
     '' using 1:3 with points linetype 1 notitle, \
     '' using 1:4 with lines linetype 2 title 'two', \
     '' using 1:5 with points linetype 2 notitle, \
     '' using 1:6 with lines linetype 3 title 'three', \
     '' using 1:7 with points linetype 3 notitle
