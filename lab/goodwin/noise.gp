set xlabel 'rows of a term'
set ylabel 'share of documents named wrongly'
set logscale y
set format y '10^{%L}'
set xrange [0.8:8.2]
set yrange [1e-6:1]
set key bottom left
of(d) = column(1) == d ? column(2) : NaN
plot 'noise.csv' using (of(0.5)):3 with lines linetype 7 \
         title 'density to the power of the rows', \
     '' using (of(0.2)):3 with lines linetype 7 notitle, \
     '' using (of(0.1)):3 with lines linetype 7 notitle, \
     '' using (of(0.5)):4:5:6 with yerrorbars linetype 1 \
         title 'density 1/2', \
     '' using (of(0.2)):4:5:6 with yerrorbars linetype 2 \
         title 'density 0.2', \
     '' using (of(0.1)):4:5:6 with yerrorbars linetype 3 \
         title 'density 0.1'
