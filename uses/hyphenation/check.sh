# check.sh - hyphenation: every word is divided as in a full table, no hard word
# is left to the rules, and others are looked up as often as Bloom's figures
# say.
. "${1:?}/lib.sh"

# ---- Bloom's figures: b bits per hard word, a word in ten is hard ------------

# Rate and lookups per word, for the best number of probes, whole or not.
while read -r b bits rate lookups; do
    check "b = $b: rate, look-ups and bits of 50000 words" awk -v b="$b" \
        -v bits="$bits" -v rate="$rate" -v lookups="$lookups" 'BEGIN {
            f = exp(-b * log(2) * log(2))
            exit f - rate > .00006 || rate - f > .00006 || \
                .1 + .9 * f - lookups > .00006 || \
                lookups - .1 - .9 * f > .00006 || b * 50000 != bits }'
    found=$("$BLOOMERY" plan --json -k "standard:m=$bits" -n 50000 |
        sed -n 's/^ *"rate": \([^,]*\),*$/\1/p')
    check "b = $b: whole probes come near it, and never below" awk \
        -v f="$found" -v rate="$rate" \
        'BEGIN { exit f < rate - .0001 || f > rate * 1.03 }'
done <<END_FIGURES
2 100000 0.3825 0.4443
3 150000 0.2366 0.3129
3.948 197400 0.15 0.235
4 200000 0.1463 0.2317
6 300000 0.0560 0.1504
8 400000 0.0214 0.1193
10 500000 0.0082 0.1074
END_FIGURES
figure 'bits a word of an exact table, of which 15 % avoid 85 %' \
    "$(awk 'BEGIN { printf "%.1f", -log(.15) / log(2) / log(2) / .15 }')"

words=/usr/share/dict/ngerman
[ -r $words ] || { skip words 'no list of words (Debian: wngerman)'; finish; }

# ---- A tenth of the words are hard ------------------------------------------

# sample N: N of the lines, evenly spaced.
sample() {
    cat >sampled
    awk -v n="$1" -v m="$(wc -l <sampled)" \
        'int(NR * n / m) > int((NR - 1) * n / m)' sampled
}

sort -u $words | sample "$(work 60000 400000)" >all
awk -f "$USE/rules.awk" all >by-rule
awk -v hard=1 -f "$USE/rules.awk" all >as-it-is
tab=$(printf '\t')
comm -13 by-rule as-it-is >hard.all
comm -12 by-rule as-it-is | cut -f 1 >easy
easy=$(wc -l <easy) hard=$(($(wc -l <easy) / 9))
figure 'hard words among all' "$(wc -l <hard.all) of $(wc -l <all)"
sample "$hard" <hard.all >exceptions.tsv
cut -f 1 exceptions.tsv | sort - easy >words
check 'a tenth of the words is hard' test \
    "$(wc -l <exceptions.tsv)" -eq "$(($(wc -l <words) / 10))"
figure 'words' "$(wc -l <words), $hard of them hard"

# look_up B KNOWN: words for which the filter says perhaps.
look_up() {
    bits=$(awk -v b="$1" -v n="$hard" 'BEGIN { printf "%.0f", b * n }')
    "$BLOOMERY" build -f 1 -k "standard:m=$bits" -n "$hard" -o hard.bly \
        exceptions.tsv
    "$BLOOMERY" query hard.bly words >perhaps
    "$BLOOMERY" query -v hard.bly words >surely
    check "b = $1: every hard word is looked up" test "$hard" -eq \
        "$("$BLOOMERY" join -c --list-field 1 perhaps exceptions.tsv)"
    in_band "b = $1: looked up in vain" $(($(wc -l <perhaps) - hard)) "$easy" \
        "$(field hard.bly rate)"
    figure "b = $1: look-ups a word" "$(awk -v n="$(wc -l <perhaps)" \
        -v m="$(wc -l <words)" -v known="$2" 'BEGIN {
            printf "%.4f, known %s", n / m, known }')"
}

for b in '2 .4443' '3 .3129' '3.948 .235' '6 .1504' '8 .1193' '10 .1074' \
         '4 .2317'; do
    look_up "${b% *}" "${b#* }"
    [ "${b% *}" != 3.948 ] || figure '15 % of an exact table: avoided' \
        "$(awk -v n="$(($(wc -l <perhaps) - hard))" -v m="$easy" \
            'BEGIN { printf "%.4f, known 0.85", 1 - n / m }')"
done

# ---- All words, divided ------------------------------------------------------

"$BLOOMERY" join -f 1 exceptions.tsv perhaps >divided
"$BLOOMERY" join --invert-match --list-field 1 perhaps exceptions.tsv | cat - surely |
    awk -f "$USE/rules.awk" >>divided
sort divided >found
sort -u as-it-is | join -t "$tab" - words >exact
check 'all words are divided as the table of all words has it' cmp found exact
awk -f "$USE/rules.awk" words | sort | comm -13 - exact >missed
check 'which rules alone do not' test "$(wc -l <missed)" -eq "$hard"
printf '%s\n' Mutter Weste Zucker Küste Abbauleistung >some
printf '%s\n' Mut-ter We-ste Zuk-ker Kü-ste Ab-bau-lei-stung >wanted
awk -v hard=1 -f "$USE/rules.awk" some | cut -f 2 | cmp - wanted \
    >cmp.out 2>&1 || true
check 'words that are known' test ! -s cmp.out

# ---- Words in another case ---------------------------------------------------

# A hard word is as hard at the start of a sentence, or in capitals.
cat >cases.py <<'END'
import sys
for word in sys.stdin.read().split():
    for other in word.lower(), word.upper(), word[:1].upper() + word[1:]:
        if other != word:
            print(other)
END
if ! folds; then
    skip 'words in another case' 'built without ICU'
elif ! command -v python3 >found.python; then
    skip 'words in another case' 'no python3'
else
    cut -f 1 exceptions.tsv | python3 cases.py >others
    "$BLOOMERY" build -i --unicode -f 1 -p 2% -o fold.bly exceptions.tsv
    "$BLOOMERY" query -v fold.bly others >surely || true
    check 'no hard word goes to the rules, in any case' test ! -s surely
    "$BLOOMERY" join -i --unicode --invert-match --list-field 1 others exceptions.tsv >missed ||
        true
    check 'and each is found in the dictionary' test ! -s missed
    figure 'hard words in another case' "$(wc -l <others), of which \
$("$BLOOMERY" query -v hard.bly others | wc -l) go to the rules if case counts"
    printf '%s\t%s\n' Küste Kü-ste Österlich Ö-ster-lich >some.tsv
    printf '%s\n' KÜSTE österlich Uste >some
    "$BLOOMERY" build -i --unicode -f 1 -n 9 -p 1e-9 -o some.bly some.tsv
    "$BLOOMERY" query some.bly some >perhaps
    "$BLOOMERY" join -i --unicode -f 1 some.tsv perhaps >found
    check 'words that are known, in another case' cmp found some.tsv
fi

refused 'no exceptions' 'none.tsv.*No such file' \
    "$BLOOMERY" build -f 1 -o none.bly none.tsv
head -c 1000 hard.bly >short.bly
refused 'a filter cut short' 'short.bly' "$BLOOMERY" query short.bly words
finish
