# check.sh - visits: no number is too low, and as many are too high as the rates
# of the layers say; with the published figures for two logs.
. "${1:?}/lib.sh"

# From a log, one id per line, and a filter, prints id, true number, reported
# number; both up to the number of layers, for which '?' stands.
numbers() {
    sort "$1" | uniq -c | awk '{ print $2 "\t" $1 }' >true
    cut -f 1 true | "$BLOOMERY" count "$2" - |
        awk -F '\t' '{ print $2 "\t" $1 }' | paste true - |
        awk -F '\t' -v most="$3" '{
            n = $2 > most ? most : $2; said = $4 == "?" ? most : $4
            if ($1 != $3) exit 2
            print $1 "\t" n "\t" said }' >numbers
}

# Predicts how many are too high: a key queries layer j when it comes the j-th
# time, at the rate of that time; the next layer is queried at the end. Lines of
# m and k for each layer come first.
cat >predict.awk <<'END_AWK'
function rate(j) { return (1 - exp(-k[j] * n[j] / m[j])) ^ k[j] }
FILENAME == "sizes" { m[++layers] = $1; k[layers] = $2; next }
{   if ((c = ++came[$0]) <= layers) {
        if (c < layers)
            high += rate(c)
        n[c]++
    } }
END {
    for (id in came)
        if (came[id] < layers) {
            high += rate(came[id] + 1)
            next_one += rate(came[id] + 1)
        }
    for (id in came) ids++
    printf "%.9f %.9f %d\n", high / ids, next_one / ids, ids
}
END_AWK

# compared NAME FILTER LOG MOST: the file sizes has its layers.
compared() {
    numbers "$3" "$2" "$4"
    check "$1: every id is there" \
        test "$(wc -l <numbers)" -eq "$(sort -u "$3" | wc -l)"
    awk -F '\t' '$3 < $2' numbers >low
    check "$1: no number is too low" test ! -s low
    too_high=$(awk -F '\t' '$3 > $2' numbers | wc -l)
    read -r high next_one ids <<END_PREDICTED
$(awk -f predict.awk sizes "$3")
END_PREDICTED
    in_band "$1: too high" "$too_high" "$ids" "$high"
    figure "$1: too high if only the next layer could err" "$next_one"
}

# ---- Published figures for two logs ------------------------------------------

# bits FILTER J BYTES M: the share of set bits of layer J, if each layer is an
# image of that many bytes.
bits() {
    tail -c +$((129 + ($2 - 1) * (($3 + 63) / 64 * 64) + 128)) "$1" |
        head -c $(($3 - 128)) | od -An -v -tu1 -w1 | awk -v m="$4" '
            { while ($1 > 0) { n += $1 % 2; $1 = int($1 / 2) } }
            END { printf "%.4f", n / m }'
}

# known NAME RATE LAYERS M FILLS TOO-HIGH, and the ids by their frequency.
known() {
    name=$1 rate=$2 layers=$3 m=$4 fills=$5 above=$6
    shift 6
    awk -v counts="$*" 'BEGIN {
        many = split(counts, of, " ")
        for (srand(32); c < many; c++)
            for (id = 0; id < of[c + 1]; id++)
                for (i = 0; i <= c; i++)
                    printf "%.9f %d-%d\n", rand(), c + 1, id }' |
        sort | cut -d ' ' -f 2 >log
    ids=$(sort -u log | wc -l)
    "$BLOOMERY" build -k "layered:of=standard,layers=$layers,repeated=100" \
        -n "$ids" -p "$rate" -o log.bly log
    "$BLOOMERY" plan --json -k standard -n "$ids" -p "$rate" >planned
    bytes=$(sed -n 's/^ *"bytes": \([0-9]*\).*/\1/p' planned)
    k=$(sed -n 's/^ *"probes": \([0-9]*\).*/\1/p' planned)
    check "$name: layers of $m bits" \
        test $((bytes - 128 - m / 8)) -le 1
    yes "$m $k" | head -n "$layers" >sizes
    compared "$name" log.bly log "$layers"
    figure "$name: exact and too high" "$((ids - too_high)) and $too_high, \
known $((ids - above)) and $above"
    # Two logs of one form differ like two counts of rare events.
    check "$name: as many too high as is known, within 4 sigma" awk \
        -v n="$too_high" -v m="$above" \
        'BEGIN { exit (n - m) ^ 2 > 16 * (n + m) }'
    j=0
    for fill in $fills; do
        j=$((j + 1))
        found=$(bits log.bly $j "$bytes" "$m")
        figure "$name: fill of layer $j" "$found, known $fill"
        # Each bit deviates by less than an independent one.
        check "$name: fill of layer $j" awk -v a="$found" -v b="$fill" \
            -v m="$m" 'BEGIN { exit (a - b) ^ 2 > 32 * b * (1 - b) / m + 1e-8 }'
    done
}

