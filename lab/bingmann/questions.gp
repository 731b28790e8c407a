set xlabel 'keys of a question'
set ylabel 'share of documents named wrongly'
set logscale xy
set format x '%g'
set format y '10^{%L}'
set xtics (1, 2, 4, 8, 16, 32, 64)
set xrange [0.9:70]
set yrange [1e-8:10]
set key top right
of(rate, some) = column(1) == rate && column(2) == some ? column(3) : NaN
plot 'questions.csv' using (of(0.3, 0)):4 with lines linetype 7 \
         title 'planned: the share to the power of the keys', \
     '' using (of(0.3, 1)):4 with lines linetype 7 notitle, \
     '' using (of(0.01, 0)):4 with lines linetype 7 notitle, \
     '' using (of(0.3, 1)):5 with lines linetype 6 \
         title 'of documents as full as they are', \
     '' using (of(0.3, 0)):5 with lines linetype 6 notitle, \
     '' using (of(0.01, 0)):5 with lines linetype 6 notitle, \
     '' using (of(0.3, 1)):6:7:8 with yerrorbars linetype 5 \
         title 'one probe and 0.3, eight of ten keys', \
     '' using (of(0.3, 0)):6:7:8 with yerrorbars linetype 3 \
         title 'one probe and 0.3, all keys', \
     '' using (of(0.01, 0)):6:7:8 with yerrorbars linetype 1 \
         title 'seven probes and 0.01, all keys'
