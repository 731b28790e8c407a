# check.sh - novelty: the numbers equal those of a list of weights, and match
# the published curves. Odours are drawn from seeds: 50 exponential numbers
# each.
. "${1:?}/lib.sh"

# odours SEED N: N odours, one per line.
odours() {
    awk -v seed="$1" -v n="$2" 'BEGIN {
        for (srand(seed); n > 0; n--)
            for (j = 0; j < 50; j++)
                printf "%.6f%s", -log(1 - rand()), j < 49 ? "," : "\n" }'
}

new() {
    "$PROGRAM" "$@" | cut -f 1
}

# ---- Compared with a program without filters ---------------------------------

cat >weights.py <<'END_PYTHON'
import sys
delta, least = float(sys.argv[1]), 1 << 64
def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) % least
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % least
    x = (x ^ x >> 27) * 0x94D049BB133111EB % least
    return x ^ x >> 31
inputs, drawn = [], 0
for cell in range(2000):
    six = []
    while len(six) < 6:
        drawn += 1
        at = mix64(drawn) % 50
        if at not in six:
            six.append(at)
    inputs.append(six)
weights = [1.0] * 2000
for line in sys.stdin:
    x = [float(number) for number in line.split(",")]
    sums = []
    for six in inputs:
        total = 0.0
        for at in six:
            total += x[at]
        sums.append(total)
    tag = sorted(range(2000), key=lambda c: (-sums[c], c))[:100]
    print("%.4f" % (sum(weights[c] for c in tag) / 100))
    for c in tag:
        weights[c] *= delta
END_PYTHON
odours 1 "$(work 60 400)" >some
{ cat some; head -n 20 some; } >again
if command -v python3 >found.python; then
    for delta in 0 0.5 0.9; do
        python3 weights.py $delta <again >exact
        new -d $delta again >found
        # The last digit may be rounded differently.
        paste exact found | awk '{ d = $1 - $2 }
            d > .00015 || d < -.00015' >unlike
        check "delta = $delta: the same as a list of weights" test ! -s unlike
        check "delta = $delta: for all lines" \
            test "$(wc -l <found)" -eq "$(wc -l <again)"
    done
else
    skip 'beside a list of weights' 'no python3'
fi
new -l some some | sort -u >found
check 'learned odours have novelty 0' test "$(cat found)" = 0.0000
awk -F , '{ for (i = 1; i <= NF; i++) printf "%.6f%s", 3 * $i, i < NF ? " " : "\n" }' \
    some >stronger
new -l some stronger | sort -u >found
check 'whatever its strength' test "$(cat found)" = 0.0000

# ---- Similarity --------------------------------------------------------------

# mean FILE: and its standard deviation.
mean() {
    awk '{ n++; s += $1; ss += $1 * $1 } END {
        v = n > 1 ? (ss / n - (s / n) ^ 2) / (n - 1) : 0
        printf "%.5f %.5f\n", s / n, sqrt(v > 0 ? v : 0) }' "$1"
}

trials=$(work 10 200)
odours 2 "$trials" >ones
odours 3 "$trials" >others
rhos='1 0.99 0.95 0.9 0.8 0.6 0.4 0'
trial=0
while [ $trial -lt "$trials" ]; do
    trial=$((trial + 1))
    sed -n "${trial}p" ones >one
    sed -n "${trial}p" others | paste -d , one - | awk -F , -v rhos="$rhos" '{
        for (r = 1; r <= split(rhos, rho, " "); r++)
            for (j = 1; j <= 50; j++)
                printf "%.9f%s", rho[r] * $j + (1 - rho[r]) * $(j + 50), \
                    j < 50 ? "," : "\n" }' >mixed
    new -l one mixed | paste -s -d ' ' -
done >novelties
cut -d ' ' -f 1 novelties | sort -u >found
check 'an exact repeat has novelty 0' test "$(cat found)" = 0.0000
place=0
for known in 0 .007 .036 .081 .189 .408 .713 .945; do
    place=$((place + 1))
    rho=$(echo "$rhos" | cut -d ' ' -f $place)
    cut -d ' ' -f $place novelties >column
    mean column >found
    figure "share $rho of the one that was learned" \
        "$(cut -d ' ' -f 1 found), known $known"
    # A trial's own standard deviation, and that of a published mean of 40.
    check "share $rho: as is known, within 4 sigma" awk -v known=$known \
        -v trials="$trials" -v found="$(cat found)" 'BEGIN {
            split(found, f, " "); d = f[1] - known
            var = f[2] ^ 2 * (1 + trials / 40)
            exit d * d > 16 * var + .0005 * .0005 }'
