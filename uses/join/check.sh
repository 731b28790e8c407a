# check.sh - joins: the result equals that of sort and join on both files, and
# rows without a match are kept at the filter's rate.
. "${1:?}/lib.sh"

tab=$(printf '\t')

# joined SMALL LARGE: exactly, by column 1.
joined() {
    sort -t "$tab" -k 1,1 "$2" >joined.large
    sort -t "$tab" -k 1,1 "$1" | join -t "$tab" - joined.large
}

# ---- A row in a hundred matches ---------------------------------------------

words=/usr/share/dict/ngerman others=/usr/share/dict/american-english
if [ -r $words ] && [ -r $others ]; then
    sort -u $words | awk '{ print $0 "\t" NR }' >large.tsv
    awk -F '\t' 'NR % 100 == 0 { print $1 "\t" length($1) }' large.tsv >small.tsv
    cut -f 1 large.tsv >large.keys
    sort -u $others | comm -23 - large.keys |
        awk 'NR % 20 == 0 { print $0 "\t" length($0) }' >>small.tsv
    rows=$(wc -l <large.tsv) keys=$(wc -l <small.tsv)
    joined small.tsv large.tsv >exact
    match=$(wc -l <exact)
    figure 'files' "$rows rows, $keys keys, $match rows match"

    # ROWS KEPT of a large file, for two rates, beside the published figures.
    for known in '0.01 0.0199' '0.001 0.0110'; do
        rate=${known% *}
        "$BLOOMERY" build -f 1 -p "$rate" -n "$keys" -o small.bly small.tsv
        "$BLOOMERY" query -f 1 small.bly large.tsv >kept.tsv
        joined small.tsv kept.tsv >found
        check "$rate: the join is exact" cmp exact found
        check "$rate: a row at least is kept that does not match" \
            test "$(wc -l <kept.tsv)" -gt "$match"
        in_band "$rate: kept of rows that do not match" \
            $(($(wc -l <kept.tsv) - match)) $((rows - match)) \
            "$(field small.bly rate)"
        figure "$rate: rows kept" "$(awk -v n="$(wc -l <kept.tsv)" \
            -v m="$rows" -v p="${known#* }" 'BEGIN {
                printf "%.4f, known %s", n / m, p }')"
        check "$rate: as is known of a match of 1 %" awk -v p="${known#* }" \
            -v eps="$rate" 'BEGIN { d = .01 + .99 * eps - p
                exit d * d > .00005 * .00005 }'
        check "$rate: and found here, within 4 sigma" awk -v p="$rate" \
            -v n="$(wc -l <kept.tsv)" -v m="$rows" -v all="$match" 'BEGIN {
                none = m - all; d = n - all - none * p
                exit d * d > 16 * none * p * (1 - p) + 1 }'
    done

    "$BLOOMERY" join -f 1 --list-field 1 large.tsv small.tsv >semi
    cut -f 1,3 exact >exact.rows
    sort -t "$tab" -k 1,1 semi | cmp - exact.rows >cmp.out 2>&1 || true
    check 'a single command prints the same rows' test ! -s cmp.out
    check 'and the others with --invert-match' test $((rows - match)) = \
        "$("$BLOOMERY" join -c --invert-match -f 1 --list-field 1 large.tsv small.tsv)"

    # The union of parts equals the whole, byte for byte, except for the number
    # of adds.
    "$BLOOMERY" build -f 1 -p 0.001 -n "$keys" -o whole.bly small.tsv
    split -n l/4 small.tsv part.
    for part in part.a?; do
        "$BLOOMERY" build -f 1 -p 0.001 -n "$keys" -o "$part.bly" "$part"
    done
    "$BLOOMERY" unite -o parts.bly part.a?.bly
    tail -c +129 whole.bly >whole
    tail -c +129 parts.bly >parts
    check 'four parts' test -s part.ad.bly
    check 'united they have the bits of the whole' cmp whole parts

    # Processes on many machines, each reading a part of both files.
    mpi=${BLOOMERY%/*}/bloomery-mpi ranks=$USE/../../tools/make/ranks
    ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}  # MPI's own
    export ASAN_OPTIONS
    if [ -x "$mpi" ] && "$ranks" 2 "$mpi" build -f 1 -p 0.001 -n "$keys" \
        -o ranks.bly small.tsv >ranks.log 2>&1
    then
        check 'two ranks build the same file' cmp whole.bly ranks.bly
        "$BLOOMERY" query -f 1 whole.bly large.tsv >kept.tsv
        for p in $(work 3 '1 2 3 5 8'); do
            "$ranks" "$p" "$mpi" query -f 1 ranks.bly large.tsv >kept.ranks
            check "$p ranks keep the same rows" cmp kept.tsv kept.ranks
            joined small.tsv kept.ranks >found
            check "$p ranks: the join is exact" cmp exact found
        done
    else
        skip 'a join of many processes' 'no bloomery-mpi, or no mpirun that starts'
    fi

    # Two large files, each reduced to its matches and a share of the rest.
    sort -u $others | awk '{ print $0 "\t" NR }' >other.tsv
    joined other.tsv large.tsv >exact
    "$BLOOMERY" build -f 1 -p 0.01 -o large.bly large.tsv
    "$BLOOMERY" query -f 1 large.bly other.tsv >other.kept
    "$BLOOMERY" build -f 1 -p 0.01 -o other.bly other.kept
    "$BLOOMERY" query -f 1 other.bly large.tsv >large.kept
    joined other.kept large.kept >found
    check 'filters both ways: the join is exact' cmp exact found
    in_band 'the one keeps, without a partner' \
        $(($(wc -l <other.kept) - $(wc -l <exact))) \
        $(($(wc -l <other.tsv) - $(wc -l <exact))) "$(field large.bly rate)"
    cut -f 1 other.kept >kept.keys
    strangers=$(($(wc -l <large.tsv) - $(wc -l <exact)))
    in_band 'and the other' $(($(wc -l <large.kept) - $(wc -l <exact))) \
        "$strangers" "$(field other.bly rate)"
    figure 'rows sent of both' "$(wc -l <large.kept) and $(wc -l <other.kept) \
of $rows and $(wc -l <other.tsv); $(wc -l <exact) match"
else
    skip 'a match of 1 %' 'no lists of words (Debian: wamerican, wngerman)'
fi

# ---- The package of a configuration file ------------------------------------

if [ -r "$MACHINE/var/lib/dpkg/status" ] &&
    ls "$MACHINE"/var/lib/dpkg/info/*.list >lists 2>&1; then
    awk '/^Conffiles:/ { on = 1; next } /^[^ ]/ { on = 0 }
         on { print $1 "\t" $2 }' "$MACHINE/var/lib/dpkg/status" | sort -u >conf.tsv
    awk '{ n = split(FILENAME, part, "/"); print $0 "\t" part[n] }' \
        "$MACHINE"/var/lib/dpkg/info/*.list >files.tsv
    joined conf.tsv files.tsv >exact
    # Every key occurs three times: only different keys count.
    cat conf.tsv conf.tsv conf.tsv >repeated.tsv
    "$BLOOMERY" build -f 1 -p 0.01 --json -o conf.bly repeated.tsv >built
    "$BLOOMERY" query -f 1 conf.bly files.tsv >kept.tsv
    joined conf.tsv kept.tsv >found
    check 'packages: the join is exact' cmp exact found
    check 'packages: rows are left' test -s found
    figure 'packages: rows kept' "$(wc -l <kept.tsv) of $(wc -l <files.tsv), \
$(cut -f 1 exact | sort -u | wc -l) files match"
    different=$(sed -n 's/.*"different": \([0-9]*\).*/\1/p' built)
    check 'different keys are estimated, within 5 sigma (4 %)' awk \
        -v n="$different" -v m="$(cut -f 1 conf.tsv | sort -u | wc -l)" \
        'BEGIN { d = n / m - 1; exit d * d > .04 * .04 }'
else
    absent 'packages' 'this is no Debian'
fi

# ---- 300 MiB, and probes from 1 to 4 ----------------------------------------

# best KEYS MOST: the number of probes with the lowest rate.
best() {
    probes=1
    while [ $probes -le "$2" ]; do
        "$BLOOMERY" plan --json -k "standard:m=2516582400,k=$probes" -n "$1" |
            sed -n "s/^ *\"rate\": \([^,]*\),*$/\1 $probes/p"
        probes=$((probes + 1))
    done | sort -g | sed -n '1s/.* //p'
}
check '300 MiB: 4 of 8 probes are best for 436 million keys' \
    test "$(best 436000000 8)" = 4
check '300 MiB: 3 of 4 for 600 million' test "$(best 600000000 4)" = 3
check '300 MiB: 1 of 4 for 3 thousand million' test "$(best 3e9 4)" = 1
check '300 MiB: m ln 2 / 4 is 436 million' awk 'BEGIN {
    d = 2516582400 * log(2) / 4 / 4.36e8 - 1; exit d * d > .001 * .001 }'

printf 'a\tb\n' >one.tsv
refused 'no keys' 'none.tsv.*No such file' \
    "$BLOOMERY" build -f 1 -o none.bly none.tsv
refused 'a table for a filter' 'one.tsv' "$BLOOMERY" query one.tsv one.tsv
"$BLOOMERY" build -n 10 -o a.bly one.tsv
"$BLOOMERY" build -n 99 -o b.bly one.tsv
refused 'parts of unlike plans' 'a\.bly|b\.bly' \
    "$BLOOMERY" unite -o c.bly a.bly b.bly
check 'and nothing is written' test ! -e c.bly
finish
