# check.sh - location: the provider learns the filter's answer for each
# position, and neither side sees the same bytes twice.
. "${1:?}/lib.sh"

[ -x "$PROGRAM" ] || {
    skip location 'built without libsodium (Debian: libsodium-dev)'
    finish
}

# A map in three zones around a place, and cells outside of them.
awk -v size="$(work 10 40)" 'BEGIN {
    for (x = -size; x <= size; x++) for (y = -size; y <= size; y++) {
        far = sqrt(x * x + y * y)
        zone = far < size / 4 ? 3 : far < size / 2 ? 2 : far < size * .8
        if (zone) print zone "\t" x "," y >"map.tsv"
        print x "," y >"positions"
    } }'
"$BLOOMERY" build -k spatial:areas=3 -p 0.03 -l 1 -o zones.bly map.tsv
"$PROGRAM" keygen secret public
check 'nobody else can read the secret' test "$(ls -l secret | cut -c 1-10)" = \
    -rw-------
figure 'published' "$(seconds "$PROGRAM" publish public zones.bly cells) s"
cells=$("$BLOOMERY" info --json zones.bly | sed -n '/geometry/{n;s/[ ,]//g;p;}')
probes=$(field zones.bly probes)
figure 'sizes' "$(wc -l <map.tsv) cells of the map, $cells of the filter in \
$(wc -c <zones.bly) bytes, encrypted in $(wc -c <cells); a question is \
$((64 * probes)) bytes"

# ---- Every position ----------------------------------------------------------

# Exactly the filter's answers: their errors go upwards.
"$PROGRAM" ask cells <positions >questions
"$PROGRAM" answer secret zones.bly --seen <questions >seen
cut -f 1 seen >zones
{ "$BLOOMERY" get zones.bly positions || true; } | awk -F '\t' '
    FNR == NR { zone[$2] = $1; next } { print zone[$1] + 0 }' - positions >wanted
check "all $(wc -l <positions) positions: what the filter says" cmp zones wanted
check 'no position in a less important zone, or in none' awk -F '\t' '
    FILENAME == "map.tsv" { zone[$2] = $1; next }
    FILENAME == "positions" { name[FNR] = $1; next }
    $1 < zone[name[FNR]] { exit 1 }' map.tsv positions zones
strangers=$(($(wc -l <positions) - $(wc -l <map.tsv)))
cut -f 2 map.tsv | sort >members
sort positions | comm -13 members - >strangers
paste zones positions | awk 'FNR == NR { stranger[$1] = 1; next }
    $2 in stranger && $1 > 0 { n++ } END { print n + 0 }' strangers - >taken
in_band 'strangers that are said to be in a zone' "$(cat taken)" "$strangers" \
    "$(field zones.bly rate)"

# ---- Each side's view --------------------------------------------------------

# pieces: the 32-byte points of a query.
pieces() {
    fold -w 64 "$@"
}

# The client sees points; the same label never has the same bytes twice.
tail -c $((64 * cells + 32)) cells | tail -c +33 | od -An -v -tx1 -w32 |
    tr -d ' ' | sort >points
check 'published: two points a cell' test "$(wc -l <points)" = $((2 * cells))
check 'and no two alike' test -z "$(uniq -d points)"
"$PROGRAM" publish public zones.bly again
tail -c $((64 * cells)) again | od -An -v -tx1 -w32 | tr -d ' ' | sort |
    comm -12 - points >common
check 'published again: all others' test ! -s common
check 'the file has no byte of the filter' test "$(head -c "$(wc -c \
    <zones.bly)" cells | tail -c +129 | tr -d '\0' | wc -c)" = 0

# The provider sees labels of cells in random order, but not which cells.
pieces questions | sort >asked
check 'asked: no point of what is published' test -z "$(comm -12 asked points)"
check 'and no two alike' test -z "$(uniq -d asked)"
"$PROGRAM" ask cells <positions >once.more
pieces once.more | sort | comm -12 - asked >common
check 'asked again: all others' test ! -s common
"$PROGRAM" answer secret zones.bly --seen <once.more >seen.again
check 'with the same labels' sh -c 'order() { while IFS="$1" read -r zone cells
        do echo "$zone" $(echo "$cells" | tr " " "\n" | sort); done; }
    head -n 50 seen | order "	" >a; head -n 50 seen.again | order "	" >b
    cmp a b'
check 'in another order' sh -c '! cmp -s seen seen.again'
check 'the zone is the least of them' awk -F '[\t ]' '{
    for (i = 2; i <= NF; i++) if (i == 2 || $i < least) least = $i
    if (least != $1) exit 1 }' seen
check 'as many as the filter has probes' awk -v k="$probes" -F '[\t ]' \
    'NF != k + 1 { exit 1 }' seen
