set xlabel 'area'
set ylabel 'share'
set logscale y
set format y '10^{%L}'
set xrange [0.5:4.5]
set yrange [1e-6:0.1]
set xtics 1
set key top right
# An interval that reaches down to 0 goes to the edge; nothing seen: no point.
down(x) = x > 1e-6 ? x : 1e-6
plot 'areas.csv' using ($1 - 0.05):2:(down($3)):4 with yerrorbars linetype 1 \
         title 'strangers said to be here', \
     '' using ($6 > 0 ? $1 + 0.05 : NaN):6:(down($7)):8 with yerrorbars \
         linetype 2 title 'members said to be higher', \
     '' using ($1 - 0.05):5 with points linetype 8 pointsize 1.6 \
         title 'formula', \
     '' using ($1 + 0.05):($9 > 0 ? $9 : NaN) with points linetype 8 \
         pointsize 1.6 notitle
