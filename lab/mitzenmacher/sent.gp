set xlabel 'bits a key sent'
set ylabel 'false-positive rate'
set logscale y
set format y '10^{%L}'
set xrange [5:18]
set yrange [1e-4:0.1]
set key top right
beside(bits) = bits == 8 || bits == 16 ? 1.12 : 0.97
plot 0.5 ** (x * log(2)) title 'not compressed' linetype 7, \
     'sent.csv' using 7:8 with points \
         title 'reported' linetype 8 pointsize 1.6, \
     '' using 3:4:5:6 with yerrorbars title 'measured' linetype 1, \
     '' using 3:($4 * beside($1)):(sprintf('%d in memory', $1)) \
         with labels right offset -1.5,0 notitle
