set xlabel 'distance, hops (objects there)'
set ylabel 'share of strangers said to be there'
set logscale y
set format y '10^{%L}'
set xrange [0.5:5.5]
set yrange [1e-5:1]
plot 'levels.csv' using 1:6 with points linetype 8 pointsize 1.6 \
         title 'formula', \
     '' using 1:3:4:5:xtic(sprintf('%s (%s)', strcol(1), strcol(2))) \
         with yerrorbars linetype 1 title 'measured'
