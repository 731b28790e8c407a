# check.sh - hot blocks: exactly the blocks read before move to the SSD, except
# at the filters' rate; and how much is written and read for that.
. "${1:?}/lib.sh"

command -v python3 >/dev/null || { skip hotblocks 'no python3'; finish; }

reads=$(work 25000 400000) blocks=$(work 10000 150000)
period=$(work 10000 100000) cache=$(work 512 8192)
python3 "$USE/model.py" "$reads" "$blocks" >trace
figure trace "$(wc -l <trace) reads of $(sort -u trace | wc -l) blocks, \
$(sort trace | uniq -u | wc -l) of them once"

# Write these reads in the formats of blktrace and of Microsoft Research, between
# writes and other events.
awk '{ printf "8,0 1 %d 0.%09d 697 Q R %.0f + 8 [dd]\n", 3 * NR, NR, 8 * $1
       printf "  8,0    1 %8d     0.%09d   697  D   R %.0f + 8 [dd]\n", 3 * NR + 1,
              NR, 8 * $1
       printf "8,0 1 %d 0.%09d 697 D WS %.0f + 8 [dd]\n", 3 * NR + 2, NR, 8 * NR
       printf "8,0 1 %d 0.%09d 0 C R %.0f + 8 [0]\n", 3 * NR + 3, NR, 8 * $1 }
     END { print "CPU0 (sda):"; print " Reads Queued: 3, 12KiB" }' trace >blkparsed
awk '{ printf "R %.0f 8\nW %.0f 8\n", 8 * $1, 8 * NR }' trace >issued
awk '{ printf "12816637200%07d,web,0,Read,%.0f,4096,%d\n", NR, 4096 * $1, NR
       printf "12816637200%07d,web,0,Write,%.0f,512,%d\n", NR, 512 * NR, NR
       printf "12816637200%07d,web,1,Read,%.0f,512,%d\n", NR, 512 * NR, NR }' \
    trace >cambridge.csv
for format in blkparsed issued cambridge.csv; do
    awk -v disk=0 -f "$USE/blocks.awk" $format >read
    check "the blocks of $format" cmp read trace
done
printf 'R 7 10\n' | awk -f "$USE/blocks.awk" >read
printf '0\n1\n2\n' >wanted
check 'a read that touches three blocks' cmp read wanted

# planned RATE NAME: a number of a period's filter.
planned() {
    "$BLOOMERY" plan --json -k buffered -n "$period" -p "$1" |
        sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p"
}

# row RULE: hits and writes by the program.
row() {
    awk -v r="$1" '$1 == r { print $2, $4 }' said
}

for rate in 1e-6 $(work '' 0.01) 0.1; do
    rm -rf ssd && mkdir ssd
    "$PROGRAM" -c "$cache" -p "$period" -r "$rate" -m "$(work 65536 1048576)" \
        ssd <trace >moved 2>said
    # A page has 128 bytes without bits; the first one has none at all.
    python3 "$USE/model.py" trace moved "$cache" "$period" \
        "$(planned "$rate" probes)" "$((($(wc -c <ssd/read.1.bly) / 4096 - 1) \
        * 3968 * 8))" >model 2>wrong || true
    check "$rate: every block that was read before moves" test -s model
    check "$rate: hits and writes are the model's" test "$(row all) $(
        row second)" = "$(cut -d ' ' -f 1-4 model)"
    # shellcheck disable=SC2046  # several numbers
    set -- $(cat model)
    if [ "$rate" = 1e-6 ]; then
        check "$rate: exact" test "$7" -le 2
        cp said exact
    else
        in_band "$rate: moved that were read once" "$7" "$6" "$8"
    fi
    figure "$rate, filters of $(wc -c <ssd/read.1.bly) bytes" "hits of all and \
blocks written: $(awk '$1 == "all" { printf "%s, %s; ", $3, $4 }
        $1 == "second" { print "of those read twice " $3 ", " $4 }' said)"
    check "$rate: a third less is written, at least" awk '{
        exit $4 > $2 * 2 / 3 }' model
    # Initially the rule misses a read of each block, as a short trace shows.
    [ "$EFFORT" = quick ] || check "$rate: and more reads are hits" \
        awk '{ exit $3 <= $1 }' model
