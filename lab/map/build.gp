set ylabel 'ns a key to build'
set logscale y
set yrange [1:*]
set xtics rotate by 40 right font ',10'
set boxwidth 0.7
set style fill solid 0.8
set xrange [-0.7:*]
unset key
plot 'build.csv' using 0:3:2:xtic(1) with boxes linecolor variable