done
# Spearman: the ranks of all trials, mean ranks for equal ones.
awk -v rhos="$rhos" '{ split(rhos, rho, " ")
    for (i = 1; i <= NF; i++) print 1 - rho[i], $i }' novelties >points
ranks() {
    sort -g -k "$1" points | awk -v c="$1" '
        { line[NR] = $0; value[NR] = $c }
        END { for (i = 1; i <= NR; i = j) {
                  for (j = i; j <= NR && value[j] == value[i]; j++)
                      ;
                  for (l = i; l < j; l++)
                      print line[l], (i + j - 1) / 2 } }' >ranked
    mv ranked points
}
ranks 1
ranks 2
spearman=$(awk '{ n++; a += $3; b += $4; aa += $3 * $3; bb += $4 * $4
    ab += $3 * $4 } END { printf "%.4f", (ab - a * b / n) / \
        sqrt((aa - a * a / n) * (bb - b * b / n)) }' points)
figure 'Spearman, unlikeness and novelty' "$spearman"
check 'novelty rises with unlikeness: above 0.9' \
    awk -v s="$spearman" 'BEGIN { exit s <= .9 }'

# ---- Capacity ----------------------------------------------------------------

trial=0
while [ $trial -lt "$trials" ]; do
    trial=$((trial + 1))
    odours $((100 + trial)) 101 >many
    new many | paste -s -d ' ' -
done >curves
for known in '1 .946' '5 .788' '10 .591' '20 .367' '50 .077' '100 .010'; do
    n=${known% *} known=${known#* }
    cut -d ' ' -f $((n + 1)) curves >column
    mean column >found
    figure "$n odours learned" "$(cut -d ' ' -f 1 found), known $known, 0.95^n \
$(awk -v n="$n" 'BEGIN { printf "%.3f", .95 ^ n }')"
    check "$n odours learned: as is known, within 4 sigma" awk -v known="$known" \
        -v trials="$trials" -v found="$(cat found)" 'BEGIN {
            split(found, f, " "); d = f[1] - known
            exit d * d > 16 * f[2] ^ 2 * (1 + trials / 40) + .0005 * .0005 }'
    [ "$n" -gt 20 ] || check "$n odours learned: within .03 of 0.95^n" awk \
        -v n="$n" -v found="$(cat found)" 'BEGIN {
            split(found, f, " "); d = f[1] - .95 ^ n
            exit d * d > (.03 + 4 * f[2]) ^ 2 }'
done

# ---- Memory ------------------------------------------------------------------

odours 7 40 >stream
head -n 1 stream >first
{ head -n 4 stream; cat first; } >soon
{ cat stream; cat first; } >late
check 'aging: 500 cells hold the last five odours' \
    test "$(new -k aging -n 500 soon | tail -n 1)" = 0.0000
check 'and not one that came forty ago' awk -v new="$(new -k aging -n 500 \
    late | tail -n 1)" 'BEGIN { exit new < .3 }'
check 'counting holds it' test "$(new late | tail -n 1)" = 0.0000
{ cat first first first; } >thrice
check 'delta = 0.5: half as new each time' \
    test "$(new -d 0.5 thrice | paste -s -d ' ' -)" = '1.0000 0.5000 0.2500'

printf '1,2,3\n1,2\n' >uneven
refused 'lines of unlike length' 'line 2 of .uneven.: not so many' \
    "$PROGRAM" uneven
printf '1,two,3\n' >text
refused 'not a number' 'line 1 of .text.: it has no numbers' "$PROGRAM" text
refused 'no file' 'none: No such file' "$PROGRAM" none
refused 'a kind that there is not' 'nothing: .*no.* kind' \
    "$PROGRAM" -k nothing first
refused 'no delta' 'usage: novelty' "$PROGRAM" -d 2 first
refused 'no option' 'usage: novelty' "$PROGRAM" -x first
finish
