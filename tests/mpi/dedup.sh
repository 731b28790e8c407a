# dedup.sh - the lines of awk '!seen[$0]++' for any number of ranks, and the
# traffic of the formulas.
# shellcheck source=lib.sh
. "$1/lib.sh"

first() {
    awk '!seen[$0]++' "$@"
}

# same NAME RANKS FILES...: as awk does, with that many ranks.
same() {
    same_name="$1, $2 ranks"
    RANKS=$2
    shift 2
    first "$@" >want
    try dedup "$@"
    if [ "$(cat status)" != 0 ] || [ -s err ]; then
        fail "$same_name" "$(details)"
    else
        check "$same_name" cmp out want
    fi
}

# as_one RANKS ARGUMENTS...: as `bloomery dedup` does.
as_one() {
    RANKS=$1
    shift
    one dedup "$@"
    cp out want
    try dedup "$@"
    if [ "$(cat status)" != 0 ]; then
        fail "$*, $RANKS ranks" "$(details)"
    else
        check "$*, $RANKS ranks" cmp out want
    fi
}

# ---- as awk -----------------------------------------------------------------
# About a tenth of the lines are repeated; lengths vary.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 60000; i++) {
        key = rand() < 0.9 ? i : int(rand() * i)
        printf "%s/%d%s\n", key % 3 ? "page" : "a longer path", key,
               key % 7 ? "" : "?and=something&more=of&the=same&kind=yes"
    }
}' >many
for ranks in $(work '1 2 3 5 8 16' '1 5'); do
    same 'many lines' $ranks many
done

printf 'ant\nbee\nant\ncat\nbee\nant\n' >few
: >empty
printf 'a\n\nb\n\n' >gaps
printf 'b\na\nb' >unended
same 'fewer lines than ranks' 8 few
same 'no lines' 3 empty
same 'empty files, empty lines, a last line without its end' 5 \
    empty few gaps empty unended many unended
same 'a line without its end before another file' 2 unended few
awk 'BEGIN { for (i = 0; i < 50000; i++) print "all the same" }' >alike
same 'all lines are equal' 1 alike
same 'all lines are equal' 3 alike
same 'all lines are equal' 16 alike
same 'every line twice' 3 many many
awk 'BEGIN {
    srand(3)
    for (i = 0; i < 40000; i++) print int(1 / (rand() + 1e-5))
}' >skewed
same 'few lines make up most' 5 skewed
awk 'BEGIN { for (i = 0; i < 30000; i++) print i }' >unique
same 'all are different' 3 unique
{
    head -c 2000000 /dev/zero | tr '\0' x
    echo
    cat few
    head -c 2000000 /dev/zero | tr '\0' x
    echo y
    head -c 2000000 /dev/zero | tr '\0' x
    echo
} >wide
same 'lines of megabytes, ranks without lines' 8 wide
printf 'a\0b\na\0c\na\0b\nd\n' >inside
as_one 3 --text inside

# ---- options ----------------------------------------------------------------
printf 'a\0b\0a\0c' >nulls
as_one 2 -0 nulls
printf '1,x,p\n2,y,p\n3,x,q\n4\n4\n' >table
as_one 3 -f 2 -t , table
note 'lines without the column are counted' '2 lines have no such column'
printf '# c\n\n0.0.0.0 a.b\n' >remarked
as_one 2 --comment '#' --skip-blank --blanks -f 2 remarked
check 'what is skipped lacks no column' [ ! -s err ]
for options in -c -d -u -cd -cu -du; do
    as_one 3 $options many skewed
done
as_one 1 -c many
as_one 2 -c -f 2 -t , table

# ---- what is sent -----------------------------------------------------------
# values NAME RANKS FILE: in each round of so many values, each rank's list and
# answers take the formula's bytes, to 3 %, and the remainder matches. It varies
# by the root of twice the number of colliding values.
values() {
    RANKS=$2
    try dedup --json "$3"
    check "$1: JSON" [ "$(cat status)" = 0 ]
    check "$1: sent as the formulas say" awk -F '[:,]' '
        function near(a, b, share) {
            return a - b <= share * b && b - a <= share * b
        }
        /"elements"/ { elements = $2 }
        /"value_bits"/ { bits = $2 }
        /"value_bits_formula"/ { bad += wide && !near(bits, $2, 0.03) }
        /"values_sent"/ { wide = $2 >= 10000 * '"$2"'; rounds += wide }
        /"answer_bits"/ { answer = $2 }
        /"answer_bits_formula"/ { bad += wide && !near(answer, $2, 0.03) }
        /"left"/ { left = $2 }
        /"left_formula"/ {
            spread = left - $2
            bad += spread * spread > 25 * 2 * $2 + 25
        }
        END { exit bad > 0 || rounds == 0 }' out
}
awk 'BEGIN {
    srand(11)
    for (i = 0; i < 200000; i++)
        printf "a line with number %d\n", rand() < 0.95 ? i : int(rand() * i)
}' >sent
for ranks in $(work '2 4 8' 4); do
    values "$ranks ranks" $ranks sent
