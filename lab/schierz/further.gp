set xlabel 'k, hash functions'
set ylabel 'ns a key'
set xrange [0:305]
set yrange [0:*]
set key top left
plot 'further.csv' using 1:2:3:4 with yerrorlines title 'insert', \
     '' using 1:5:6:7 with yerrorlines title 'members', \
     '' using 1:11:12:13 with yerrorlines title 'ten to one', \
     '' using 1:8:9:10 with yerrorlines title 'strangers'
