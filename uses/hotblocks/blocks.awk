# blocks.awk - the blocks of 4 KiB that the reads of a trace touch.
#
#   blkparse -q -i sda | awk -f blocks.awk
#   blkparse -q -i sda -a issue -f '%d %S %n\n' | awk -f blocks.awk
#   zcat web_0.csv.gz | awk -v disk=0 -f blocks.awk
#
# The first two are from blktrace. Of its events, the requests that are issued
# (D) are taken, with the first sector of 512 bytes and their number. The third
# is a trace of Microsoft Research in Cambridge, as of the SNIA's collection:
# time, host, disk, Read or Write, first byte, bytes, time taken. `disk` chooses
# one, if there are several.
function touched(first, last,   block) {
    for (block = int(first / 4096); block <= int(last / 4096); block++)
        printf "%.0f\n", block          # print alone would write 3e+09
}
/,.*,.*,.*,/ {
    split($0, part, ",")
    if (part[4] == "Read" && part[6] > 0 && (disk == "" || part[3] == disk))
        touched(part[5], part[5] + part[6] - 1)
    next
}
NF >= 10 && $9 == "+" {
    if ($6 == "D" && $7 ~ /R/ && $10 > 0)
        touched(512 * $8, 512 * ($8 + $10) - 1)
    next
}
NF == 3 && $1 ~ /R/ && $3 > 0 {
    touched(512 * $2, 512 * ($2 + $3) - 1)
}