done
awk 'BEGIN { for (i = 0; i < 200000; i++) print "line", i }' >distinct
values 'all different' 8 distinct
check 'all different: half of what full hashes are' \
    awk -F '[:,]' '/"bits_per_line"/ { exit !($2 > 0 && $2 < 16) }
                   END { if (NR == 0) exit 1 }' out
check 'all different: hardly any key is sent' \
    awk -F '[:,]' '/"exact"/ { exact = 1 }
                   exact && /"elements"/ { exit !($2 < 2000) }' out
RANKS=4
try dedup --verbose distinct
check '-v: the lines are printed' cmp out distinct
check '-v: each round is told' grep -q '^bloomery-mpi dedup: round 1 (1/' err
check '-v: and the sum' grep -q ' 200,000 lines by 4 ranks in .* of all hash' err

# ---- without the exact step -------------------------------------------------
# expected OUT: the expected number of errors from --json.
expected() {
    awk -F '[:,]' '/"errors_expected"/ { print $2 + 0 }' "$1"
}

# band NAME LOST LINES RATE EXPECTED: checks the number of lost lines: at most
# the rate on average, and about as expected. Unique lines are lost in pairs, so
# they vary by the root of twice as many.
band() {
    check "$1: $2 of $3 lines lost, at most $4" awk \
        "BEGIN { most = $3 * $4; exit !($2 <= most + 5 * sqrt(2 * most) + 5) }"
    check "$1: $2 lines lost, about $5" awk \
        "BEGIN { off = $2 - $5; exit !(off * off <= 25 * (2 * $5 + 1)) }"
}

# guess NAME RANKS RATE FILE: no repeated line is missed, and not too many
# others are taken for repeats. Needs `want`, the first lines, and `single`, the
# unique ones, sorted. With one secret, -u and -d doubt the same lines.
(umask 077; printf '0123456789abcdef' >secret)
guess() {
    guess_name="$1, $2 ranks, $3"
    RANKS=$2
    guess_rate=$3
    try dedup --key-file secret -a -p "$3" --json "$4"
    check "$guess_name: no exact step" grep -q '"approximate"' out
    guess_errors=$(expected out)
    try dedup --key-file secret -a -p "$3" "$4"
    check "$guess_name: the first lines, in order" awk '
        NR == FNR { out[++n] = $0; next }
        out[at + 1] == $0 { at++ }
        END { exit at != n }' out want
    band "$guess_name" $(($(wc -l <want) - $(wc -l <out))) "$(wc -l <want)" \
        "$3" "$guess_errors"
    try dedup --key-file secret -a -u -p "$3" --json "$4"
    guess_errors=$(expected out)
    try dedup --key-file secret -a -u -p "$3" "$4"
    sort out >once
    check "$guess_name: -u prints no repeated line" \
        [ -z "$(comm -23 once single)" ]
    band "$guess_name, -u" "$(comm -13 once single | wc -l)" \
        "$(wc -l <single)" "$3" "$guess_errors"
    try dedup --key-file secret -a -d -p "$3" "$4"
    sort "$4" >all
    check "$guess_name: -d prints all others, each time" sh -c \
        'sort once out | cmp - all'
    check "$guess_name: in order" awk '
        NR == FNR { out[++n] = $0; next }
        out[at + 1] == $0 { at++ }
        END { exit at != n }' out "$4"
}

RANKS=3
try dedup -a -d sent
cp out doubt
one dedup -d doubt
cp out want
one dedup -d sent
check 'approximate: an exact program finishes what -d began' cmp out want
first sent >want
sort sent | uniq -u >single
for ranks in $(work '1 2 3 5' '1 3'); do
    for rate in $(work '0.1 0.001' 0.1); do
        guess 'a twentieth repeated' $ranks $rate sent
    done
done
first skewed >want
sort skewed | uniq -u >single
guess 'few lines make up most' 5 0.01 skewed
first many many >want
: >single
cat many many >pairs
guess 'every line twice' 3 0.01 pairs
check 'every line twice: -d prints all' cmp out pairs
# A rate so small that no error is expected.
for RANKS in $(work '1 2 3 5 8' '3 8'); do
    first empty few gaps empty unended unended >want
    try dedup -a -p 1e-9 empty few gaps empty unended unended
    check "approximate, ranks without lines, $RANKS ranks" cmp out want
    try dedup -a -p 1e-9 empty
    silent "approximate, no lines, $RANKS ranks"
    try dedup -a -p 0.1 alike
    check "approximate, all lines are equal, $RANKS ranks" \
        [ "$(cat out)" = 'all the same' ]
    try dedup -a -u alike
    silent "approximate, none of equal lines comes once, $RANKS ranks"
    try dedup -a -d alike
    check "approximate, equal lines are repeated, $RANKS ranks" cmp out alike
