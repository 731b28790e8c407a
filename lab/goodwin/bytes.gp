set xlabel 'share of documents that a term names wrongly'
set ylabel 'bits for each term of a document'
set logscale xy
set format x '%g'
set xrange [0.001:0.7]
set yrange [1:1000]
set key top right
plot 'bytes.csv' using 1:2 with lines linetype 1 \
         title 'rows of bits, best number of probes', \
     '' using 1:3 with lines linetype 2 title 'one probe', \
     '' using 1:8 with lines linetype 4 \
         title 'rows by how rare a term is', \
     '' using 1:6 with lines linetype 8 title 'lists of whole numbers', \
     '' using 1:5 with lines linetype 5 title 'lists of gaps in bytes', \
     '' using 1:9 with lines linetype 6 \
         title 'Golomb, with 12 bytes a list', \
     '' using 1:4 with lines linetype 3 title "gaps in Golomb's code", \
     '' using 1:7 with lines linetype 7 title 'what lists tell'
