set xlabel 'keys'
set ylabel 'bytes a key'
set logscale xy
set format x '10^{%L}'
set yrange [0.8:3000]
set ytics (1, 2, 5, 10, 20, 50, 100, 200)
set key top right maxrows 5
# Where there is none its place is beyond the axis.
away = 1e9
judy = int(system("head -n 1 space.csv | grep -vc 'no Judy'"))
plot 'space.csv' using 1:7 with linespoints linetype 1 \
         title 'sparse hash table', \
     '' using 1:6 with linespoints linetype 2 title 'hash table', \
     '' using 1:4 with linespoints linetype 3 title 'tree', \
     '' using 1:5 with linespoints linetype 4 title 'trie', \
     '' using 1:2 with linespoints linetype 5 title 'list', \
     '' using 1:3 with linespoints linetype 6 title 'sorted array', \
     '' using 1:(judy ? $8 : away) with linespoints linetype 3 \
         dashtype 2 title judy ? 'Judy array' : 'Judy array: not built in', \
     '' using 1:12 with lines linetype 7 title 'keys alone', \
     '' using 1:9 with linespoints linetype 8 title 'filter of 1 %'
