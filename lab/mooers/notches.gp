set xlabel 'notches of a descriptor, 7 descriptors on a card'
set ylabel 'share of cards that drop falsely'
set logscale y
set yrange [0.04:0.5]
set ytics (0.05, 0.1, 0.2, 0.5)
set y2label 'sites that are notched'
set y2range [0:1]
set y2tics 0.25
set border 11
set key top center
plot 'notches.csv' using 1:2 axes x1y2 with lines linetype 5 \
         title 'sites that are notched', \
     '' using 1:3 with lines linetype 7 title 'density^k', \
     '' using 1:8 with lines linetype 6 \
         title 'exactly, notches that may meet', \
     '' using 1:4 with lines linetype 1 title 'exactly, cards', \
     '' using 1:9:10:11 with yerrorbars linetype 3 \
         title 'the index, 40 rows', \
     '' using 1:5:6:7 with yerrorbars linetype 1 title 'cards'
