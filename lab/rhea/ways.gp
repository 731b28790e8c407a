set xlabel 'objects at each node (levels of 512 bits, k = 4)'
set ylabel 'share of strangers believed at a neighbour'
set logscale xy
set xtics (10, 20, 40, 80, 160)
set format y '10^{%L}'
set xrange [8:200]
set yrange [1e-5:1]
plot 'ways.csv' using 1:9 with lines title 'formula' linetype 7, \
     '' using 1:8 with lines notitle linetype 7, \
     '' using 1:5:6:7 with yerrorbars linetype 2 \
         title 'one filter for all links', \
     '' using 1:2:3:4 with yerrorbars linetype 1 \
         title 'a filter for each link'
