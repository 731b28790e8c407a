margin = 1.5
stats 'far.csv' using 3:4 nooutput
set xlabel 'bits a key'
set ylabel 'ns a lookup'
set logscale xy
set xrange [STATS_min_x / margin:STATS_max_x * margin]
set yrange [STATS_min_y / margin:STATS_max_y * margin]
set xtics (4, 8, 16, 32, 64, 128, 256)
set ytics (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
set key tmargin right
set arrow from 7, graph 0 to 7, graph 1 nohead linetype 7
plot NaN with lines linetype 7 title 'limit of information', \
     'far.csv' using 3:4:($9 - $3):($10 - $4):2 with vectors nohead \
         linewidth 1 linecolor variable notitle, \
     '' using 3:4:5:6:2 with yerrorbars linecolor variable pointtype 7 \
         pointsize 0.7 notitle, \
     '' using 7:8:1:2 with labels font ',12' textcolor variable notitle
