# check.sh - keywords: every word is found in its documents, others at the rate
# of the bits, and the filters reveal neither the number of words nor the words
# shared by two documents. The documents are copyright files of packages.
. "${1:?}/lib.sh"

# in_six NAME FOUND ASKED RATE: like in_band, but within six standard
# deviations, as the padding of documents is random and changes with each run.
in_six() {
    figure "$1" "$(awk -v n="$2" -v m="$3" -v p="$4" 'BEGIN {
        printf "%.4g of %d, predicted %.4g", n / m, m, p }')"
    check "$1: as predicted, within 6 sigma" awk -v n="$2" -v m="$3" -v p="$4" \
        'BEGIN { d = n - m * p; exit d * d > 36 * m * p * (1 - p) + 1 }'
}

folds || { skip keywords 'built without ICU'; finish; }
printf '0123456789abcdef' >secret
printf '0123456789abcdeF' >other
mkdir texts indexes twenty

# words FILE: its different words, cut as the program does.
words() {
    tr 'A-Z' 'a-z' <"$1" | tr -c 'a-z0-9\200-\377' '\n' | grep . |
        cut -c 1-63 | sort -u
}

for text in "$MACHINE"/usr/share/doc/*/copyright; do
    [ "$(find texts -type f | wc -l)" -lt 20 ] || break
    if [ ! -f "$text" ] || [ -h "$text" ]; then continue; fi
    package=${text%/copyright}
    words "$text" >list
    count=$(wc -l <list)
    if [ "$count" -ge 50 ] && [ "$count" -le 900 ]; then
        cp "$text" "texts/${package##*/}"
    fi
done
[ "$(find texts -type f | wc -l)" = 20 ] || {
    absent keywords 'fewer than 20 copyright files in /usr/share/doc'
    finish
}

"$PROGRAM" index secret 1000 10 indexes texts/*
"$PROGRAM" index secret 1000 20 twenty texts/*
for text in texts/*; do
    words "$text" | sed "s|^|${text#texts/}\t|"
done >all
figure 'documents' "20 of $(cut -f 1 all | uniq -c | awk '{ print $1 }' |
    sort -n | sed -n '1p;$p' | paste -sd - | sed 's/-/ to /') words"

# ---- Sizes and fill ----------------------------------------------------------

# The variance of a fill is that of an occupancy; the random part changes with
# each run, so six standard deviations are allowed.
for folder in indexes twenty; do
    m=14427
    [ $folder = indexes ] || m=28854
    for index in "$folder"/*.bly; do
        "$BLOOMERY" info --json "$index" |
            sed -n 's/^ *"fill": \([^,]*\),*$/\1/p; /geometry/{n;s/ *//;p;}
                s/^ *"items": \([^,]*\),*$/items \1/p' | tr '\n' ' '
        echo
    done | tr -d ',' >fills
    check "$folder: all have the known $m bits" test \
        "$(grep -c " $m " fills)" = 20
    awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^0\./) print $i }' fills >shares
    check "$folder: all are filled alike" awk -v m=$m 'BEGIN {
            e = exp(-log(2)); v = e * (1 - (1 + log(2)) * e) / m }
        ($1 - .5) ^ 2 > 36 * v { bad = 1 } END { exit bad || NR != 20 }' shares
    figure "$folder: fill (known: .4960 to .5035)" \
        "$(sort -n shares | sed -n '1p;$p' | paste -sd - | sed 's/-/ to /')"
    check "$folder: as many adds in each" test "$(grep -o 'items [0-9]*' fills |
        sort -u | wc -l)" = 1
done

# ---- Search ------------------------------------------------------------------

# ask FOLDER BITS WORDS: the pairs of document and word that are found.
ask() {
    "$PROGRAM" ask secret "$2" <"$3" >trapdoors
    "$PROGRAM" search "$1"/*.bly <trapdoors | awk -F '\t' 'FNR == NR {
        word[FNR] = $1; next } { print $2 "\t" word[$1] }' "$3" - | sort
}
sort -o all all
cut -f 2 all | sort -u >asked
for folder in indexes twenty; do
    bits=10
    [ $folder = indexes ] || bits=20
    ask $folder $bits asked >found
    check "$folder: every word in each of its documents" test -z \
        "$(comm -23 all found)"
    absent=$(($(wc -l <asked) * 20 - $(wc -l <all)))
    in_six "$folder: words found where they are not" \
        $(($(wc -l <found) - $(wc -l <all))) $absent \
        "$(awk -v b=$bits 'BEGIN { print .5 ^ b }')"
done
seq -f 'absent%.0f' "$(work 300 20000)" >absent
ask indexes 10 absent >found
in_six 'words that are in no document (known: 3 of 6000)' "$(wc -l <found)" \
    $((20 * $(wc -l <absent))) "$(awk 'BEGIN { print .5 ^ 10 }')"
"$PROGRAM" ask secret 10 <asked >trapdoors
check 'a trapdoor is 10 times 16 bytes, and no two are alike' test \
    "$(grep -cE '^[0-9a-f]{320}$' trapdoors)" = "$(sort -u trapdoors | wc -l)"
"$PROGRAM" ask other 10 <asked | "$PROGRAM" search indexes/*.bly >found || true
in_six 'words found with another secret' "$(wc -l <found)" \
    $((20 * $(wc -l <asked))) "$(awk 'BEGIN { print .5 ^ 10 }')"

# ---- A text under two names --------------------------------------------------

mkdir same
text=$(find texts -type f | sort | head -n 1)
cp "$text" first
cp "$text" second
"$PROGRAM" index secret 1000 10 same first second
for index in same/first.bly same/second.bly; do
    tail -c +129 "$index" | od -An -v -tu1 -w1 >"$index.bits"
done
paste same/first.bly.bits same/second.bly.bits | awk '{
    for (b = 1; b < 256; b *= 2) n += int($1 / b) % 2 != int($2 / b) % 2 }
    END { print n }' >differ
in_six 'the same text under two names: bits that differ (known: 7217)' \
    "$(cat differ)" 14427 .5
check 'sizes: m and r of the paper' awk 'function up(x) {
        return int(x) + (int(x) < x) }
    BEGIN { exit up(1000 * 10 / log(2)) != 14427 ||
                 up(1000 * 20 / log(2)) != 28854 ||
                 up(-log(2 ^ -10) / log(2) - 1e-9) != 10 }'

# Case is ignored in all alphabets.
mkdir alphabets
printf 'Großer ÄRGER\n' >german
"$PROGRAM" index secret 9 30 alphabets german
printf '%s\n' ärger GROSSER groß >asked
"$PROGRAM" ask secret 30 <asked | "$PROGRAM" search alphabets/german.bly |
    cut -f 1 | tr '\n' ' ' >found
check 'in all alphabets' test "$(cat found)" = '1 2 '

refused 'more words than said' 'it has more words' "$PROGRAM" index secret 20 \
    10 same "$text"
refused 'an index that is there' 'it is there already' "$PROGRAM" index secret \
    1000 10 same first
printf 'short' >short
refused 'a short secret' 'a secret is 16 bytes' "$PROGRAM" ask short 10
refused 'no text' 'none: No such file' "$PROGRAM" index secret 1000 10 same none
refused 'no trapdoor' 'a trapdoor: it is 32 digits' sh -c \
    'echo 12 | "$0" search same/first.bly' "$PROGRAM"
refused 'no index' 'none.bly.*No such file' "$PROGRAM" search none.bly
refused 'no number' 'x: a number is wanted' "$PROGRAM" ask secret x
refused 'nothing' 'usage: keywords index' "$PROGRAM"
finish
