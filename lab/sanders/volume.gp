set xlabel 'computers, P'
set ylabel 'bits a hash'
set logscale x 2
set xrange [0.9:300]
set yrange [0:*]
set key bottom right
plot 'volume.csv' using 1:3 with points linetype 2 title 'load 1/64', \
     '' using 1:2 with points linetype 1 title 'load 1/8', \
     '' using 1:4 with lines linetype 7 title 'formula', \
     '' using 1:5 with lines linetype 7 notitle
