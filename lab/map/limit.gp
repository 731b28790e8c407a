set logscale xy
set format x '10^{%L}'
set xrange [5e-5:0.3]
set ytics (1, 1.5, 2, 3, 5, 10, 20)
set key outside right top samplen 1.5 font ',12' spacing 1
set multiplot layout 2, 2
do for [family = 1 : 4] {
    set yrange [0.9:(family % 2 ? 2.5 : 20)]
    set title word('sets removable frozen compound', family)
    kinds = system(sprintf("awk -F, '$2 == %d && !seen[$1]++ { print $1 }' " \
                           .'limit.csv', family))
    set xlabel (family > 2 ? 'false-positive rate' : '')
    set ylabel (family % 2 ? 'times the limit' : '')
    plot 1 with lines linetype 7 title 'limit', \
         for [i = 1 : words(kinds)] 'limit.csv' \
             using (strcol(1) eq word(kinds, i) && $4 > 0 ? $4 : NaN) \
             :7:5:6:8:9 with xyerrorlines \
             linetype (i < 7 ? i : i + 1) linewidth 1 title word(kinds, i)
}
unset multiplot
