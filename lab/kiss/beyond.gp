set xlabel 'keys'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [50:210]
set yrange [1e-9:1]
# An interval that reaches down to 0 goes to the edge.
down(x) = x > 1e-9 ? x : 1e-9
plot 'beyond.csv' using 1:5 with lines title 'expected' linetype 7, \
     '' using 1:($2 > 0 ? $2 : NaN):(down($3)):4 with yerrorbars \
         title 'measured' linetype 1, \
     '' using 1:($2 > 0 ? NaN : $4) with points title 'none seen: below this' \
         linetype 2 pointtype 11 pointsize 1.5
