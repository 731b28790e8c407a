set xlabel 'share of the learned odour in a mixture'
set ylabel 'novelty'
set xrange [1.05:-0.05]
set yrange [-0.05:1.05]
set key top left
plot 'similar.csv' using 1:5 with points title 'reported' linetype 2 \
         pointtype 6 pointsize 1.6, \
     '' using 1:2:3:4 with yerrorbars title 'measured' linetype 1
