# sets.sh - unite, intersect, overlap.
# shellcheck source=lib.sh
. "$1/lib.sh"

span() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) print i }'
}
span 0 600 >low
span 400 1000 >high
span 0 1000 >all
span 400 600 >both
for name in low high all; do
    try build -n 1000 -p 1e-9 -o $name.bly $name
    silent "build $name"
done

# ---- unite ------------------------------------------------------------------
try unite -o u.bly low.bly high.bly
silent 'unite'
try query -c u.bly all
out_is 'all keys of both are in the union' 0 '1000\n'
span 1000 3000 >none
try query -c u.bly none
out_is 'and no others' 1 '0\n'
try unite --output w.bly low.bly high.bly both.bly
refused 'unite with a missing third' "both\\.bly"
check 'writes nothing' [ ! -e w.bly ]
try build -n 1000 -p 1e-9 -o both.bly both
try unite --output w.bly low.bly high.bly both.bly
silent 'unite of three'
try unite --verbose -o w.bly low.bly high.bly
note 'unite --verbose' "w\\.bly: about [0-9,]* ± .* keys, planned for 1,000: standard, "
try intersect --json -o w.bly low.bly high.bly
out_has 'intersect --json' 0 '^  "distinct": [0-9.]*,$'
try unite --json -o - low.bly high.bly
refused 'a filter and JSON to standard output' 'cannot both write to standard output'
for half in low high; do
    try build -n 600 -o tight-$half.bly $half
done
try unite -o w.bly tight-low.bly tight-high.bly
note 'a union that is overfull is told' \
    "the result holds more keys than the 600 it was planned for: .*: build "
try query -c w.bly all
out_is 'holds all' 0 '1000\n'
cp low.bly a.bly
try unite -o a.bly a.bly high.bly
silent 'the output may be the first input'
try query -c a.bly all
out_is 'and holds all' 0 '1000\n'
cp high.bly b.bly
try unite -o b.bly low.bly b.bly
silent 'the output may be the second input'
try query -c b.bly all
out_is 'and holds all too' 0 '1000\n'
"$BLOOMERY" unite -o - low.bly high.bly >piped.bly
check 'unite -o - writes to stdout' "$BLOOMERY" check piped.bly
"$BLOOMERY" unite --verbose -o - low.bly high.bly 2>err >piped.bly
check 'unite --verbose -o - names standard output' \
    grep -q '^bloomery unite: standard output: about ' err
"$BLOOMERY" build --verbose -o - -n 1000 low 2>err >/dev/null
check 'build --verbose -o - too' \
    grep -q '^bloomery build: standard output: 600 keys' err
for order in '- high.bly' 'high.bly -'; do
    # shellcheck disable=SC2086  # two filters
    try unite -o w.bly $order <low.bly
    silent "unite $order"
    check "unite $order: the same filter" cmp w.bly piped.bly
    # shellcheck disable=SC2002,SC2086
    cat low.bly | try unite -o w.bly $order
    check "unite $order, a pipe: the same filter" cmp w.bly piped.bly
done
keeps 'unite - -' 'only one filter can be read from standard input' w.bly \
    unite -o w.bly - - <low.bly
keeps 'unite of a pipe that is no filter' ': .*: ' w.bly \
    unite -o w.bly - high.bly <low
try info u.bly
out_has 'info: what was added to a union is not known' 0 \
    '^  keys +unknown how many added, planned for 1,000$'
out_has 'info: but how many are different' 0 '^  different +(999|1,000)'

try query -c piped.bly all
out_is 'an equal union' 0 '1000\n'
try check u.bly w.bly a.bly b.bly
status_is 'what unite wrote is sound' 0

for i in 1 2 3 4 5 6; do
    seq ${i}00000 ${i}03000 | "$BLOOMERY" build -k expandable -n 1000 -o part$i.bly
done
try unite -o sum.bly part1.bly part2.bly part3.bly part4.bly part5.bly part6.bly
note 'unite: the rates add up' 'the rates of united filters add up: .* not 1 %'
echo one | try add sum.bly
note 'add to such a filter says so as well' 'the rates of united filters add up'

