stats 'build.csv' using 5 nooutput
set ylabel 'ns a key to build'
set logscale y
set xrange [-0.7:STATS_records - 0.3]
set yrange [1:STATS_max * 1.3]
set ytics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
set xtics rotate by 60 right font ',12'
unset key
# A dot, not a bar: a logarithmic axis has no foot to stand on.
plot 'build.csv' using 0:3:2:xtic(1) with points pointtype 7 pointsize 1.2 \
         linecolor variable, \
     '' using 0:4:(0):($5 - $4) with vectors nohead linetype 8 dashtype 1
