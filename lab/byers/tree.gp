set xlabel 'nodes looked at'
set ylabel 'share of the differences that is found'
set yrange [0:1]
set xrange [0:*]
set key bottom right
plot for [i=2:6] 'tree.csv' using ($1 == i ? $6 : NaN):3:4:5 \
         with yerrorbars title sprintf('%d bits for leaves', i) linetype i - 1
