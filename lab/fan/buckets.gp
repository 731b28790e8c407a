set xlabel 'f, bits of a fingerprint'
set ylabel 'share of slots in use'
set xrange [0.5:20.6]
set yrange [0:1.02]
set xtics 2
set key bottom right
size(i) = 2 ** (i - 1)
plot 0.5 notitle linetype 7, 0.84 notitle linetype 7, \
     0.95 notitle linetype 7, 0.98 title 'as the paper says' linetype 7, \
     for [i = 1 : 4] 'buckets.csv' \
         using ($1 == size(i) && $6 == 0 ? $2 : NaN):3:4:5 \
         with yerrorlines linetype i \
         title sprintf('buckets of %d, simulated', size(i)), \
     '' using ($6 == 1 ? $2 + 0.2 : NaN):3:4:5 with yerrorbars linetype 5 \
         title 'our kind, buckets of 4'
