# check.sh - texts by their words: the result equals a scan of all texts, and of
# the others at most a tenth of those with a word are read.
. "${1:?}/lib.sh"

tab=$(printf '\t')
folds || { skip textsearch 'built without ICU'; finish; }

# Case is ignored in all alphabets; bytes that are not UTF-8 form words as well.
printf '%s\n' 'Großer Ärger' 'ÄRGER, grosser' 'Arger' 'ΣΊΣΥΦΟΣ' >few
printf 'S\344tze\n' >>few
"$PROGRAM" build few.blx few
for query in 'ärger' 'GROSSER Ärger' 'großer'; do
    "$PROGRAM" ask few.blx few "$query" | cut -d : -f 1 | tr '\n' ' ' >found
    check "in all alphabets: $query" test "$(cat found)" = '1 2 '
done
"$PROGRAM" ask few.blx few 'σίσυφος' >found
check 'in all alphabets: a final sigma' test "$(cat found)" = '4:ΣΊΣΥΦΟΣ'
"$PROGRAM" ask few.blx few "$(printf 's\344TZE')" | cut -d : -f 1 >found
check 'words that are not UTF-8' test "$(cat found)" = 5

# ---- Rows by how rare a word is: density 0.1, ten right ones for a wrong one ----

while read -r share rows; do
    check "$rows rows for a share $share" awk -v a="$share" -v rows="$rows" 'BEGIN {
        r = log(a / 10) / log(.1); r = int(r) + (r - int(r) > 1e-9)
        exit r != rows || a / 10 < .1 ^ rows * (1 - 1e-9) }'
done <<'END'
.1 2
.01 3
.001 4
.0001 5
.00001 6
END

# 1000 texts of 100 words each: one word is in all, another in a tenth, and so
# on. The noise is at most that of density 0.1, as no group is quite full.
documents=$(work 1000 10000)
awk -v n="$documents" 'BEGIN { for (i = 1; i <= n; i++) {
    printf "all%s%s%s", i % 10 ? "" : " tenth", i % 100 ? "" : " hundredth", \
        i % 1000 ? "" : " thousandth"
    for (j = 1; j <= 90; j++) printf " w%d", i * 90 + j
    print "" } }' >drawn
"$PROGRAM" build drawn.blx drawn
"$PROGRAM" ask drawn.blx -c drawn all tenth hundredth thousandth >counts
n=1
for word in all tenth hundredth thousandth; do
    read=$(awk -F "$tab" -v w=$word '$1 == w { print $2 - $3 }' counts)
    found=$(awk -F "$tab" -v w=$word '$1 == w { print $3 }' counts)
    check "$word: all are found" test "$found" = $((documents / n))
    check "$word: noise is a tenth of the signal, within 4 sigma" awk -v x="$read" \
        -v all="$documents" -v found="$found" -v n=$n 'BEGIN {
            p = 1 / n / 10; exit x > all * p + 4 * sqrt(all * p) + 1 }'
    figure "$word: read in vain, for each that was found" \
        "$(awk -v x="$read" -v n="$found" 'BEGIN { printf "%.4f", x / n }')"
    n=$((n * 10))
done
# Absent words count as rarest: rows of density 0.1.
rows=$(awk -v n="$documents" 'BEGIN { r = log(n * 10) / log(10)
    print int(r) + (r - int(r) > 1e-9) }')
seq "$(work 2000 5000)" | sed 's/^/no/' | xargs "$PROGRAM" ask drawn.blx -c drawn >none
check 'none is found that is not there' awk -F "$tab" '$3 { exit 1 }' none
strangers=$(awk -F "$tab" '{ n += $2 } END { print n }' none)
check 'as few are read as so many rows of density 0.1 name' awk -v x="$strangers" \
    -v n=$(($(wc -l <none) * documents)) -v rows="$rows" 'BEGIN {
        p = .1 ^ rows; exit x > n * p + 4 * sqrt(n * p) + 1 }'
figure 'words of no text: read' "$strangers texts for $(wc -l <none) words, planned \
$(awk -v n=$(($(wc -l <none) * documents)) -v r="$rows" 'BEGIN { print n * .1 ^ r }')"

# ---- Descriptions of packages ------------------------------------------------

