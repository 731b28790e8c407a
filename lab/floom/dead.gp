set xlabel 'b, regions'
set ylabel 'share of the bits of the array'
set xrange [2.5:20.5]
set yrange [0:1.02]
set key bottom left
plot for [j = 1 : 4] 'dead.csv' using ($1 == 1 + 3 * j ? $2 : NaN):3 \
         with lines linetype j title sprintf('k = %d', 1 + 3 * j), \
     for [j = 1 : 4] '' using ($1 == 1 + 3 * j ? $2 : NaN):4 \
         with points linetype j notitle
