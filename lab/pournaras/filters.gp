set xlabel 'bits an entry of a filter'
set ylabel 'mean error of the sum in %'
set logscale y
set format y '10^{%L}'
set xrange [3:21]
set yrange [1e-5:10]
set key top right
# On this scale an interval that reaches 0 begins at the floor.
low(x) = x > 1e-5 ? x : 1e-5
above(x) = x > 0 ? x : NaN
plot 'filters.csv' using 1:(above($8)):(low($9)):10 with yerrorlines \
         linetype 2 title 'adds skipped where a filter seems to have it', \
     '' using 1:(above($3)):(low($4)):5 with yerrorlines linetype 1 \
         title 'every add made'