known 'five times' 0.05606 5 60000 '.4871 .2401 .1260 .0651 .0328' 171 \
    6000 2000 1000 500 500
# The depth of strangers, as each layer hashes anew.
seq 1 "$(work 100000 1000000)" | sed 's/^/stranger /' >strangers
"$BLOOMERY" count log.bly strangers | cut -f 1 | sort | uniq -c |
    awk '{ print $2, $1 }' >depths
all=$(wc -l <strangers)
rates=$(for j in 1 2 3; do bits log.bly $j "$bytes" "$m"; echo; done |
    awk -v k="$k" '{ f[NR] = $1 ^ k } END {
        print 1 - f[1], f[1] * (1 - f[2]), f[1] * f[2] * (1 - f[3]) }')
depth=0
for rate in $rates; do
    known=$(echo .94326 .05660 .00014 | cut -d ' ' -f $((depth + 1)))
    found=$(awk -v d=$depth '$1 == d { print $2 }' depths)
    in_band "strangers of depth $depth" "${found:-0}" "$all" "$rate"
    figure "strangers of depth $depth, known" "$known"
    # A different filter: rates of two differ by 2 %, plus sampling errors.
    check "strangers of depth $depth: near what is known" awk \
        -v n="${found:-0}" -v m="$all" -v p="$known" -v d=$depth 'BEGIN {
            r = d > 0 ? p : 1 - p; x = n / m - p
            exit x * x > 16 * (.02 * r) ^ 2 * (d > 1 ? 4 : 1) + 16 * p * (1 - p) / m }'
    depth=$((depth + 1))
done

known 'four times' 0.11826 4 40000 '.493 .2173 .0761 .0012' 374 6000 2000 1000

# ---- Words of licences, in order ---------------------------------------------

if [ -r "$MACHINE/usr/share/common-licenses/GPL-3" ]; then
    find "$MACHINE/usr/share/common-licenses" -type f -exec cat {} + |
        tr -cs 'A-Za-z' '\n' | grep . >words
    ids=$(sort -u words | wc -l)
    "$BLOOMERY" build -k layered:of=standard,layers=8,repeated=100 -n "$ids" \
        -p 0.05 -o words.bly words
    m=$("$BLOOMERY" plan --json -k standard -n "$ids" -p 0.05 | tr -d ' \n' |
        sed 's/.*"geometry":\[\([0-9]*\),\([0-9]*\).*/\1 \2/')
    yes "$m" | head -n 8 >sizes
    compared 'words' words.bly words 8
    figure 'words' "$(wc -l <words) words, $ids different ones"
    "$BLOOMERY" count -m 3 words.bly words | cut -f 2 | sort -u >often
    sort words | uniq -c | awk '$1 >= 3 { print $2 }' | sort >exact
    check 'all that came three times are told' test -z "$(comm -13 often exact)"
else
    absent words 'no licences'
fi

refused 'no log' 'none.*No such file' \
    "$BLOOMERY" build -k layered -n 9 -o none.bly none
echo a | "$BLOOMERY" build -n 9 -o plain.bly
refused 'a filter that does not count' 'plain.bly' \
    "$BLOOMERY" count plain.bly log
finish
