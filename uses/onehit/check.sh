# check.sh - one-hit wonders: a trace replayed, beside Python caches and
# filters, and the published figures of a synthetic trace.
. "${1:?}/lib.sh"

command -v python3 >/dev/null || { skip onehit 'no python3'; finish; }

# row RULE OPTIONS...: hits, share and writes of the program's rule.
row() {
    row_rule=$1
    shift
    "$PROGRAM" "$@" | awk -v r="$row_rule" '$1 == r { print $2, $3, $4 }'
}

# model C RULE: the same from the model's table.
model() {
    awk -v c="$1" -v r="$2" '$1 == c && $2 == r { print $3, $4, $5 }' model
}

# A synthetic trace of 100,000 objects, of which 75,000 are requested once.
python3 "$USE/model.py" >trace
check 'the trace is the known one' test "$(wc -l <trace) $(head -n 5 trace |
    tr '\n' ' ')" = '195194 75355 98948 94605 84582 79301 '
check 'three objects in four are asked for once' test \
    "$(sort trace | uniq -u | wc -l) $(sort -u trace | wc -l)" = '75000 100000'
cat >known <<'END'
1000 184236 .0561 76698 .0823 79251
5000 167619 .1413 57097 .1825 59462
10000 155230 .2047 44026 .2488 46125
20000 138118 .2924 28782 .3334 29745
END
work 'NR == 1' 1 >which
awk "$(cat which)" known >table
# shellcheck disable=SC2046  # several sizes
python3 "$USE/model.py" trace $(cut -d ' ' -f 1 table) >model

# Two filters of 479,253 bits and seven probes. The program's bits are at other
# places, so its writes vary with the seed: the model's must lie among them.
sure='-k standard -n 200000 -p 1e-9'
two='-n 50000 -p 0.0202 -k aging:of=standard'
while read -r c all all_hits second second_hits exact; do
    check "$c: the model, two filters" test "$(model "$c" two |
        cut -d ' ' -f 2,3)" = "0$second_hits $second"
    check "$c: the model, exact" test "$(model "$c" exact |
        cut -d ' ' -f 3)" = "$exact"
    check "$c: the program, all stored" test \
        "$(row all -c "$c" trace)" = "$(model "$c" all)"
    check "$c: as known, all stored" test "$(row all -c "$c" trace |
        cut -d ' ' -f 2,3)" = "0$all_hits $all"
    # shellcheck disable=SC2086  # several options
    check "$c: without a false positive, as exact" test \
        "$(row second -c "$c" $sure trace)" = "$(model "$c" exact)"
    for seed in $(seq "$(work 8 40)"); do
        # shellcheck disable=SC2086  # several options
        row second -c "$c" $two -s "$seed" trace
    done >seeds
    awk -v w="$second" '{ n++; s += $3; q += $3 * $3 }
        END { m = s / n; d = (q - n * m * m) / (n - 1)
        printf "%.1f %.1f", m, sqrt(d) > "mean"
        exit (w - m) ^ 2 > 16 * d * (1 + 1 / n) }' seeds || touch outside
    check "$c: the known writes are among ours" test ! -e outside
    rm -f outside
    figure "cache of $c" "writes $all, then $(awk '{ print $1 " +- " $2 }' mean) \
(known: $second; exact: $exact); hits of all $all_hits, then $(awk '{ s += $2 }
        END { printf "%.4f", s / NR }' seeds) (known: $second_hits)"
    check "$c: at least 40 % fewer writes, and no fewer hits" awk -v w="$all" \
        -v h="$all_hits" '$3 > 0.6 * w || $2 < h { exit 1 }' seeds
done <table
check 'the filter has the known size' awk -v w="$(
    "$PROGRAM" -c 1000 -n 50000 -p 0.0202 -k aging:of=standard trace |
        sed -n 's/^filter: \([0-9]*\).*/\1/p')" \
    'BEGIN { exit w < 2 * 479253 / 8 || w > 1.005 * 2 * 479253 / 8 }'

# A real sequence: the words of texts.
cat "$MACHINE"/usr/share/common-licenses/* | tr -cs 'A-Za-z' '\n' | grep . >words
python3 "$USE/model.py" words 500 >model
check 'words: all stored' test "$(row all -c 500 words)" = "$(model 500 all)"
# shellcheck disable=SC2086  # several options
check 'words: as exact' test \
    "$(row second -c 500 $sure words)" = "$(model 500 exact)"
figure "words of licences, $(wc -l <words)" "cache of 500: hits and writes \
$(row all -c 500 words | cut -d ' ' -f 2,3), then \
$(row second -c 500 words | cut -d ' ' -f 2,3)"

# The size of a filter for 10^8 objects: 180 MB, ten bits a key.
"$BLOOMERY" plan -k standard -n 1e8 -p 0.001 --json >plan
check '10^8 objects at 0.1 %: 180 MB' awk -F '[:, ]+' '$2 == "\"bytes\"" {
    exit $3 < 179e6 || $3 > 181e6 }' plan
check '10^8 objects at 0.1 %: ten probes' grep -q '"probes": 10,' plan

: >nothing
check 'an empty trace' test "$(row all -c 5 nothing)" = '0 0.0000 0'
refused 'no trace' 'none: No such file' "$PROGRAM" -c 5 none
refused 'no size' 'usage: onehit -c' "$PROGRAM" trace
refused 'a size that is none' 'usage: onehit -c' "$PROGRAM" -c few trace
refused 'a rate that is none' 'usage: onehit -c' "$PROGRAM" -c 5 -p x trace
refused 'a frozen filter' 'filter: ' "$PROGRAM" -c 5 -k fuse trace
finish
