# check.sh - spelling: no right word is reported, wrong ones are missed at the
# filter's rate, and suggestions are all words that are one change away.
. "${1:?}/lib.sh"

words=/usr/share/dict/american-english
[ -r $words ] || { skip spelling 'no list of words (Debian: wamerican)'; finish; }
tr 'A-Z' 'a-z' <$words | sort -u >list
"$BLOOMERY" build -k fuse -p 0.005 -o english.bly list
"$BLOOMERY" build -k standard -p 0.005 -o standard.bly list
figure 'dictionary' "$(wc -l <list) words in $(wc -c <list) bytes"
for kind in english standard; do
    figure "$kind.bly" "$(wc -c <$kind.bly) bytes"
    "$PROGRAM" $kind.bly list >told
    check "$kind: no right word is told" test ! -s told
done

# Words in no dictionary: three letters reversed.
awk 'length >= 6 && !/[^a-z]/ {
    print substr($0, 4) substr($0, 1, 3); print "x" $0 "q" }' list |
    sort -u | comm -23 - list | head -n "$(work 40000 200000)" >strangers
"$PROGRAM" english.bly strangers | wc -l >count
in_band 'wrong words passed over' $(($(wc -l <strangers) - $(cat count))) \
    "$(wc -l <strangers)" "$(field english.bly rate)"
if [ -r /usr/share/dict/ngerman ]; then
    tr 'A-Z' 'a-z' </usr/share/dict/ngerman | sort -u | comm -23 - list >german
    passed=$("$BLOOMERY" query -c english.bly german)
    in_band 'German words taken for English' "$passed" "$(wc -l <german)" \
        "$(field english.bly rate)"
fi

# A real text: the reported words equal those by a list, except at the rate.
cat "$MACHINE/usr/share/common-licenses/GPL-3" \
    "$MACHINE/usr/share/common-licenses/Apache-2.0" >text
"$PROGRAM" english.bly text | sed 's/.*: //' | tr 'A-Z' 'a-z' | sort >told
tr 'A-Z' 'a-z' <text | sed "s/[^a-z']\{1,\}/ /g; s/' / /g; s/ '*/ /g" |
    tr ' ' '\n' | sed "s/'*\$//" | grep . | sort >all
join -v 1 all list >wanted
check 'nothing is told that is listed' test -z "$(comm -23 told wanted)"
check 'almost all that is not is told' test "$(wc -l <told)" -ge \
    $(($(wc -l <wanted) * 9 / 10))
figure 'licences' "$(wc -l <all) words, $(wc -l <wanted) of them in no list, \
$(wc -l <told) told"

# Suggestions, compared with all words of the list that are one change away.
printf '%s\n' recieve teh wierd speling acommodate definately xqzjk 'doesnt' \
    untill beleive >typos
"$PROGRAM" english.bly --suggest list typos >told
cat >near.awk <<'END'
function near(a, b,  n, m, i) {         # one change, or two exchanged
    n = length(a); m = length(b)
    for (i = 1; i <= n && i <= m && substr(a, i, 1) == substr(b, i, 1); i++)
        ;
    if (n == m)
        return substr(a, i + 1) == substr(b, i + 1) || \
               (substr(a, i, 1) == substr(b, i + 1, 1) && \
                substr(a, i + 1, 1) == substr(b, i, 1) && \
                substr(a, i + 2) == substr(b, i + 2))
    return n == m + 1 ? substr(a, i + 1) == substr(b, i) \
         : m == n + 1 ? substr(a, i) == substr(b, i + 1) : 0
}
FNR == NR { typo[++typos] = $0; next }
/^[a-z']*$/ { for (i = 1; i <= typos; i++)
    if ($0 != typo[i] && near(typo[i], $0))
        found[i] = found[i] (found[i] == "" ? ": " : ", ") $0 }
END { for (i = 1; i <= typos; i++) print "typos:" i ": " typo[i] found[i] }
END
awk -f near.awk typos list >wanted
check 'all words that are one change away, and no other' cmp told wanted

