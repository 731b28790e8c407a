# style.gp - what all plots of the lab share; read before each FIGURE.gp, in
# the folder of the data. tools/make/lab has set the terminal and the output.
set datafile separator ','
set datafile missing NaN
set key autotitle columnhead
set grid linecolor rgb '#cccccc' linewidth 1
set border 3 linecolor rgb '#555555'
set tics nomirror
set key top left reverse Left samplen 2 spacing 1.15
set bars small
set pointintervalbox 0
# Where it is not said how far the x axis goes it ends with the data.
set autoscale xfix

# Colours that the colour-blind can tell apart [Okabe & Ito 2008].
set linetype 1 linecolor rgb '#0072b2' linewidth 2 pointtype 7 pointsize 0.7
set linetype 2 linecolor rgb '#d55e00' linewidth 2 pointtype 5 pointsize 0.7
set linetype 3 linecolor rgb '#009e73' linewidth 2 pointtype 9 pointsize 0.8
set linetype 4 linecolor rgb '#cc79a7' linewidth 2 pointtype 11 pointsize 0.8
set linetype 5 linecolor rgb '#e69f00' linewidth 2 pointtype 13 pointsize 0.8
set linetype 6 linecolor rgb '#56b4e9' linewidth 2 pointtype 7 pointsize 0.7
set linetype 7 linecolor rgb '#777777' linewidth 1.5 dashtype 2 pointtype 4
set linetype 8 linecolor rgb '#000000' linewidth 1.5 dashtype 3 pointtype 6
