set xlabel 'round (60 make a turn, in which each node has talked to each)'
set ylabel 'error of the sum in %'
set xrange [0:240]
set yrange [0:100]
set xtics 60
set key top right
plot 'rounds.csv' using 1:3 with lines linetype 7 \
         title 'the node that is furthest off', \
     '' using 1:2 with lines linetype 1 title 'mean of 60 nodes'
