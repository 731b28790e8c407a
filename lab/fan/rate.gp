set xlabel 'bits of a fingerprint'
set ylabel 'false-positive rate'
set logscale y
set xrange [7:13]
set yrange [0.001:0.1]
set key top right
plot 'rate.csv' using 1:3:4:5 with yerrorbars title 'measured' linetype 1, \
     '' using 1:6 with points title 'expected' linetype 8 pointsize 1.6
