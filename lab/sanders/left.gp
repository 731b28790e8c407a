set xlabel 'load: keys for each place'
set ylabel 'share of the single keys that stay'
set logscale xy
set xrange [0.012:0.65]
set yrange [0.01:1]
set xtics ('1/64' 1. / 64, '1/32' 1. / 32, '1/16' 1. / 16, '1/8' 0.125, \
    '1/4' 0.25, '1/2' 0.5)
plot 'left.csv' using 1:2:3:4 with yerrorbars linetype 1 title 'measured', \
     '' using 1:5 with lines linetype 7 title 'formula'
