set xlabel 'keys gathered at a time, for each page of the file'
set ylabel 'pages written for each key'
set logscale xy
set format x '%g'
set format y '%g'
set xrange [*:*]
set yrange [0.02:50]
set key bottom left
plot 'writes.csv' using 2:7:8:9 with yerrorlines linetype 5 \
         title 'one row of bits', \
     '' using 2:10 with lines linetype 8 \
         title 'pages, the same memory as a cache of them', \
     '' using 2:6 with lines linetype 7 title 'P(1 - (1 - 1/P)^b) / b', \
     '' using 2:3:4:5 with yerrorbars linetype 1 title 'pages: measured', \
     '' using 2:11 with linespoints linetype 3 \
         title 'pages, always the fullest one (simulated)'
