set xlabel 'bytes sent'
set ylabel 'share of the differences that is missed'
set logscale x
set xrange [3000:200000]
set yrange [-0.05:0.7]
set key off
plot 'ways.csv' using 2:3:4:5 with yerrorbars linetype 1, \
     '' using ($2 * 1.08):($3 + (int($0) % 2 ? 0.025 : -0.02)):1 with labels left notitle
