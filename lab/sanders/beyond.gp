set xlabel 'rounds'
set ylabel 'bits sent, % of those with two rounds'
set xrange [0.8:5.2]
set yrange [90:155]
set xtics 1
set key top right
key(i) = i < 3 ? 64 : 800
share(i) = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.01 : 0.1
same(a, b) = abs(a - b) < 1e-6
plot for [i = 0 : 5] 'beyond.csv' \
         using (same($1, key(i)) && same($2, share(i)) ? $3 : NaN): \
               ($7 * 100):($8 * 100):($9 * 100) \
         with yerrorlines linetype (i + 1) \
         title sprintf('keys of %d bits, %g %% repeated', key(i), \
                       100 * share(i))
