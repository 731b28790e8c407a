set xlabel 'ns a lookup'
set ylabel 'bytes a key, beside the keys themselves'
set logscale xy
stats 'others.csv' using 1 nooutput
most = STATS_max
set xrange [20:1e7]
set yrange [0.5:200]
set key off
apart(way) = way eq 'cuckoo filter' ? 1.2 : way eq 'binary fuse' ? 0.85 : 1
plot 'others.csv' using ($1 == most ? $4 : NaN):3 with points pointtype 7, \
     '' using ($1 == most ? $4 * 1.15 : NaN):($3 * apart(strcol(2))):2 \
         with labels left
