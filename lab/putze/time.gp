set xlabel 'keys in the filter'
set ylabel 'ns a lookup'
set logscale x
set format x '10^{%L}'
set yrange [0:*]
plot 'time.csv' using 1:2:3:4 with yerrorlines title 'standard, member' linetype 1, \
     '' using 1:5:6:7 with yerrorlines title 'standard, stranger' linetype 6, \
     '' using 1:8:9:10 with yerrorlines title 'blocked, member' linetype 2, \
     '' using 1:11:12:13 with yerrorlines title 'blocked, stranger' linetype 5
