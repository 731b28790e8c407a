# blocks.awk - the blocks of 4 KiB that reads touch. Lines are what is done, with R
# for a read, the first sector of 512 bytes and how many:
#
#   blkparse -q -i sda -a issue -f '%d %S %n\n' | awk -f blocks.awk
$1 ~ /R/ && $3 > 0 {
    last = int(($2 + $3 - 1) / 8)
    for (block = int($2 / 8); block <= last; block++)
        printf "%.0f\n", block         # print alone would write 3e+09
}