if [ -r "$MACHINE/var/lib/dpkg/status" ]; then
    awk '/^Package: /    { text = $2 }
        /^Description: / { sub(/^[^:]*: /, ""); text = text " " $0; on = 1; next }
        /^ / && on       { text = text $0; next }
                         { on = 0 }
        /^$/ && text     { print text; text = "" }' \
        "$MACHINE/var/lib/dpkg/status" >texts
    # Large texts too, with few different words.
    [ "$EFFORT" = quick ] || cat "$MACHINE"/usr/share/common-licenses/* |
        tr -s ' \n\t' ' ' | fold -w 2000 | grep . >>texts
    "$PROGRAM" build texts.blx texts
    figure 'texts' "$(wc -l <texts), $(wc -w <texts) words, $(wc -c <texts) bytes; \
the index has $(wc -c <texts.blx)"
    # exact QUERY: the numbers of lines with its words.
    exact() {
        tr 'A-Z' 'a-z' <texts | tr -c 'a-z0-9\200-\377\n' ' ' |
            awk -v query="$1" '{ n = split(query, each, " ")
                for (i = 1; i <= n; i++)
                    if (index(" " $0 " ", " " each[i] " ") == 0) next
                print NR }'
    }
    for query in 'shared library' 'python json' 'the' 'perl module files' 'compiler' \
        'fast and small' 'xyzzy' 'zlib compression' 'gnu c' 'debian'; do
        exact "$query" >wanted
        "$PROGRAM" ask texts.blx texts "$query" | cut -d : -f 1 | sort -n >found
        check "$query: exactly the texts that have it" cmp wanted found
    done
    "$PROGRAM" ask texts.blx texts 'Python JSON' | sort >upper
    "$PROGRAM" ask texts.blx texts 'json python' | sort | cmp - upper >cmp.out 2>&1 ||
        true
    check 'in any case and order' test ! -s cmp.out

    # Each word by itself: the number of texts with it is right.
    tr 'A-Z' 'a-z' <texts | tr -c 'a-z0-9\200-\377\n' ' ' | awk '{
        split("", seen)
        for (i = 1; i <= NF; i++) if (!($i in seen)) { seen[$i]; n[$i]++ } }
        END { for (w in n) print w "\t" n[w] }' | sort >has
    cut -f 1 has | awk -v n="$(work 10 1)" 'NR % n == 0' |
        xargs "$PROGRAM" ask texts.blx -c texts >asked
    cut -f 1,3 asked | sort >found
    check 'each word is in as many texts as it is' test -z "$(comm -13 has found)"
    check 'and all were asked' test "$(wc -l <found)" -ge $(($(wc -l <has) /
        $(work 10 1)))
    # Texts read in vain are at most a tenth of those with the words.
    check 'in vain at most a tenth, within 4 sigma' awk -F "$tab" '{ x += $2 - $3
        n += $3 } END { exit x > n / 10 + 4 * sqrt(n / 10) + 1 }' asked
    figure 'a word each: read in vain, for each that was found' "$(awk -F "$tab" \
        '{ x += $2 - $3; n += $3 } END { printf "%.4f of %d", x / n, n }' asked)"

    # A text taken out is no longer found, and all others are.
    exact compiler >wanted
    out=$(sed -n 2p wanted)
    "$PROGRAM" drop texts.blx "$out"
    "$PROGRAM" ask texts.blx texts compiler | cut -d : -f 1 | sort -n >found
    grep -vx "$out" wanted | cmp - found >cmp.out 2>&1 || true
    check 'a document that is removed is gone, and it alone' test ! -s cmp.out
    "$PROGRAM" ask texts.blx -c texts '' | cut -f 2 >left
    check 'one text fewer is left' test "$(cat left)" = $(($(wc -l <texts) - 1))
else
    absent descriptions 'this is no Debian'
fi

# A last line without its end, several queries, and changed texts.
printf 'old apple\nnew pear' >ends
"$PROGRAM" build ends.blx ends
"$PROGRAM" ask ends.blx ends pear apple >found
check 'each text that is found is a line' test "$(tr '\n' '|' <found)" = \
    '2:new pear|1:old apple|'
refused 'lines that are not there' 'not in the index' "$PROGRAM" drop ends.blx 2 3
check 'and none is taken out' test "$("$PROGRAM" ask ends.blx ends pear)" = \
    '2:new pear'
echo >>ends
refused 'texts that have changed' 'ends: it is not as it was' \
    "$PROGRAM" ask ends.blx ends pear
cp ends ends.before
refused 'an index in the place of texts' 'ends: .*not an index' "$PROGRAM" build ends ends.blx
check 'which are kept' cmp ends ends.before
refused 'a folder' 'Is a directory' "$PROGRAM" build none.blx .
refused 'no texts' 'nowhere: No such file' "$PROGRAM" build none.blx nowhere
: >empty
refused 'empty texts' 'empty' "$PROGRAM" build empty.blx empty
check 'and nothing is written' test ! -e empty.blx
refused 'no index' 'nowhere.blx.*No such file' "$PROGRAM" ask nowhere.blx drawn all
refused 'texts for an index' 'drawn' "$PROGRAM" ask drawn drawn all
"$BLOOMERY" index -q -o files.blx --by words drawn
refused 'an index of files' 'something else' "$PROGRAM" ask files.blx drawn all
awk 'BEGIN { while (i++ < 70000) printf "w%d ", i; print "" }' >long
refused 'a text of too many words' 'long: File too large' \
    "$PROGRAM" build long.blx long
printf 'a b\nc\000 d\n' >nul
refused 'a text with a NUL byte' 'nul: ' "$PROGRAM" build nul.blx nul
refused 'texts that cannot be read twice' 'read twice' \
    sh -c 'cat drawn | "$0" build pipe.blx /dev/stdin' "$PROGRAM"
check 'and no index is written' test ! -e pipe.blx
printf 'alpha beta\n' >here
cp here kept
refused 'an index in the place of the texts' 'here: .*not an index' \
    "$PROGRAM" build here here
check 'which stay' cmp here kept
"$PROGRAM" build here.blx here
"$PROGRAM" build here.blx here
printf 'gamma beta\n' >>here
refused 'texts that have changed' 'not as it was' \
    "$PROGRAM" ask here.blx here beta
refused 'no question' 'usage' "$PROGRAM" ask drawn.blx drawn
finish