# With different labels each place is equally likely to have the smallest: over
# all queries, the first place has it as often as it is among the k.
awk -F '[\t ]' '{ n = 0; for (i = 2; i <= NF; i++) n += $i == $1
    if (n < NF - 1) { all++; p = n / (NF - 1); sum += p
        var += p * (1 - p); found += $2 == $1 } }
    END { print found + 0, sum + 0, var + 0, all + 0 }' seen >order
read -r found expected variance all <order
figure 'the least label came first' "$found of $all, $expected expected"
check 'the order tells nothing: within 5 sigma' awk -v f="$found" \
    -v e="$expected" -v v="$variance" 'BEGIN { exit (f - e) ^ 2 > 25 * v + 1 }'

# Not hidden: labels of strangers.
figure 'positions in no zone, of which some cell shows one' "$(awk -F '[\t ]' \
    '$1 == 0 { n++; for (i = 2; i <= NF; i++) if ($i > 0) { some++; break } }
    END { print some + 0 " of " n }' seen)"
cut -f 2 seen | awk '{ for (v = 0; v <= 3; v++) n[v] = 0
    for (i = 1; i <= NF; i++) n[$i]++
    print n[0], n[1], n[2], n[3] }' | sort | uniq -c | sort -n >alike
figure 'positions that show the same labels' "$(awk '{ n += $1; size[NR] = $1 }
    END { for (i = 1; m < n / 2; i++) m += size[i]
        print "half of all share theirs with", size[i - 1] - 1, \
            "others or fewer" }' alike), $(awk '$1 == 1' alike | wc -l) with none"
head -n 100 positions >hundred
figure 'a hundred questions' "$(seconds sh -c '"$0" ask cells <hundred' \
    "$PROGRAM") s to ask, $(seconds sh -c \
    'head -n 100 questions | "$0" answer secret zones.bly' "$PROGRAM") s to \
answer"

# ---- Refusals ----------------------------------------------------------------

"$PROGRAM" keygen secret.2 public.2
refused 'an answer by another key' 'of another key' sh -c \
    '"$0" answer secret.2 zones.bly <questions' "$PROGRAM"
refused 'a key that is there' 'secret: File exists' "$PROGRAM" keygen secret p
check 'which is left alone' test "$(wc -c <secret)" -eq 32
refused 'cells that are there' 'cells: File exists' "$PROGRAM" publish public \
    zones.bly cells
refused 'no key' '32 bytes' sh -c 'echo x >map.short
    "$0" publish map.short zones.bly new' "$PROGRAM"
refused 'a key that is no point' 'no public key' sh -c 'head -c 32 /dev/zero |
    tr "\0" "\377" >ones; "$0" publish ones zones.bly new' "$PROGRAM"
"$BLOOMERY" build -l 1 -k approximator:bits=2 -o other.bly map.tsv
refused 'a filter of another kind' 'spatial is wanted' "$PROGRAM" publish \
    public other.bly new
head -c 400 cells >short
refused 'cells that are cut short' 'cut short|begin' sh -c \
    'echo 1,1 | "$0" ask short' "$PROGRAM"
# A provider may send anything: a filter that is not empty, or invalid points.
{ cat zones.bly; tail -c +$(($(wc -c <zones.bly) + 1)) cells; } >forged
"$PROGRAM" ask forged <hundred >questions.2
"$PROGRAM" answer secret zones.bly <questions.2 | cmp - zones >cmp.out 2>&1 ||
    true
check 'cells behind a filter that is not empty: the same' \
    grep -q 'EOF on -' cmp.out
{ head -c "$(wc -c <zones.bly)" cells; cat ones
  tail -c $((64 * cells)) cells; } >spoilt
refused 'a public key that is none' 'damaged' sh -c \
    '"$0" ask spoilt <hundred' "$PROGRAM"
pieces refused.out | sort | comm -12 - points >common
check 'and no cell is sent as it is' test ! -s common
refused 'a position that is too long' 'too long' sh -c \
    'head -c 5000 /dev/zero | tr "\0" 1 | "$0" ask cells' "$PROGRAM"
refused 'a position with a NUL byte' 'NUL' sh -c \
    'printf "1,1\0001\n" | "$0" ask cells' "$PROGRAM"
refused 'no positions' 'cannot be read' sh -c '"$0" ask cells <.' "$PROGRAM"
refused 'no cells' 'map.tsv' sh -c 'echo 1,1 | "$0" ask map.tsv' "$PROGRAM"
refused 'half a question' 'not as many' sh -c 'head -n 1 questions |
    cut -c 1-128 | "$0" answer secret zones.bly' "$PROGRAM"
refused 'points that are none' 'of another key' sh -c 'head -n 1 questions |
    tr 0-9 f | "$0" answer secret zones.bly' "$PROGRAM"
refused 'a filter for a key' '32 bytes' "$PROGRAM" publish zones.bly zones.bly new
refused 'nothing' 'usage: location' "$PROGRAM"
finish
