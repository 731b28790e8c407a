field(i) = word('256:6:0 256:2:2 256:4:4 4096:2:2', i + 1)
set xlabel 'distance of a router from the victim, hops'
set ylabel 'share of packets whose field has the router'
set xrange [0:21]
set yrange [0:1.05]
set key bottom left
plot for [i = 0 : 3] 'path.csv' using ($1 == i ? $2 : NaN):6 with lines \
         title '' linetype 7, \
     for [i = 0 : 3] '' using ($1 == i ? $2 : NaN):3:4:5 with yerrorbars \
         linetype (i + 1) title field(i), \
     NaN with lines title 'formula (bits:set:reset)' linetype 7
