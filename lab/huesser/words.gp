set xlabel 'rate that was preset'
set ylabel 'rate that was measured, as a multiple of it'
set logscale x
set xrange [0.0007:0.3]
set yrange [0.75:1.25]
plot 1 title 'as preset' linetype 7, \
     'words.csv' using 1:($2 / $1):($3 / $1):($4 / $1) with yerrorbars \
         title 'measured' linetype 1
