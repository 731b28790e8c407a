# check.sh - duplicates: with any number of ranks, prints the lines that a
# single process with a full memory prints, and sends the computed number of
# bits.
. "${1:?}/lib.sh"

tab=$(printf '\t')
mpi=${BLOOMERY%/*}/bloomery-mpi
if [ ! -x "$mpi" ] || ! command -v mpirun >mpirun.path; then
    skip duplicates 'no bloomery-mpi (cmake -DBLY_MPI=ON), or no mpirun'
    finish
fi

ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}      # MPI's own
export ASAN_OPTIONS

# ranks P ARGUMENTS...: bloomery-mpi with P processes.
ranks() {
    processes=$1
    shift
    "$USE/../../tools/make/ranks" "$processes" "$mpi" "$@"
}
echo one >one
if ! ranks 2 dedup one >started 2>&1; then
    skip duplicates "mpirun cannot start two processes here: $(head -n 1 started)"
    finish
fi
# ---- Repeated lines ----------------------------------------------------------

cat "$MACHINE"/usr/share/common-licenses/* \
    "$MACHINE"/usr/share/doc/*/copyright 2>cat.err |
    head -n "$(work 20000 300000)" >lines
awk '!seen[$0]++' lines >once
sort lines | uniq -d >twice
figure 'lines' "$(wc -l <lines), $(wc -l <once) different"
for p in $(work 3 '1 2 3 5 8 16'); do
    ranks "$p" dedup lines >found
    check "$p ranks: each line as it comes first, in order" cmp once found
done
if [ "$EFFORT" = full ]; then
    awk 'FNR == NR { n[$0]++; next } n[$0] { print n[$0] "\t" $0; delete n[$0] }' \
        lines lines >counted
    ranks 3 dedup -c lines >found
    check 'how often each comes' cmp counted found
    ranks 5 dedup -d lines | sort >found
    check 'lines that occur twice or more' cmp twice found
    split -n l/3 lines part.
    ranks 4 dedup part.aa part.ab part.ac >found
    check 'equal for several files' cmp once found
    "$BLOOMERY" dedup  lines >found
    check 'as one process finds without MPI' cmp once found
fi

# ---- Ranks without lines, and identical lines --------------------------------

printf 'a\nb\na\n' >few
: >empty
yes 'the same line' | head -n 40 >same
yes 'the same line' | head -n 100000 >many
for p in $(work 5 '8 16'); do
    check "$p ranks, three lines" test "$(ranks "$p" dedup few | xargs)" = 'a b'
    [ "$EFFORT" = quick ] ||
        check "$p ranks, no line" test -z "$(ranks "$p" dedup empty)"
done
check '40 equal lines on 4 ranks: one, and 39 that repeat it' \
    test "$(ranks 4 dedup -c same)" = "40${tab}the same line"
[ "$EFFORT" = quick ] || check '100000 on 8 ranks' \
    test "$(ranks 8 dedup -c many)" = "100000${tab}the same line"

# ---- Traffic -----------------------------------------------------------------

# number ROUND NAME: a number from --json.
number() {
    awk -v round="$1" -v name="\"$2\":" '$1 == "\"values_per_position\":" { at++ }
        at == round && $1 == name { print $2 + 0; exit }' said
}
seq -f 'line %.0f' "$(work 80000 600000)" >distinct
for p in $(work 8 '2 8 16'); do
    ranks "$p" dedup --json distinct >said
    check "$p ranks: none is repeated" \
        grep -q "\"printed\": $(wc -l <distinct)," said
    for round in $(work 1 '1 2'); do
        check "$p ranks, round $round: bits a value within 3 % of log2(P/f) + 1.47" \
            awk -v b="$(number "$round" value_bits)" -v p="$p" \
            -v f="$(number "$round" values_per_position)" 'BEGIN {
                off = b / (log(p / f) / log(2) + 1.47) - 1; exit off * off > .0009 }'
        figure "$p ranks, round $round: bits a value" "$(awk -v p="$p" \
            -v b="$(number "$round" value_bits)" \
            -v f="$(number "$round" values_per_position)" 'BEGIN { printf \
            "%.3f, by formula %.3f", b, log(p / f) / log(2) + 1.47 }')"
        # Each of these elements is alone with a chance of e^-f. Those that are
        # not come in pairs, so their number varies more than if each were drawn
        # alone: of N elements at a position, y = N if N > 1, else 0, and given
        # the sum of all N, y varies by Var(y) - Cov(y, N)^2 / Var(N).
        varies=$(number "$round" values_per_position |
            awk '{ f = $1; e = exp(-f); y = f * (1 - e); c = y + f * f * e
                print 1 - e, (y + f * f - y * y - c * c / f) / f }')
        in_band "$p ranks, round $round: left in doubt" "$(number "$round" left)" \
            "$(number "$round" elements)" "${varies% *}" "${varies#* }"
    done
    figure "$p ranks: sent, of the hashes and of the lines" "$(awk '
        $1 == "\"sent_bytes\":"      { sent = $2 + 0 }
        $1 == "\"bytes_of_hashes\":" { hashes = $2 + 0 }
        $1 == "\"bytes_of_keys\":"   { keys = $2 + 0 }
        END { printf "%.3f and %.3f", sent / hashes, sent / keys }' said)"
done
# Published formulas: the share in doubt, and bits per value.
check 'a load of 1/8 leaves 11.75 %' awk 'BEGIN { x = 1 - exp(-.125) - .1175
    exit x * x > .00005 ^ 2 }'
check 'P = 8, f = 1/8 and 1/64: 7.4715 and 10.4715 bits' awk 'BEGIN {
    b = log(8 * 8) / log(2) + 1.4715; c = log(8 * 64) / log(2) + 1.4715
    exit b != 7.4715 && b - 7.4715 > 1e-9 || c - 10.4715 > 1e-9 }'

refused 'no file' 'nowhere.*No such file' ranks 3 dedup nowhere
if [ "$EFFORT" = full ]; then
    refused 'a pipe' '(-|standard input)' ranks 2 dedup -
    gzip -c few >few.gz
    refused 'a compressed file' 'few.gz' ranks 2 dedup few.gz
fi
finish
