set xlabel 'keys'
set ylabel 'ns an insert'
set logscale x
set format x '10^{%L}'
set xrange [400:650000]
set yrange [0:*]
set key bottom right
plot 'time.csv' using 1:2:3:4 with yerrorlines title 'floom' linetype 2, \
     '' using 1:5:6:7 with yerrorlines linetype 1 \
         title 'standard, original size', \
     '' using 1:8:9:10 with yerrorlines linetype 3 \
         title 'standard, equal total size'
