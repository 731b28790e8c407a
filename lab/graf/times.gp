set xlabel 'keys'
set ylabel 'ns a lookup'
set logscale xy
set format x '10^{%L}'
stats 'times.csv' using 1 nooutput
set xrange [STATS_min / 1.3:STATS_max * 1.3]
set yrange [1:*]
set ytics (1, 2, 5, 10, 20, 50, 100, 200)
set key top left maxrows 5
plot 'times.csv' using 1:2 with linespoints linetype 1 title 'xor', \
     '' using 1:3 with linespoints linetype 2 title 'binary fuse', \
     '' using 1:4 with linespoints linetype 3 title 'Bloom', \
     '' using 1:5 with linespoints linetype 4 title 'blocked', \
     '' using 1:6 with linespoints linetype 5 title 'cuckoo', \
     '' using 1:7 with lines linetype 1 dashtype 2 title 'in batches', \
     '' using 1:8 with lines linetype 2 dashtype 2 notitle, \
     '' using 1:9 with lines linetype 3 dashtype 2 notitle, \
     '' using 1:10 with lines linetype 4 dashtype 2 notitle, \
     '' using 1:11 with lines linetype 5 dashtype 2 notitle
