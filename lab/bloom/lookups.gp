set xlabel 'bits of the filter for each hard word'
set ylabel 'look-ups for each word'
set xrange [1:11]
set yrange [0:0.5]
set key top right
plot 'lookups.csv' using 1:6 with lines title 'formula' linetype 7, \
     '' using 1:7 with points title 'reported' linetype 2 pointtype 6 \
         pointsize 1.6, \
     '' using 1:3:4:5 with yerrorbars title 'measured, whole probes' \
         linetype 1, \
     0.1 with lines title 'hard words alone' linetype 8
