set xlabel 'false-positive rate'
set ylabel 'bits a key'
set logscale x
set format x '10^{%L}'
set xrange [1e-5:0.1]
set yrange [0:25]
set key top right
plot 'space.csv' using 1:2 with lines title 'Bloom filter' linetype 1, \
     '' using 1:3 with steps title 'cuckoo' linetype 5, \
     '' using 1:4 with steps title 'cuckoo, sorted' linetype 2, \
     '' using 1:5 with lines title 'limit of information' linetype 7
