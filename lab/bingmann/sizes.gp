set xlabel 'deviation of the logarithm of the sizes'
set ylabel 'bits a key'
set logscale y
set format y '%g'
set yrange [1:20000]
set key top left
plot 'sizes.csv' using 1:6 with linespoints linetype 2 \
         title 'one size, a share of 0.01', \
     '' using 1:2 with linespoints linetype 4 \
         title 'one size, one probe and 0.3', \
     '' using 1:3 with linespoints linetype 5 \
         title '0.3, batches of 1024 documents by size', \
     '' using 1:7 with linespoints linetype 1 title 'groups, 0.01', \
     '' using 1:8 with lines linetype 7 title 'as many as are needed', \
     '' using 1:4 with linespoints linetype 3 title 'groups, 0.3', \
     '' using 1:5 with lines linetype 7 notitle
