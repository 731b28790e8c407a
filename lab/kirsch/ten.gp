set xlabel 'm, bits'
set ylabel 'rate, as a multiple of the classic formula'
set logscale x
set xrange [800:350000]
set yrange [0.9:*]
set key top right
plot 'ten.csv' using 1:8:9:10 with yerrorlines title 'double' linetype 2, \
     '' using 1:17:18:19 with yerrorlines title 'step' linetype 5, \
     '' using 1:14:15:16 with yerrorlines title 'triple' linetype 4, \
     '' using 1:11:12:13 with yerrorlines title 'enhanced' linetype 3, \
     '' using 1:5:6:7 with yerrorlines title 'power (ours)' linetype 1, \
     '' using 1:2:3:4 with yerrorlines title 'a hash each' linetype 8
