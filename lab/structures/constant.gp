set ylabel 'as a multiple of what was planned'
set style data points
set logscale y
set yrange [0.7:300]
set ytics (1, 2, 5, 10, 20, 50, 100)
stats 'constant.csv' using 2 nooutput
set xrange [-0.7:STATS_records - 0.3]
set rmargin 7
set xtics rotate by -45
set key tmargin right horizontal
plot 'constant.csv' using ($0 - 0.1):2:xtic(1) linetype 1 \
         title 'keys until one is refused (100: never)', \
     '' using ($0 + 0.1):3 linetype 2 title 'bytes then'
