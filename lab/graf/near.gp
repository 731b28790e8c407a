set ylabel 'ns a lookup'
set style data points
set xrange [-0.5:5.5]
set logscale y
stats 'near.csv' using 3 name 'a' nooutput
stats 'near.csv' using 12 name 'b' nooutput
set yrange [b_min / 1.5:a_max * 4]
set ytics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
set key top right maxrows 2
plot 'near.csv' using ($0 - 0.15):3:4:5:xtic(1) with yerrorbars linetype 1 \
         title 'member, one by one', \
     '' using ($0 - 0.05):6:7:8 with yerrorbars linetype 2 \
         title 'member, in batches', \
     '' using ($0 + 0.05):9:10:11 with yerrorbars linetype 3 \
         title 'stranger, one by one', \
     '' using ($0 + 0.15):12:13:14 with yerrorbars linetype 4 \
         title 'stranger, in batches'
