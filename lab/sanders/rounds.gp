set xlabel 'rounds'
set ylabel 'bits an element, in all'
set xrange [0.8:3.2]
set yrange [8:40]
set xtics 1
set key top right
plot 'rounds.csv' using 1:2 with lines linetype 1 \
         title '16 computers, none repeated, keys of 64 bits', \
     '' using 1:3 with points linetype 1 notitle, \
     '' using 1:4 with lines linetype 2 title '16, 1 %, 800', \
     '' using 1:5 with points linetype 2 notitle, \
     '' using 1:6 with lines linetype 3 title '16, 10 %, 128', \
     '' using 1:7 with points linetype 3 notitle, \
     '' using 1:8 with lines linetype 4 title '256, none, 800', \
     '' using 1:9 with lines linetype 5 title '256, 1 %, 128', \
     '' using 1:10 with lines linetype 6 title '4096, 10 %, 64'
