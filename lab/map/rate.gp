set xlabel 'false-positive rate'
set ylabel 'bits a key, as a multiple of the limit'
set logscale xy
set format x '10^{%L}'
set xrange [5e-5:0.3]
set yrange [0.9:20]
set ytics (1, 1.5, 2, 3, 4, 6, 8, 12, 16)
set key outside right top samplen 1.5 font ',10'
kinds = system("awk -F, 'NR > 1 && !seen[$1]++ { print $1 }' rate.csv")
family(kind) = int(system(sprintf("awk -F, '$1 == \"%s\" { print $2; exit }' rate.csv", kind)))
plot for [kind in kinds] 'rate.csv' \
         using (strcol(1) eq kind && $4 > 0 ? $4 : NaN):($7 / (-log($4) / log(2))) \
         with linespoints linetype family(kind) linewidth 1 \
         pointtype (strlen(kind) * 5 + strstrt('abcdefghijklmnopqrstuvwxyz', kind[2:2])) % 14 + 1 pointsize 0.7 title kind, \
     1 linetype 7 title 'limit'
