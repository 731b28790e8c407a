set ylabel 'root mean square of the error'
set style data points
set logscale y
set yrange [0.5:300]
set xrange [-0.6:5.6]
set key top left
set xtics rotate by -20
plot 'estimate.csv' using ($0 - 0.2):4:xtic(sprintf('%d of %d, k = %d', \
         $1, $2, $3)) title 'bits' linetype 1, \
     '' using ($0):5 title 'second moment' linetype 2, \
     '' using ($0 + 0.2):($6 > 0.5 ? $6 : 0.5) title 'unwrapped' linetype 3, \
     '' using ($0 - 0.12):7 title 'named' linetype 8 pointtype 6, \
     '' using ($0 + 0.08):8 title '' linetype 8 pointtype 6, \
     '' using ($0 + 0.28):($9 > 0.5 ? $9 : 0.5) title '' \
         linetype 8 pointtype 6
