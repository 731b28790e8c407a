set xlabel 'k, hash functions'
set ylabel 'ns a key'
set xrange [0:66]
set yrange [0:*]
plot 'insert.csv' using 1:2:3:4 with yerrorlines title 'a hash each', \
     '' using 1:5:6:7 with yerrorlines title 'one hash'
