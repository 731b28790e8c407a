set xlabel 'computers, P'
set ylabel 'bits a hash'
set logscale x 2
set xrange [0.9:300]
set yrange [0:18]
set key bottom right
plot 'volume.csv' using 1:5:6:7 with yerrorbars linetype 2 title 'load 1/64', \
     '' using 1:2:3:4 with yerrorbars linetype 1 title 'load 1/8', \
     '' using 1:8 with lines linetype 7 title 'formula', \
     '' using 1:9 with lines linetype 7 notitle
