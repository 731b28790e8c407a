set xlabel 'skew'
set ylabel 'mean error of a count'
set logscale y
set xrange [-0.1:1.6]
set key top right
plot 'error.csv' using 1:2:3:4 with yerrorlines title 'every' linetype 1, \
     '' using 1:5:6:7 with yerrorlines title 'least' linetype 2, \
     '' using 1:8:9:10 with yerrorlines title 'recurring' linetype 3
