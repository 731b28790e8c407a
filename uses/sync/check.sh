# check.sh - two lists: an invertible sketch finds exactly the lines that
# differ; a filter finds all except at its rate; and the bytes sent are counted.
. "${1:?}/lib.sh"

words=/usr/share/dict/american-english
if [ ! -r $words ]; then
    skip sync 'no list of words (Debian: wamerican)'
    finish
fi
export BLOOMERY

# The other side: its bloomery, counting bytes in both directions.
cat >other <<'END'
#!/bin/sh
trap 'wc -c <up.part >>bytes; wc -c <down.part >>bytes' EXIT
: >up.part
case $1 in
sketch) "$BLOOMERY" "$@" >down.part; status=$? ;;
*)      cat >up.part
        status=0
        "$BLOOMERY" "$@" <up.part >down.part || status=$? ;;
esac
cat down.part
exit $status
END
chmod +x other

sort -u $words | awk -v n="$(work 5 1)" 'NR % n == 0' >list
# change N: two lists that each lack N / 2 lines of the other, here and there.
change() {
    awk -v half=$(($1 / 2)) -v all="$(wc -l <list)" -v odd=$(($1 % 2)) '
        BEGIN { step = half ? int(all / half) : all + 1; if (odd) print "one more" >"theirs" }
        NR % step == 1 && NR <= step * half { print >"theirs"; next }
        NR % step == 2 && NR <= step * half { print >"mine"; next }
        { print >"mine"; print >"theirs" }' list
    for side in mine theirs; do sort -o $side $side; done
    comm -23 mine theirs | sed 's/^/< /' >exact
    comm -13 mine theirs | sed 's/^/> /' >>exact
}
figure 'the list' "$(wc -l <list) lines, $(wc -c <list) bytes, \
$(gzip -9c list | wc -c) compressed"
for n in $(work '0 101' '0 1 10 100 1001 10000 30000'); do
    change "$n"
    : >bytes
    status=0
    "$USE/sync.sh" mine theirs ./other >found || status=$?
    check "$n differ: exactly those lines" cmp exact found
    check "$n differ: the status says so" test $status = "$([ "$n" = 0 ] &&
        echo 0 || echo 1)"
    sent=$(awk '{ n += $1 } END { print n }' bytes)
    figure "$n differ: bytes sent" "$sent"
    if [ "$n" -le 1001 ]; then
        check "$n differ: less than the list, compressed" \
            test "$sent" -lt "$(gzip -9c list | wc -c)"
    fi
    if [ "$EFFORT" = full ] && command -v rsync >rsync.path; then
        cp theirs copy
        rsync -I --no-whole-file --stats mine copy >rsync.log
        figure "$n differ: rsync sends, for one direction" "$(awk '
            /^Total bytes/ { gsub(/,/, ""); n += $NF } END { print n }' rsync.log)"
    fi
done

# Lists in another order, with duplicate lines, and empty lists.
sort -r theirs | cat - theirs >twice
change 100
"$USE/sync.sh" mine theirs >one || true
cat mine mine | sort -r >twice
"$USE/sync.sh" twice theirs | sort >found || true
sort one | cmp - found >cmp.out 2>&1 || true
check 'neither order nor repetition counts' test ! -s cmp.out
: >empty
head -n 40 list >some
"$USE/sync.sh" some empty | sed 's/^< //' | cmp - some >cmp.out 2>&1 || true
check 'against a list without lines' test ! -s cmp.out

# ---- Sketches for a given number of differences ------------------------------

change 100
failed=0 trials=$(work 10 300)
for seed in $(seq "$trials"); do
    "$BLOOMERY" sketch -s "$seed" --differences 100 -o seed.bly mine
    "$BLOOMERY" diff seed.bly theirs >found 2>diff.err || [ $? = 1 ] ||
        failed=$((failed + 1))
done
check 'sketches for 100 with 100 differences hardly ever fail: 0.5 %, 4 sigma' awk \
    -v x=$failed -v n="$trials" 'BEGIN { p = .005
        exit x > n * p + 4 * sqrt(n * p * (1 - p)) + 1 }'
figure 'sketches for 100 that failed' "$failed of $trials"
change 2000
"$BLOOMERY" sketch --differences 100 -o small.bly mine
refused 'a sketch for fewer' 'request one made with .*--differences' \
    "$BLOOMERY" diff small.bly theirs
"$BLOOMERY" diff --estimate small.bly theirs >said || true
check 'which says about how many, within 5 sd' awk '{ gsub(/,/, ""); d = $1 - 2000
    exit d * d > 25 * $3 * $3 }' said
figure '2000 differ: a sketch for 100 says' "$(cat said)"
cp small.bly damaged.bly
printf 'x' | dd of=damaged.bly bs=1 seek=500 conv=notrunc 2>dd.log
refused 'a damaged sketch' 'damaged.bly' "$BLOOMERY" diff damaged.bly theirs
refused 'no list' 'nowhere' "$USE/sync.sh" nowhere theirs
refused 'no other list' 'nowhere' "$USE/sync.sh" mine nowhere
refused 'no lists' 'usage' "$USE/sync.sh" mine

# ---- A filter ----------------------------------------------------------------

# Names that look like options, or contain shell syntax; input that can be read
# only once.
change 10
odd="-x 'a' \$(: >run)
b"
cp -- mine "$odd"
cp -- theirs -theirs
"$USE/sync.sh" "$odd" -theirs ./other >found || true
check 'any name: exactly the lines that differ' cmp exact found
check 'and no shell reads it' test ! -e run
refused 'a pipe, which is read once' 'two files' sh -c \
    'cat mine | "$0" /dev/stdin theirs' "$USE/sync.sh"
refused 'standard input' 'two files' sh -c '"$0" - theirs <mine' "$USE/sync.sh"
refused 'no file' 'two files' "$USE/sync.sh" nowhere theirs

change "$(work 8000 60000)"
sed -n 's/^> //p' exact >lacking
for kind in standard:m=$((8 * $(wc -l <mine))),k=6 fuse; do
    "$BLOOMERY" sketch -p 0.01 -n "$(wc -l <mine)" -k "$kind" -o filter.bly mine
    "$BLOOMERY" diff filter.bly theirs >found || true
    sort found | comm -13 lacking - >wrong
    check "${kind%%:*}: nothing is sent that is there" test ! -s wrong
    in_band "${kind%%:*}: overlooked" $(($(wc -l <lacking) - $(wc -l <found))) \
        "$(wc -l <lacking)" "$(field filter.bly rate)"
    figure "${kind%%:*}: bytes, whatever differs" "$(wc -c <filter.bly)"
done
check '8 bits a line and 6 probes find 97.84 %' awk \
    'BEGIN { d = 1 - (1 - exp(-6 / 8)) ^ 6 - .9784; exit d * d > .00006 ^ 2 }'
# Two rounds with different seeds miss the square of the rate.
"$BLOOMERY" sketch -p 0.05 -o first.bly mine
"$BLOOMERY" sketch -p 0.05 -s 1 -o second.bly mine
for round in first second; do
    "$BLOOMERY" diff $round.bly theirs >$round || true
done
sort -u first second >found
in_band 'overlooked in both rounds' $(($(wc -l <lacking) - $(wc -l <found))) \
    "$(wc -l <lacking)" "$(awk -v a="$(field first.bly rate)" \
        -v b="$(field second.bly rate)" 'BEGIN { print a * b }')"
finish
