set xlabel 'share of members among the questions'
set ylabel 'share of the positive answers that are right'
set logscale x
set xrange [0.0001:1]
set yrange [0:1.05]
set key bottom right
set samples 400
plot x / (x + (1 - x) * 0.01) \
         title "Bayes' rule with a rate of 1 %" linetype 8, \
     'worth.csv' using 1:2:3:4 with yerrorbars title 'measured' linetype 1, \
     0.99 title 'as the paper says' linetype 7
