set xlabel 'm, bits'
set ylabel 'rate, as a multiple of the classic formula'
set logscale x
stats 'sixteen.csv' using 1 nooutput
set xrange [850:STATS_max * 1.25]
set yrange [0.9:*] extend
set key top right
# Side by side, that no interval hides another.
plot 'sixteen.csv' using ($1 * 0.94):8:9:10 with yerrorlines \
         title 'double' linetype 2, \
     '' using ($1 * 0.965):17:18:19 with yerrorlines \
         title 'step' linetype 5, \
     '' using ($1 * 0.99):14:15:16 with yerrorlines \
         title 'triple' linetype 4, \
     '' using ($1 * 1.015):11:12:13 with yerrorlines \
         title 'enhanced' linetype 3, \
     '' using ($1 * 1.04):5:6:7 with yerrorlines \
         title 'power (ours)' linetype 1, \
     '' using ($1 * 1.065):2:3:4 with yerrorlines \
         title 'a hash each' linetype 8
