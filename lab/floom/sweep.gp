set logscale xy
set xrange [0.05:130]
set yrange [0.9:100]
set xtics (0.1, 1, 10, 100)
set ytics (1, 2, 5, 10, 20, 50, 100)
set xlabel 'keys a bit of the array'
unset key
set multiplot layout 1, 3
set ylabel 'times the rate of standard'
do for [i = 1 : 3] {
    rate = 10.0 ** -i
    set title sprintf('planned for %g %%', rate * 100)
    if (i == 3) { set key top right }
    plot 1 with lines linetype 7 notitle, \
         for [j = 1 : 4] 'sweep.csv' \
             using (abs($1 / rate - 1) < 0.01 && $2 == 4 + 4 * j ? $3 : NaN):4 \
             with lines linetype j linewidth 1 \
             title sprintf('b = %d', 4 + 4 * j), \
         for [j = 1 : 3] '' \
             using (abs($1 / rate - 1) < 0.01 && $2 == 4 + 4 * j ? $3 : NaN) \
             :5:6:7 \
             with yerrorbars linetype j notitle
    unset ylabel
}
unset multiplot
