set xlabel 'keys'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [50:110]
set yrange [1e-9:1e-3]
plot 'beyond.csv' using 1:2 with points title 'measured' linetype 1 pointsize 0.8, \
     '' using 1:5 with points title 'predicted' linetype 8 pointsize 1.6
