set xlabel 'false-positive rate'
set ylabel 'bits a key'
set logscale x
set format x '10^{%L}'
set xrange [0.0001:0.05]
set yrange [0:*] extend
set key bottom left
plot 'space.csv' using 3:2:4:5 with xerrorlines linetype 1 \
         title 'counting, 4 bits', \
     '' using 7:6:8:9 with xerrorlines title 'd-left' linetype 2
