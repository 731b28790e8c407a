set xlabel 'bits a key'
set ylabel 'ns a lookup'
set logscale xy
set xrange [6:300]
set xtics (8, 16, 32, 64, 128, 256)
unset key
even(row) = int(row) % 2 == 0
plot 'near.csv' using 3:4:2 with points linecolor variable pointtype 7 pointsize 0.7, \
     '' using (even($0) ? $3 : NaN):4:1:2 with labels offset 0,0.6 \
         font ',10' textcolor variable, \
     '' using (even($0) ? NaN : $3):4:1:2 with labels offset 0,-0.6 \
         font ',10' textcolor variable
