set xlabel 'keys'
set ylabel 'false-positive rate'
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
set xrange [400:650000]
set yrange [1e-5:3e-2]
set key bottom right
measured(rate) = rate > 0 ? rate : NaN
plot 'rate.csv' using 1:9 with lines notitle linetype 1 linewidth 1, \
     '' using 1:5 with lines notitle linetype 2 linewidth 1, \
     '' using 1:13 with lines notitle linetype 5 linewidth 1, \
     '' using 1:17 with lines notitle linetype 3 linewidth 1, \
     '' using 1:18 with lines title 'floom, the model' linetype 8, \
     '' using 1:6:7:8 with yerrorbars linetype 1 \
         title 'standard, original size', \
     '' using 1:2:3:4 with yerrorbars title 'floom' linetype 2, \
     '' using 1:(measured($10)):11:12 with yerrorbars linetype 5 \
         title 'standard, equal total size, same k', \
     '' using 1:(measured($14)):15:16 with yerrorbars linetype 3 \
         title 'the same, best k', \
     '' using 1:19 with points linetype 8 pointsize 1.3 \
         title "the author's measurements", \
     '' using 1:(measured($20)) with points notitle linetype 8 pointsize 1.3
