# check.sh - bounds: none is too low, and as many are too high as the integral
# says, with the published figures, on numbers and on Debian's files.
. "${1:?}/lib.sh"

tab=$(printf '\t')

# ---- 10^4 different numbers --------------------------------------------------

# wrong M/N K FROM TO: the mean chance of too high a bound, over keys from the
# FROM-th to the TO-th share of those with larger numbers.
wrong() {
    awk -v b="$1" -v k="$2" -v from="$3" -v to="$4" 'BEGIN {
        for (steps = 10000; i < steps; i++)
            sum += (1 - exp(-k / b * (from + (to - from) * (i + .5) / steps))) ^ k
        printf "%.9f", sum / steps }'
}

# near NAME P KNOWN DIGIT: the formula's value, to the last published digit.
near() {
    check "$1: $3 is known" awk -v p="$2" -v known="$3" -v digit="$4" \
        'BEGIN { d = p - known; exit d > digit || -d > digit }'
}

# keys RUN: names with different numbers from 1 to 10000, in mixed order.
keys() {
    awk -v run="$1" 'BEGIN {
        for (srand(run); n < 10000; n++)
            printf "%.9f key-%d-%d\t%d\n", rand(), run, n, n + 1 }' |
        sort | cut -d ' ' -f 2
}

runs=$(work 1 10)
while read -r b k high strangers digit; do
    name="m/n = $b, k = $k"
    near "$name, too high" "$(wrong "$b" "$k" 0 1)" "$high" "$digit"
    near "$name, strangers" "$(wrong "$b" "$k" 1 1)" "$strangers" "$digit"
    run=0
    while [ $run -lt "$runs" ]; do
        run=$((run + 1))
        keys $run >keys.tsv
        "$BLOOMERY" build -k "approximator:m=$((b * 10000)),k=$k,bits=14" \
            -n 10000 -f 1 -l 2 -o keys.bly keys.tsv
        cut -f 1 keys.tsv | "$BLOOMERY" get keys.bly - |
            awk -F '\t' '{ print $2 "\t" $1 }' | paste keys.tsv - >>got
        awk -v run=$run 'BEGIN { while (i < 20000)
            print "stranger-" run "-" ++i }' >others
        { "$BLOOMERY" get keys.bly others || true; } >>found
    done
    awk -F '\t' '$1 != $3 || $4 < $2' got >low
    check "$name: no bound is too low" test ! -s low
    check "$name: every key has one" test "$(wc -l <got)" -eq $((runs * 10000))
    awk -F '\t' '$4 > $2 { print $2 }' got >high
    in_band "$name: too high" "$(wc -l <high)" $((runs * 10000)) \
        "$(wrong "$b" "$k" 0 1)"
    in_band "$name: strangers" "$(wc -l <found)" $((runs * 20000)) \
        "$(wrong "$b" "$k" 1 1)"
    figure "$name: known" "$high and $strangers"
    awk -F '\t' '$2 == 10000 && $4 != 10000' got >largest
    check "$name: the largest number is right" test ! -s largest
    [ "$b" != 4 ] || cp high quarters
    rm got found
done <<'END_TABLE'
4 3 .0456 .1469 .0001
8 5 .0045 .0217 .0001
8 6 .0041 .0216 .0001
10 7 .00134 .0082 .0001
16 11 .00005 .00046 .00001
END_TABLE
quarter=0
for known in .111 .050 .016 .0008; do
    share=$(wrong 4 3 "$(awk -v q=$quarter 'BEGIN { print (3 - q) / 4 }')" \
        "$(awk -v q=$quarter 'BEGIN { print (4 - q) / 4 }')")
    quarter=$((quarter + 1))
    # The published figure is one sample of 2500 keys.
    check "quarter $quarter of m/n = 4: $known is known, within 4 sigma" awk \
        -v p="$share" -v known=$known 'BEGIN {
            exit (p - known) ^ 2 > 16 * p * (1 - p) / 2500 }'
    in_band "quarter $quarter of m/n = 4" "$(awk -v q=$quarter '
        int(($1 - 1) / 2500) + 1 == q' quarters | wc -l)" $((runs * 2500)) \
        "$share"
done

# ---- The largest file in each folder of documentation ------------------------

if [ "$(find -L "$MACHINE/usr/share/doc" -type f 2>find.err | wc -l)" -ge 500 ]; then
    find -L "$MACHINE/usr/share/doc" -type f -printf '%h\t%s\n' 2>find.err |
        awk -F '\t' '$2 > 0 && $2 < 2 ^ 24' >sizes.tsv
    awk -F '\t' '$2 > most[$1] { most[$1] = $2 } END {
        for (key in most) print key "\t" most[key] }' sizes.tsv |
        sort -t "$tab" -k 2,2gr -k 1,1 >exact
    n=$(wc -l <exact)
    "$BLOOMERY" build -k "approximator:m=$((n * 4)),k=3,bits=24" -n "$n" -f 1 \
        -l 2 -o largest.bly sizes.tsv
    cut -f 1 exact | "$BLOOMERY" get largest.bly - | cut -f 1 |
        paste exact - >got
    awk -F '\t' '$3 < $2' got >low
    check 'folders: all have a bound' test "$(wc -l <got)" -eq "$n"
    check 'folders: none is too low' test ! -s low
    # Equal numbers do not disturb each other: only larger ones count.
    share=$(awk -F '\t' -v n="$n" '
        $2 != last { larger = NR - 1 }
        { sum += (1 - exp(-3 * larger / (n * 4))) ^ 3; last = $2 }
        END { printf "%.9f", sum / n }' exact)
    in_band 'folders: too high' "$(awk -F '\t' '$3 > $2' got | wc -l)" "$n" \
        "$share"
    figure 'folders' "$(wc -l <sizes.tsv) files in $n folders"

    # Two halves, added one after the other or united, give the same bounds.
    half=$(($(wc -l <sizes.tsv) / 2))
    head -n $half sizes.tsv >first
    tail -n +$((half + 1)) sizes.tsv >second
    for part in first second; do
        "$BLOOMERY" build -k "approximator:m=$((n * 4)),k=3,bits=24" -n "$n" \
            -f 1 -l 2 -o $part.bly $part
    done
    "$BLOOMERY" unite -o united.bly first.bly second.bly
    "$BLOOMERY" put -f 1 -l 2 first.bly second
    tail -c +129 largest.bly >whole
    for other in united first; do
        tail -c +129 $other.bly >part
        check "folders: $other, the cells are those of one filter" \
            cmp whole part
    done
else
    absent folders 'too few documents'
fi

printf 'a\t7\nb\tseven\n' >bad.tsv
refused 'a number that is none' 'line 2 of .bad.tsv' "$BLOOMERY" build \
    -k approximator:bits=14 -n 9 -f 1 -l 2 -o bad.bly bad.tsv
printf 'a\t7\nb\t16384\n' >bad.tsv
refused 'a number too large' 'line 2 of .bad.tsv' "$BLOOMERY" build \
    -k approximator:bits=14 -n 9 -f 1 -l 2 -o bad.bly bad.tsv
check 'nothing is written' test ! -e bad.bly
finish
