# check.sh - similar-texts: the filters' estimate of what two texts share agrees
# with a comparison chunk by chunk.
. "${1:?}/lib.sh"

# exact FILE...: prints two names, and the share of the first's chunks that are
# in the second; writes to `sizes` how many chunks each has.
exact() {
    awk '
    function end_chunk(  n, have, i) {
        if (chunk != "" && !((file, chunk) in seen)) {
            seen[file, chunk] = 1
            n = split(files[chunk], have, "\n")
            for (i = 1; i < n; i++)
                both[have[i] "\t" file]++
            files[chunk] = files[chunk] file "\n"
            size[file]++
        }
        chunk = ""
        words = 0
    }
    FNR == 1 { end_chunk(); file = FILENAME }
    { gsub(/[^a-zA-Z0-9\200-\377]+/, " ")
      for (w = 1; w <= NF; w++) {
          chunk = chunk (words++ ? " " : "") tolower($w)
          if (length($w) >= 7 && words >= 4)
              end_chunk() } }
    END { end_chunk()
        for (name in size)
            print name "\t" size[name] >"sizes"
        for (p in both) {
            split(p, of, "\t")
            print of[1] "\t" of[2] "\t" both[p] / size[of[1]]
            print of[2] "\t" of[1] "\t" both[p] / size[of[2]] } }' "$@"
}

# ---- Debian's copyright files and licences -----------------------------------

find "$MACHINE/usr/share/common-licenses" "$MACHINE/usr/share/doc" -type f -size +5k \
    \( -name copyright -o -path '*/common-licenses/*' \) 2>find.err | sort |
    head -n "$(work 60 300)" >files
if [ "$(wc -l <files)" -ge 20 ]; then
    tr '\n' '\0' <files | xargs -0 "$PROGRAM" -t -9 | cut -f 1-3 | sort >scores
    check 'every text is there' test "$(wc -l <files)" -eq \
        "$(cut -f 1 scores | sort -u | wc -l)"
    set --
    while read -r file; do set -- "$@" "$file"; done <files
    exact "$@" | sort >shares
    sort sizes | awk '$2 >= 100' >large
    check 'ten texts or more have 100 chunks' test "$(wc -l <large)" -ge 10
    cat >join.awk <<'END_AWK'
BEGIN { FS = "\t" }
FILENAME == "large" { size[$1] = $2; next }
FILENAME == "shares" { exact[$1, $2] = $3; next }
$1 in size && $2 in size { print $0 "\t" exact[$1, $2] + 0 }
END_AWK
    # A share of few chunks is coarse, so texts with 100 and more are compared.
    awk -f join.awk large shares scores >both
    texts=$(wc -l <large)
    check 'all pairs of them are compared' \
        test "$(wc -l <both)" -eq $((texts * (texts - 1)))
    figure 'texts' "$texts of 100 chunks or more, $(wc -l <both) scores, \
$(awk '$4 >= .5' both | wc -l) of them .5 or more"
    figure 'farthest from the exact share' "$(awk '{
        d = $3 - $4; d = d < 0 ? -d : d; if (d > most) most = d }
        END { printf "%.4f", most }' both)"
    awk '$3 - $4 > .05 || $4 - $3 > .05' both >far
    check 'every score is within 0.05 of the exact share' test ! -s far
    # Texts with half of a text's chunks: in the order of shares, if these
    # differ by more than a chunk or two in a hundred.
    sort -t "$(printf '\t')" -k 1,1 -k 3,3gr both | awk -F '\t' '
        $1 != last { best = 0 }
        $4 >= .5 { if (best && $4 > best + .02) { print; bad = 1 }
                   best = $4 }
        { last = $1 }
        END { exit bad }' >disorder || true
    check 'texts that share half are in the order of the exact shares' \
        test ! -s disorder
    # By default: shares of 0.7 and more, the most similar first.
    tr '\n' '\0' <files | xargs -0 "$PROGRAM" >default
    check 'the most similar come first' sort -c -s -t "$(printf '\t')" \
        -k 3,3gr default
    awk -F '\t' '$3 >= .7' default >enough
    check 'some have 0.7' test -s default
    check 'and none is below 0.7' cmp default enough
