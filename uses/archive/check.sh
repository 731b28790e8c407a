# check.sh - archive: restored data equal the saved data, every block is stored
# once, and the index is read for new blocks at the filter's rate.
. "${1:?}/lib.sh"

[ -d "$MACHINE/usr/share/doc" ] || { absent archive 'no /usr/share/doc'; finish; }
if ! "$BLOOMERY" plan -k venti -n 9 >plan.out 2>&1; then
    skip archive 'Bloomery was built without digests (Debian: nettle-dev)'
    finish
fi

# told NAME: a number from the program's last output.
told() {
    sed -n "s/.*[ :]\([0-9]*\) $1.*/\1/p" said
}

# Two days: files are deleted, files are added, and one grows at its beginning.
find "$MACHINE/usr/share/doc" "$MACHINE/usr/share/common-licenses" -type f \
    2>find.err | sort | head -n "$(work 1000 100000)" >files
[ "$(wc -l <files)" -ge 200 ] || { absent archive 'too few files'; finish; }
sed 5d files >files.next
tar -cf monday.tar -T files 2>tar.err
{ cat "$USE/archive.c"; tar -cf - -T files.next 2>tar.err; } >tuesday
"$PROGRAM" new store 65536 0.1
"$PROGRAM" save store <monday.tar >monday 2>said
new=$(told new)
check 'a block or more is new' test "$new" -gt 0
stored=$(told 'bytes stored')
figure 'Monday' "$(cat said)"
check 'a block for each line' test "$(told blocks)" -eq "$(wc -l <monday)"
check 'as many are new as are different' \
    test "$new" -eq "$(sort -u monday | wc -l)"
check 'the stored size is the sum of these' test "$stored" -eq \
    "$(sort -u monday | awk '{ n += $2 } END { printf "%d", n }')"
check 'and all that there is' test "$stored" -eq "$(wc -c <store/blocks)"
"$PROGRAM" restore store <monday >found.tar
check 'restored, byte for byte' cmp monday.tar found.tar

# A store whose filter has half a bit set by other blocks for each of its bits:
# the rate after each new block; m and k are the file's, whose first 128 bits
# count as set.
"$PROGRAM" new tight "$new" 0.25
m=$(($(wc -c <tight/bloom) * 8))
k=$(od -An -tu1 -j 11 -N 1 tight/bloom | tr -d ' ')
others=$((m / k / 2))
awk -v n="$others" 'BEGIN {
    for (srand(5); n > 0; n--) {
        for (i = 0; i < 10; i++)
            printf "%04x", int(rand() * 65536)
        print "" } }' >others.hex
"$BLOOMERY" add --as hex tight/bloom others.hex
"$PROGRAM" save tight <monday.tar >again 2>said
check 'the scores are the same whatever the filter' cmp monday again
in_band 'new blocks that are looked up' "$(told 'looked up in vain')" "$new" \
    "$(awk -v n="$new" -v m="$m" -v k="$k" -v others="$others" 'BEGIN {
        for (i = 0; i < n; i++)
            sum += (1 - (1 - 128 / m) * exp(-k * (others + i) / m)) ^ k
        printf "%.9f", sum / n }')"

"$PROGRAM" save store <tuesday >next 2>said
figure 'Tuesday' "$(cat said)"
"$PROGRAM" restore store <next >found
check 'Tuesday restored, byte for byte' cmp tuesday found
"$PROGRAM" restore store <monday | cmp - monday.tar >cmp.out 2>&1 || true
check 'and Monday still' test ! -s cmp.out
check 'an insertion at the beginning keeps nine of ten blocks' \
    test "$(told new)" -lt "$(($(told blocks) / 10))"
"$PROGRAM" save store <tuesday >again 2>said
check 'saved again nothing is stored' test "$(told new)" -eq 0
check 'and the scores are the same' cmp next again

# Each piece, cut by the lengths, has the score computed by sha1.
if command -v python3 >found.python; then
    check 'every score is what another SHA-1 says' python3 -c '
import hashlib, sys
data = open("monday.tar", "rb")
for line in open("monday"):
    score, n = line.split()
    block = data.read(int(n))
    assert hashlib.sha1(block).hexdigest() == score and len(block) <= 65536
