set xlabel 'rate that was preset'
set ylabel 'rate that was measured, as a multiple of it'
set logscale x
set xrange [0.0007:0.3]
stats 'index.csv' using ($4 / $1) nooutput
set yrange [2 - STATS_max * 1.02:STATS_max * 1.02]
set key top right
plot 1 title 'as preset' linetype 7, \
     'index.csv' using 1:($2 / $1):($3 / $1):($4 / $1) with yerrorbars \
         title 'measured' linetype 1