else
    absent 'licences' 'no copyright files: this is no Debian'
fi

# ---- 100 chunks, some of them shared -----------------------------------------

# ones FILTER: the number of set bits, from its fill and bits.
ones() {
    awk -v fill="$(field "$1" fill)" -v m="$m" 'BEGIN { printf "%.0f", fill * m }'
}

# A trial with numbers as chunks: the raw score, the corrected one, and its
# standard deviation.
trial() {
    seq "$1" $(($1 + 99)) >a
    seq $(($1 + 100 - $2)) $(($1 + 199 - $2)) >b
    for text in a b; do
        "$BLOOMERY" build --overfill -k "standard:m=$m,k=3" -n 100 -o $text.bly $text
    done
    "$BLOOMERY" intersect -o and.bly a.bly b.bly 2>warning
    "$BLOOMERY" compare --json a.bly b.bly | tr -d ' \n' | tr '}' '\n' |
        awk -F '[:,]' -v raw="$(ones and.bly)" -v of="$(ones a.bly)" '
            /value/ { value[++n] = $(NF - 2); sd[n] = $NF }
            END { print raw / of, (value[1] + value[2] - value[3]) / value[1],
                      sd[4] / value[1] }'
}

# Published values by formula, compared with the measured ones, within 4 sigma
# of a mean. The raw score varies less between trials than the corrected one.
cat >means.awk <<'END_AWK'
{ r += $1; c += $2; sd += $3 }
END {
    r /= trials
    c /= trials
    sd /= trials
    p = exp(-3 * v / m)
    q = exp(-3 * (100 - v) / m)
    by_formula = ((1 - p) + p * (1 - q) ^ 2) / (1 - p * q)
    limit = 4 * sd / sqrt(trials) + .003
    printf "raw %.3f, known %s; corrected %.3f, known %s\n", r, raw, c, cor
    exit NR != trials || far(by_formula, raw, .005) || \
         far(v / 100, cor, .011) || far(r, by_formula, limit) || \
         far(c, v / 100, limit) || (v == 100 && r != 1)
}
function far(a, b, by) { return a - b > by || b - a > by }
END_AWK
trials=$(work 3 20)
while read -r m common raw corrected; do
    i=0
    while [ $i -lt "$trials" ]; do
        trial $((m * 1000000 + common * 10000 + i * 200)) "$common"
        i=$((i + 1))
    done >found
    check "m = $m, $common of 100 in common: both scores" awk -v m="$m" \
        -v v="$common" -v raw="$raw" -v cor="$corrected" \
        -v trials="$trials" -f means.awk found
    figure "m = $m, $common of 100 in common" "$(cat check.out)"
done <<END_TABLE
2048 0 .138 .002
2048 20 .299 .201
2048 50 .552 .500
2048 70 .727 .699
2048 90 .909 .901
2048 100 1 1
512 0 .440 -.010
512 50 .683 .503
512 70 .797 .699
512 100 1 1
END_TABLE

printf 'Some words that are here.\n' >text
refused 'no text' 'none: No such file' "$PROGRAM" text none
refused 'a folder' 'cannot be read|Is a directory' "$PROGRAM" text .
refused 'a single text' 'usage: similar-texts' "$PROGRAM" text
refused 'no score' 'usage: similar-texts' "$PROGRAM" -t much text text
: >empty
check 'an empty text has nothing in common' test -z "$("$PROGRAM" text empty)"
check 'a text is like itself' test "$("$PROGRAM" text text | cut -f 3 |
    tr '\n' ' ')" = '1.0000 1.0000 '
finish