assert not data.read(1)'
else
    skip 'scores by another SHA-1' 'no python3'
fi
for length in 0 1 55 56 63 64 65 119 120; do
    head -c $length "$USE/archive.c" >short
    "$PROGRAM" save store <short 2>said
done | cut -d ' ' -f 1 >scores
for length in 1 55 56 63 64 65 119 120; do
    head -c $length "$USE/archive.c" | sha1sum
done | cut -d ' ' -f 1 >wanted
check 'scores of short data are those of sha1sum' cmp wanted scores

# ---- The filter is Venti's ---------------------------------------------------

cut -d ' ' -f 1 monday >monday.hex
check 'bloomery finds every score in it' test "$(wc -l <monday)" -eq \
    "$("$BLOOMERY" query -c --as hex store/bloom monday.hex)"
"$BLOOMERY" build -k venti --as hex -n 180000 -p 0.07 -o empty.bloom \
    --key da39a3ee5e6b4b0d3255bfef95601890afd80709
check 'magic, version, 4 probes, 2^17 bytes' test "$(od -An -tx1 -N 16 \
    empty.bloom | tr -d ' \n')" = b1004ead000000010000000400020000
od -An -v -tu1 -w1 -j 16 empty.bloom | awk '$1 > 0 {
    for (bit = 0; bit < 8; bit++)
        if (int($1 / 2 ^ bit) % 2)
            print (NR + 15) * 8 + bit }' >bits
printf '%s\n' 199627 272133 760168 832674 >wanted
check 'the score of nothing has the four bits that are known' cmp wanted bits
cat >plan.awk <<'END_AWK'
/"probes"/ { probes = $2 + 0 }
/"bytes"/  { bytes = $2 + 0 }
/"rate"/   { rate = $2 * 2 ^ k }
END        { exit probes != k || bytes != 131200 || rate < 1 || rate > 1.1 }
END_AWK
for k in 4 7 10; do
    n=$(awk -v k=$k 'BEGIN { printf "%d", .7 * 2 ^ 20 / k }')
    rate=$(awk -v k=$k 'BEGIN { printf "%.9f", (1 - exp(-.7)) ^ k + 1e-5 }')
    "$BLOOMERY" plan --json -k venti -n "$n" -p "$rate" >planned
    check "k = $k: 0.7 m / k blocks in 2^20 bits, a rate of about 2^-k" \
        awk -v k=$k -f plan.awk planned
done

# ---- Errors ------------------------------------------------------------------

size=$(wc -c <store/blocks)
refused 'a store that is there' 'store: File exists' \
    "$PROGRAM" new store 100 0.1
refused 'no number of blocks' '2\^32 blocks' "$PROGRAM" new other none 0.1
refused 'a number that ends in text' '1e6: 1 .. 2' "$PROGRAM" new other 1e6 0.1
refused 'a rate that does' '100: 1 .. 2' "$PROGRAM" new other 100 0.1x
check 'and no store is made' test ! -e other
refused 'no rate' 'a rate above 0' "$PROGRAM" new other 100 never
refused 'no store' 'other: No such file' "$PROGRAM" save other
echo 0123456789012345678901234567890123456789 >unknown
refused 'a score that is not there' '^archive: 0123456789.*: no such block' \
    sh -c "\"$PROGRAM\" restore store <unknown"
echo 'Some text.' >text
refused 'no scores' 'a line without a score' \
    sh -c "\"$PROGRAM\" restore store <text"
refused 'nothing' 'usage: archive new' "$PROGRAM"
"$PROGRAM" new small 4 0.1
refused 'more than fits' 'it is full' \
    sh -c "\"$PROGRAM\" save small <monday.tar >small.scores"
check 'and what fitted is kept' test "$(wc -l <small.scores)" -eq 6
"$PROGRAM" restore small <small.scores >found
check 'byte for byte' cmp -n "$(wc -c <found)" found monday.tar
check 'nothing was lost by all that' test "$size" -eq "$(wc -c <store/blocks)"
printf 'X' | dd of=store/blocks conv=notrunc bs=1 seek=1000 2>dd.err
refused 'a damaged block' 'the block is damaged' \
    sh -c "\"$PROGRAM\" restore store <monday"
finish
