set xlabel 'share of members among the questions'
set ylabel 'share of the positive answers that are right'
set logscale x
set yrange [0:1.05]
set key bottom right
plot 'worth.csv' using 1:2 with lines title 'with a rate of 1 %', \
     '' using 1:3 with lines title 'as the paper says' linetype 7
