set xlabel 'descriptors on a card'
set ylabel 'share of cards that drop falsely'
set logscale y
set format y '10^{%L}'
set yrange [1e-6:3]
set key top left maxrows 3
of(q, x) = column(1) == q ? x : NaN
plot 'drops.csv' using (of(1, $2)):3 with lines linetype 7 \
         title 'density^{4q}', \
     '' using (of(2, $2)):3 with lines linetype 7 notitle, \
     '' using (of(3, $2)):3 with lines linetype 7 notitle, \
     '' using (of(1, $2)):8 with lines linetype 6 \
         title 'exactly, notches that may meet', \
     '' using (of(2, $2)):8 with lines linetype 6 notitle, \
     '' using (of(3, $2)):8 with lines linetype 6 notitle, \
     '' using (of(1, $2) + 0.1):9:10:11 with yerrorbars linetype 3 \
         title 'the index, 40 rows', \
     '' using (of(2, $2) + 0.1):9:10:11 with yerrorbars linetype 3 notitle, \
     '' using (of(3, $2) + 0.1):9:10:11 with yerrorbars linetype 3 notitle, \
     '' using (of(1, $2)):5:6:7 with yerrorbars linetype 1 \
         title 'cards, 1 descriptor', \
     '' using (of(2, $2)):5:6:7 with yerrorbars linetype 2 \
         title '2 descriptors', \
     '' using (of(3, $2)):5:6:7 with yerrorbars linetype 4 \
         title '3 descriptors'
