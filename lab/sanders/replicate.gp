set xlabel 'computers, P'
set ylabel 'bits a key that each sends'
set logscale xy
set xrange [1.8:1200]
set yrange [3:1500]
set xtics (2, 4, 16, 64, 256, 1024)
set key top left
plot 'replicate.csv' using 1:4 with lines linetype 1 \
         title 'single shot, as bits', \
     '' using 1:5 with lines linetype 2 title 'standard at 1 %, as bits', \
     '' using 1:2 with points linetype 3 title 'single shot, as lists', \
     '' using 1:3 with lines linetype 7 title 'formula'