# Letters of all alphabets: every word is right in lower and upper case. upper()
# makes two letters of the sharp s, and casefold() folds as ICU does.
cat >cases.py <<'END'
import sys
for word in sys.stdin.read().split():
    print(word, word.lower(), word.upper(), word.casefold(), sep="\n")
END
if ! folds; then
    skip 'letters of all alphabets' 'built without ICU'
elif ! command -v python3 >found.python; then
    skip 'letters of all alphabets' 'no python3'
else
    for list in american-english ngerman; do
        [ -r /usr/share/dict/$list ] || { skip $list 'no such list'; continue; }
        LC_ALL=C grep '[^ -~]' /usr/share/dict/$list >beyond
        awk "NR % $(work 20 1) == 0" /usr/share/dict/$list >some
        cat some beyond | python3 cases.py >forms
        "$BLOOMERY" build -i --unicode -k fuse -p 1e-6 -o fold.bly \
            /usr/share/dict/$list
        "$PROGRAM" fold.bly forms >told 2>note
        check "$list: no word is told, in any case" test ! -s told -a ! -s note
        figure "$list: words beyond ASCII" "$(wc -l <beyond), \
$(wc -l <forms) forms asked for"
    done
    printf '%s\n' Ärger Straße naïve >words
    "$BLOOMERY" build -i --unicode -n 9 -p 1e-9 -o fold.bly words
    printf 'ärger ÄRGER STRASSE strasse naïve NAÏVE\n' >text
    printf 'Arger stra\341e Äger StraßeN\n' >>text
    "$PROGRAM" fold.bly --suggest words text >told
    printf 'text:2: %b\n' Arger 'stra\0341e' 'Äger: Ärger' 'StraßeN: Straße' \
        >wanted
    check 'words are printed as they are written, and suggested so' \
        cmp told wanted
fi
"$BLOOMERY" build -i -k fuse -p 1e-9 -o lower.bly list
printf 'Über\n' >text
"$PROGRAM" lower.bly text >told 2>note || true
check 'a dictionary that ignores the case of A to Z only says so' \
    grep -q "'lower.bly' ignores the case of A to Z only.*--unicode" note
"$BLOOMERY" build --as number -n 9 -o number.bly --key 7
refused 'a dictionary of numbers' 'number.bly: its keys are not text' \
    "$PROGRAM" number.bly text

# Compared with hunspell and its dictionary: every form of every word.
aff=/usr/share/hunspell/en_US.aff dic=/usr/share/hunspell/en_US.dic
if command -v unmunch >/dev/null && [ -r $dic ]; then
    unmunch $dic $aff 2>unmunch.err | tr 'A-Z' 'a-z' | sort -u >forms
    "$BLOOMERY" build -k fuse -p 0.001 -o forms.bly forms
    "$PROGRAM" forms.bly forms >told
    check 'no form of a word is told' test ! -s told
    for i in $(work '1 2' '1 2 3 4 5 6 7 8 9 10'); do
        cat "$MACHINE"/usr/share/common-licenses/*
    done >long
    figure "hunspell -l, $(wc -w <long) words" \
        "$(seconds hunspell -d en_US -l long) s"
    figure 'spelling, the same' "$(seconds "$PROGRAM" forms.bly long) s, \
$(wc -l <forms) forms in $(wc -c <forms.bly) bytes; hunspell reads $(cat $dic \
$aff | wc -c)"
else
    skip 'beside hunspell' 'no hunspell-tools, or no hunspell-en-us'
fi

refused 'no dictionary' 'none.bly.*No such file' "$PROGRAM" none.bly text
refused 'no text' 'none: No such file' "$PROGRAM" english.bly none
refused 'a text for a dictionary' 'dictionary: text' "$PROGRAM" text text
refused 'no list' 'none: No such file' "$PROGRAM" english.bly --suggest none text
refused 'nothing' 'usage: spelling FILTER' "$PROGRAM"
finish
