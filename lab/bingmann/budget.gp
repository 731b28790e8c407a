set xlabel 'keys of a question that names one of a million documents wrongly'
set ylabel 'bits a key'
set logscale xy
set format x '%g'
set format y '%g'
set xtics (1, 2, 4, 8, 16, 32, 64)
set yrange [0.3:100]
set key top right
plot 'budget.csv' using 1:3 with lines linetype 2 title 'one probe', \
     '' using 1:4 with lines linetype 1 title 'as many probes as are best', \
     '' using 1:6 with lines linetype 7 title 'seven probes and 0.01', \
     '' using 1:5 with lines linetype 8 title 'one probe and 0.3'
