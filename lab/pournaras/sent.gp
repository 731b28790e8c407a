set xlabel 'ranks, a node in each'
set ylabel 'bytes sent for each member and node'
set xrange [1.5:8.5]
set yrange [0:20]
set xtics 1
set key bottom right
plot 'sent.csv' using 1:5 with lines linetype 7 title 'formula', \
     '' using 1:3 with lines linetype 7 notitle, \
     '' using 1:4 with points linetype 2 title 'a tenth has changed', \
     '' using 1:2 with points linetype 1 title 'all told first'