done
rm -rf ssd && mkdir ssd
"$PROGRAM" -c "$cache" -p "$period" -m "$(work 65536 1048576)" ssd <trace \
    >again 2>said
"$PROGRAM" -c "$cache" -p "$period" -m 8388608 ssd <trace >moved 2>again.said
check 'waiting in memory changes nothing' cmp again moved
check 'the last filter is whole' "$BLOOMERY" check ssd/read.1.bly

# ---- Pages read and written -------------------------------------------------

# traced PERIOD BYTES: 4096-byte pages read and written, in `pages`, and blocks
# queried. The system is made to refuse io_uring, so that all reads are visible
# calls.
traced() {
    rm -rf ssd && mkdir ssd
    strace -f -y -o calls -e trace=pread64,pwrite64,io_uring_setup \
        -e inject=io_uring_setup:error=ENOSYS \
        "$PROGRAM" -c "$cache" -p "$1" -m "$2" ssd <few >moved 2>said ||
        return 1
    awk -v asked="$(sed -n 's/asked.*: \([0-9]*\),.*/\1/p' said)" '
        /\/ssd\// && / = [0-9]+$/ {
            if (/pread64/) got += $NF
            if (/pwrite64/) put += $NF }
        END { print got / 4096, put / 4096, asked }' calls >pages
}

# each: pages per block.
each() {
    awk '{ printf "%.3f and %.3f", $1 / $3, $2 / $3 }' pages
}
head -n 100000 trace >few
large=40000000
if [ "$EFFORT" = quick ]; then
    skip 'pages' 'only in full'
elif command -v strace >strace.out && traced $large 1048576; then
    all=$(($("$BLOOMERY" plan --json -k buffered -n $large -p 0.01 |
        sed -n 's/^ *"bytes": \([^,]*\),*$/\1/p') / 4096))
    figure "pages read and written for a block, of $all" "$(each)"
    # A read per query, a write per add; and all pages once or twice at the end.
    check 'no more than a page is read to ask, and one to add' \
        awk -v all="$all" '{ exit $1 > 2 * $3 + 2 * all }' pages
    check 'no more than a page is written' \
        awk -v all="$all" '{ exit $2 > $3 + all }' pages
    check 'some are read and written' awk '{ exit !$1 || !$2 }' pages
    traced "$period" 1048576
    figure "pages read and written for a block, of $((
        $(wc -c <ssd/read.1.bly) / 4096))" "$(each)"
else
    skip pages 'no strace, or not allowed'
fi

: >nothing
rm -rf ssd && mkdir ssd
"$PROGRAM" ssd <nothing >moved 2>said
check 'an empty trace' test "$(row all)" = '0 0'
# given LINE: runs with this standard input.
given() {
    echo "$1" | "$PROGRAM" ssd
}
# Reads as blkparse prints them: of one block, of two and a part, far out, none.
printf '%s\n' 'R 16 8' 'RA 23 10' 'WS 80 8' 'R 30000000008 8' 'R 5 0' |
    awk -f "$USE/blocks.awk" >trace
check 'reads become blocks, also beyond 2^31' test "$(tr '\n' ' ' <trace)" = \
    '2 2 3 4 3750000001 '
refused 'a rate that is no number' 'usage' "$PROGRAM" -r some ssd
refused 'no number' 'line 1: ' given some
refused 'a number that is too large' 'line 1: ' given 99999999999999999999
refused 'no folder' 'none/read.1.bly: ' "$PROGRAM" none </dev/null
refused 'a period that is short' 'usage' "$PROGRAM" -p 1 ssd
refused 'a rate that is none' 'read.1.bly: .*rate' "$PROGRAM" -r 2 ssd
refused 'a rate that is no number' 'usage' "$PROGRAM" -r some ssd
refused 'nothing' 'usage' "$PROGRAM"
finish
