set xlabel 'share of documents that have the rarest term of three'
set ylabel 'microseconds a question'
set logscale xy
set format x '10^{%L}'
set format y '%g'
set key top left
plot 'time.csv' using 1:($11 / 1e3):($12 / 1e3):($13 / 1e3) \
         with yerrorlines linetype 8 title 'lists of whole numbers', \
     '' using 1:($8 / 1e3):($9 / 1e3):($10 / 1e3) \
         with yerrorlines linetype 5 title 'lists of gaps in bytes', \
     '' using 1:($2 / 1e3):($3 / 1e3):($4 / 1e3) \
         with yerrorlines linetype 1 title 'rows, one of 100 named wrongly', \
     '' using 1:($5 / 1e3):($6 / 1e3):($7 / 1e3) \
         with yerrorlines linetype 4 title 'rows by how rare a term is'
