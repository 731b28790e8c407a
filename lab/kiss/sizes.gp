set xlabel 'keys, n'
set ylabel 'bits'
set logscale xy
set format y '10^{%L}'
set xrange [0.9:110]
plot 'sizes.csv' using 1:2 with linespoints title 'first primes' linetype 1, \
     '' using 1:3 with linespoints \
         title 'powers of primes (ours)' linetype 2, \
     '' using 1:5 with lines \
         title 'Bloom filter, 0.01 errors expected' linetype 8, \
     '' using 1:4 with lines title 'limit of information' linetype 7
