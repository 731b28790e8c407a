set xlabel 'load: keys for each place'
set ylabel 'share of the single keys that stay'
set logscale xy
set xrange [0.01:0.7]
plot 'left.csv' using 1:2:3:4 with yerrorbars linetype 1 title 'measured', \
     '' using 1:5 with lines linetype 7 title 'formula'
