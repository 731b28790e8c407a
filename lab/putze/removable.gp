set xlabel 'rate'
set ylabel 'bits a key over log_2(1/rate)'
set logscale x
set format x '10^{%T}'
set xrange [1e-6:0.1] reverse
set yrange [0:16]
over(bits, rate) = bits + log(rate) / log(2)
plot 'removable.csv' using 1:(over($7,$1)) with lines linetype 6 title 'dleft', \
     '' using 1:(over($6,$1)) with lines linetype 5 title 'cuckoo', \
     '' using 1:(over($5,$1)) with lines linetype 4 title 'cuckoo, sorted', \
     '' using 1:(over($4,$1)) with lines linetype 3 title 'quotient', \
     '' using 1:(over($2,$1)) with lines linetype 1 title 'golomb', \
     '' using 1:(over($3,$1)) with lines linetype 2 title 'golomb, 64 KiB', \
     '' using 1:(over($9,$1)) with lines linetype 7 title 'gcs'