done
# Far more positions than hashes cost no more work.
first sent >want
RANKS=4
try dedup -a -p 1e-11 sent
check 'approximate, at a rate of 1e-11' cmp out want
first wide >want
RANKS=8
try dedup -a wide
check 'approximate, lines of megabytes' cmp out want
RANKS=2
try dedup -a -f 2 -t , table
printf '1,x,p\n2,y,p\n4\n4\n' >want
check 'approximate, lines without the column are unique' cmp out want
RANKS=4
try dedup -a --verbose -p 0.01 distinct
check 'approximate: -v tells of errors' grep -q \
    'approximate: about [0-9,]* lines .* repeated.*1 %' err
bytes() {
    awk -F '[:,]' '/^  "sent_bytes"/ { print $2 }' out
}
try dedup --json sent
exact=$(bytes)
try dedup -a --json sent
check 'approximate: less than half is sent where a twentieth is repeated' \
    [ "$(bytes)" -lt $((exact / 2)) ]
try dedup -a -p 1e-17 few
refused 'a rate that hashes cannot keep' 'hashes of 64 bits: give [0-9]e-'
try dedup -a -p 2 few
refused 'a rate above 1' "'2'"

# ---- what goes wrong --------------------------------------------------------
try dedup
refused 'no files' 'standard input'
try dedup few missing
refused 'a missing file' "cannot read 'missing'"
mkdir folder
try dedup few folder
refused 'a folder' "'folder' is a folder"
mkdir other
head -n 100 many >other/many
RANKS=3
for rank in 0 2; do
    alone $rank 'cd other' dedup many
    refused "a file that is another for rank $rank" 'same files'
done
RANKS=4
try dedup -x few
refused 'an option of the other program' "'-x'"
# The kernel reports 4096 bytes for a file that has only a few: the rank that
# reads it fails, and the others end with it.
short=/sys/devices/system/cpu/online
if [ "$(stat -c %s $short 2>/dev/null)" = 4096 ]; then
    for ranks in $(work '1 4 16' 4); do
        RANKS=$ranks
        try dedup many few $short
        refused "a failing rank of $ranks" "'$short' became shorter"
    done
else
    skip 'one rank fails' "no $short"
fi
if [ -r /proc/version ] && [ ! -s /proc/version ]; then
    try dedup few /proc/version
    refused 'a file that only seems empty' "version' is not a regular file"
else
    skip 'a file that only seems empty' 'no /proc/version'
fi
if [ "$(id -u)" != 0 ]; then
    cp few secret
    chmod 000 secret
    try dedup few secret
    refused 'a file that may not be read' "cannot read 'secret'"
fi
{ timeout 100 "$MPIRUN" -q -n 3 "$BLOOMERY" dedup many 2>err; echo $? >status
} | head -n 1 >out
check 'a reader that goes away ends the job' [ "$(wc -l <out)" -eq 1 ]

# ---- parts of documents -----------------------------------------------------
awk 'BEGIN {
    srand(5)
    for (i = 0; i < 3000; i++) {
        text = ""
        for (j = 0; j < 1 + i % 9; j++)
            text = text (j ? j % 3 ? "\\n" : "\\n\\n" : "") "line " \
                int(rand() * 3000) " of a text with some words " int(rand() * 9)
        printf "{\"id\":%d,\"text\":\"%s\"}\n", i, text
    } }' >documents
echo '{"id":"no text"}' >>documents
one dedup --json-field text --by lines documents
if [ "$(cat status)" = 2 ]; then
    skip '--by' 'built without BLY_JSON'
    finish
fi
for ranks in $(work '1 2 3 7 16' '1 4'); do
    as_one "$ranks" --json-field text --by lines documents documents
    as_one "$ranks" --json-field text --by paragraphs documents
    as_one "$ranks" --json-field text --by ngrams=3 --overlap 30% documents
    as_one "$ranks" --json-field text --by lines --remove both documents
done
tr '\n' '\0' <documents >records
as_one 3 -0 --by lines records records
as_one 3 -0 --by ngrams=2 records
RANKS=3
try dedup --json-field text --by lines -a -p 1e-9 documents
cp out got
one dedup --json-field text --by lines documents
check '--by -a: the same documents at a small rate' cmp got out
try dedup --json-field text --by lines documents
told=$(sed -n 's/.*note: //p' err)
one dedup --json-field text --by lines documents
check '--by: the same numbers are told' grep -qF "$told" err
for wrong in '-c' '-d' '-u'; do
    try dedup --json-field text --by lines $wrong documents
    status_is "--by $wrong is refused" 2
done
try dedup --by lines documents
status_is '--by without documents is refused' 2

finish