# ---- unite --level ----------------------------------------------------------
: >nothing
try build -k attenuated:depth=3 -n 1000 -p 1e-9 -o link.bly nothing
try unite --level 1 -o link.bly link.bly low.bly
silent 'unite --level: a filter of the levels'
try build -k attenuated:depth=3 -n 1000 -p 1e-9 -o node.bly nothing
try unite --level 2 -o node.bly node.bly high.bly link.bly
silent 'unite --level: the same, and another one like it'
printf '1\n450\n999\n5000\n' | try get node.bly
out_is 'the labels grow; the nearest is told' 0 '3\t1\n2\t450\n2\t999\n'
try query -c node.bly all
out_is 'and all keys are there' 0 '1000\n'
cp node.bly out.bly
keeps 'no such level' "cannot be united: this filter has no level 4: " \
    out.bly unite --level 4 -o out.bly node.bly low.bly
try build -n 2000 -p 1e-9 -o size.bly low
keeps 'a filter of another size' "cannot be united: the levels are " \
    out.bly unite --level 1 -o out.bly node.bly size.bly
keeps 'a filter without levels' "cannot be united: .* at a label" \
    out.bly unite --level 1 -o out.bly low.bly high.bly

# ---- intersect --------------------------------------------------------------
try intersect -o i.bly low.bly high.bly
silent 'intersect'
try query i.bly all
# shellcheck disable=SC2016
check 'finds what is in both, and little else' awk '
    $1 >= 400 && $1 < 600 { common++ } END { exit common != 200 || NR > 210 }' \
    out
try intersect -o i.bly i.bly low.bly
silent 'intersect into an input'
try query -c i.bly both
out_is 'the common keys stay' 0 '200\n'

# ---- overlap ----------------------------------------------------------------
try overlap low.bly high.bly
out_has 'overlap: a' 0 '^in a +(59[0-9]|60[0-9]|610) ± [0-9]+ keys$'
out_has 'overlap: both' 0 '^in both +(1[89][0-9]|2[01][0-9]) ± [0-9]+ keys$'
out_has 'overlap: either' 0 '^in either +(9[89][0-9]|1,0[012][0-9]) ±'
out_has 'overlap: just one' 0 '^in just one +(79[0-9]|80[0-9]) ± [0-9]+ keys$'
out_has 'overlap: jaccard' 0 '^jaccard +0\.(1[89]|2[01])[0-9]* ± 0\.'
try overlap low.bly low.bly
out_has 'overlap with itself: none in just one' 0 '^in just one +0 keys$'
out_has 'overlap with itself: all in both' 0 '^jaccard +1.0000 ± 0.0000 '
for kind in quotient layered; do
    try build -n 1000 -p 1e-5 -k $kind -o low.$kind low
    try build -n 1000 -p 1e-5 -k $kind -o high.$kind high
    try overlap low.$kind high.$kind
    out_has "overlap: $kind" 0 '^in just one +(7[6-9][0-9]|8[0-3][0-9]) ± [0-9.]+ keys$'
done
try build -n 1 --overfill -o s.bly all
try overlap s.bly s.bly
out_has 'overlap: saturated' 0 '^in a +unknown \(the filter is saturated\)$'

# ---- refusals ---------------------------------------------------------------
cp u.bly out.bly
try build -n 1000 -p 1e-9 -s 1 -o seed.bly low
try build -n 5000 -p 1e-9 -o size.bly low
try build -n 1000 -p 1e-9 -H xxh64 -o hash.bly low
try build -n 1000 -p 1e-9 -k partitioned -o kind.bly low
for differs in seed size hash kind; do
    for command in unite intersect; do
        keeps "$command: another $differs" \
            "'high.bly' and '$differs.bly' cannot be .*: .*: " \
            out.bly $command -o out.bly high.bly $differs.bly
    done
    try overlap high.bly $differs.bly
    refused "overlap: another $differs" \
        "'high.bly' and '$differs.bly' cannot be compared: .*: "
done

finish
