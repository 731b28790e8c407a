set xlabel 'keys'
set ylabel 'ns a lookup'
set logscale xy
set format x '10^{%L}'
set yrange [5:2e5]
set ytics (10, 20, 50, 100, 200, 500, 1000, 2000, 10000)
set key top right maxrows 5
# Where there is none its place is beyond the axis.
away = 1e9
judy = int(system("grep -c 'Judy' time.csv")) > 0
of(name, who) = strcol(2) eq name && $3 == who ? $1 : NaN
plot 'time.csv' using (of('list', 0)):4 with linespoints linetype 5 \
         title 'list', \
     '' using (of('sorted array', 0)):4 with linespoints linetype 6 \
         title 'sorted array', \
     '' using (of('tree', 0)):4 with linespoints linetype 3 title 'tree', \
     '' using (of('trie', 0)):4 with linespoints linetype 4 title 'trie', \
     '' using (judy ? of('Judy array', 0) : 10):(judy ? $4 : away) \
         with linespoints linetype 3 dashtype 2 \
         title judy ? 'Judy array' : 'Judy array: not built in', \
     '' using (of('hash table', 0)):4 with linespoints linetype 2 \
         title 'hash table', \
     '' using (of('sparse hash table', 0)):4:5:6 with yerrorlines linetype 1 \
         title 'sparse hash table', \
     '' using (of('sparse hash table', 1)):4:5:6 with yerrorlines linetype 1 \
         dashtype 2 title 'the same, stranger', \
     '' using (of('standard', 0)):4:5:6 with yerrorlines linetype 8 \
         dashtype 1 title 'filter of 1 %', \
     '' using (of('standard', 1)):4:5:6 with yerrorlines linetype 8 \
         title 'the same, stranger'
