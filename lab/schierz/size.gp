set xlabel 'm, bits'
set ylabel 'ns a lookup'
set y2label 'bits looked at'
set logscale y
set format x '2^{%.0f}'
set ytics nomirror
set y2tics 0, 2, 8
set border 11
set y2range [0:16]
set yrange [0.5:500]
set key top left
plot 'size.csv' using 1:3:4:5 with yerrorlines linetype 1 \
         title 'member, one by one', \
     '' using 1:6:7:8 with yerrorlines linetype 2 title 'member, in batches', \
     '' using 1:9:10:11 with yerrorlines linetype 3 \
         title 'stranger, one by one', \
     '' using 1:12:13:14 with yerrorlines linetype 4 \
         title 'stranger, in batches', \
     '' using 1:15 axes x1y2 with lines linetype 7 \
         title 'bits of a member (right)', \
     '' using 1:16 axes x1y2 with lines linetype 8 \
         title 'bits of a stranger (right)'
