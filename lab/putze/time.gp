set xlabel 'keys in the filter'
set ylabel 'ns a lookup'
set logscale x
set format x '10^{%L}'
stats 'time.csv' using 1 nooutput
set xrange [STATS_min / 1.3:STATS_max * 1.4]
set yrange [0:*] extend
plot 'time.csv' using 1:2:3:4 with yerrorlines linetype 1 \
         title 'standard, member', \
     '' using ($1 * 1.05):5:6:7 with yerrorlines linetype 6 dashtype 2 \
         title 'standard, stranger', \
     '' using 1:8:9:10 with yerrorlines linetype 2 title 'blocked, member', \
     '' using ($1 * 1.05):11:12:13 with yerrorlines linetype 5 dashtype 2 \
         title 'blocked, stranger'
