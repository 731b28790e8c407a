set xlabel 'addresses'
set ylabel 'false-positive rate'
set logscale x
stats 'mail.csv' using 1 nooutput
set xrange [STATS_min / 1.5:STATS_max * 1.5]
set format x '10^{%L}'
set yrange [0.02:0.023]
plot 'mail.csv' using 1:3:4:5 with yerrorbars title 'measured', \
     '' using 1:6 with lines title 'formula' linetype 7
