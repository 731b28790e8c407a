# build.sh - many ranks make exactly the filter of one process, or none.
# shellcheck source=lib.sh
. "$1/lib.sh"

# Files that are hard to divide: without a last newline, empty, with a line
# longer than a rank's share, with repeated keys.
awk 'BEGIN { for (i = 0; i < 9000; i++) print i }' >a
printf 'x\ny' >b
: >c
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "long"; print ""
             for (i = 5000; i < 12000; i++) print i }' >d
printf 'one' >tiny

# same NAME ARGUMENTS...: bloomery-mpi build and bloomery build make the same
# file.
same() {
    same_name=$1
    shift
    try build -o many.bly "$@"
    if [ "$(cat status)" = 0 ] && [ ! -s err ] && [ ! -s out ] \
        && cmp -s one.bly many.bly; then
        pass "$same_name with $RANKS ranks"
    else
        fail "$same_name with $RANKS ranks" "$(details)"
    fi
}

one build -o one.bly a b c d
for RANKS in $(work '1 2 3 4 5 7 8 16' '1 3 8'); do
    same 'replicating: standard' a b c d
done
one build -k blocked -o one.bly a b c d
for RANKS in $(work '1 2 3 4 5 7 8 16' '2 5 16'); do
    same 'partitioned: blocked' -k blocked --partition a b c d
done
for RANKS in $(work '3 8' 3); do
    one build -k blocked -o one.bly a b c d
    same 'replicating: blocked' -k blocked a b c d
    for kind in split counting quotient; do
        one build -k $kind -n 9000 -p 0.1% -s 7 -o one.bly a b c d
        options="-k $kind -n 9000 -p 0.1% -s 7"
        # shellcheck disable=SC2086
        try build $options -o many.bly a b c d
        check "replicating: $kind, -n -p -s with $RANKS ranks" \
            cmp one.bly many.bly
    done
    one build -k split -H murmur2 -o one.bly a b c d
    same 'partitioned: split, -H' -k split -H murmur2 -P a b c d
    one build -k blocked -f 2 -t l -o one.bly a b c d
    try build -k blocked -f 2 -t l -P -o many.bly a b c d
    note "a note on lines without a column, with $RANKS ranks" \
        '^bloomery-mpi build: note: 16,002 lines have no such column'
    check "partitioned: -f -t with $RANKS ranks" cmp one.bly many.bly
done

# ---- sent as lists ----------------------------------------------------------
for RANKS in $(work '1 2 3 5 8 16' '1 3 8'); do
    for kind in standard standard:k=1 blocked counting; do
        one build -k $kind -o one.bly a b c d
        same "sparse: $kind" --sparse -k $kind a b c d
    done
    # A filter of several pieces, most of them empty; and a full one.
    one build -n 2000000 -o one.bly a b c d
    same 'sparse: many pieces' --sparse -n 2000000 a b c d
    one build -k standard:m=4000 -n 9 --overfill -o one.bly a 2>/dev/null
    try build --sparse -k standard:m=4000 -n 9 --overfill -o many.bly a
    check "sparse: bits that are nearly all set, $RANKS ranks" \
        cmp one.bly many.bly
done
awk 'BEGIN { for (i = 0; i < 200000; i++) print "key", i }' >keys
for RANKS in $(work '2 5 16' 5); do
    for kind in standard standard:k=1; do
        try build --sparse --verbose -k $kind -o many.bly keys
        check "sparse: $kind, $RANKS ranks, sent as the formula says, to 1 %" \
            awk '/ ranks sent / {
                gsub(/,/, ""); sub(/.* ranks sent /, "")
                sent = $1; formula = $NF
            }
            END { off = sent - formula
                  exit !(sent > 0 && off * off <= 1e-4 * sent * sent) }' err
    done
done

# ---- few keys ---------------------------------------------------------------
RANKS=5
one build -o one.bly tiny
same 'fewer lines than ranks, replicating' tiny
one build -k blocked -o one.bly tiny
same 'fewer lines than ranks, partitioned' -k blocked -P tiny
one build -k blocked -n 10 -o one.bly c
same 'no line at all' -k blocked -P -n 10 c
tr '\n' '\0' <a >zero
one build -0 -o one.bly zero
same 'lines that end with NUL' -0 zero
one build -k blocked:m=100000 -o one.bly a
same 'options of the kind' -k blocked:m=100000 -P a

# ---- reports ----------------------------------------------------------------
RANKS=4
try build --json -o many.bly a b c d
out_has '--json tells the ranks' 0 '^ +"ranks": 4,$'
bytes=$(wc -c <many.bly | tr -d ' ')
check '--json tells what was sent: twice the filter for each of 4 ranks' \
    grep -q "\"sent_bytes\": $((8 * bytes))," out
check 'once' [ "$(grep -c '^{' out)" -eq 1 ]
check 'and how many keys there were' grep -q '"keys": 16003,' out
try build --verbose -k blocked -P -n 20000 -o many.bly a
if [ "$(cat status)" = 0 ] && [ "$(wc -l <err)" -eq 2 ] \
    && grep -q '4 ranks sent [0-9,]* bytes .* it is 54,000$' err; then
    pass '-v tells of the bytes and the formula'
else
    fail '-v tells of the bytes and the formula' "$(details)"
fi
try build -k blocked -n 1000 -P --overfill -o many.bly a
note 'a warning of too many keys' 'warning: 9,000 keys .* -n 9000$'
one build -k blocked -n 1000 --overfill -o one.bly a
for way in '' -P; do
    # shellcheck disable=SC2086
    try build -k blocked -n 1000 $way -o many.bly a
    refused "more than twice as many keys: an error $way" \
        "'many.bly' was planned for 1,000 keys and holds 9,000: .* All keys were saved: .* --overfill$"
    check 'the filter has all of them' cmp one.bly many.bly
done

# ---- failure ----------------------------------------------------------------
mkdir box other
one build -o box/old.bly a
cp box/old.bly before
echo 12 >other/a
RANKS=3
for more in '-k standard' '-k blocked -P'; do
    # shellcheck disable=SC2086
    try build $more -o box/old.bly a missing
    refused "$more: a file that is not there" "cannot read 'missing'"
    # shellcheck disable=SC2086
    alone 1 'cd box' build $more -o box/old.bly a
    refused "$more: a file that one rank cannot read" "cannot read 'a'"
    # shellcheck disable=SC2086
    alone 2 'cd other' build $more -o box/old.bly a
    refused "$more: a file that is another for one rank" 'same files'
    # shellcheck disable=SC2086
    alone all 'ulimit -f 8' build $more -n 900000 -o box/old.bly a
    refused "$more: no room for the filter" 'box/old\.bly'
    printf '7\napple\n' >fruit
    # shellcheck disable=SC2086
    try build $more -H decimal -n 9 -o box/old.bly fruit
    refused "$more: a word among numbers" "the key 'apple' is not a whole number"
    # shellcheck disable=SC2086
    try build $more -o box/no/new.bly a
    refused "$more: a folder that is not there" "cannot write 'box/no/new.bly'"
    is_still "$more" box/old.bly
done
RANKS=2
check 'nothing is left behind' [ "$(ls -A box)" = old.bly ]
try build -o new.bly .
refused 'a folder of keys' "'\.' is a folder"
try build -o new.bly
refused 'no files of keys' 'standard input'
try build -o new.bly -
refused 'standard input' 'standard input'
try build a
refused 'no -o' '-o'
try build -o new.bly -p 2 a
refused 'a wrong rate' 'RATE'
try build -o new.bly -k nosuch a
refused 'a kind that does not exist' 'unknown kind'
try build -o new.bly -k xor a
refused 'a kind that cannot be united' "xor cannot be united"
try build -o new.bly -P a
refused 'a kind that cannot be divided' "standard cannot be divided"
try build -o new.bly -P -k buffered a
refused 'a kind that is built in its file' "buffered is built in its file"
try build -o - a
refused 'a filter to standard output' 'name a file with -o'
try build -o a -k blocked a
refused 'the output among the keys' "'a' is both the output"
echo 'a letter' >letter
cp letter before
try build -o letter a
refused 'an output that is no filter' "'letter' exists and is not a filter: "
is_still 'an output that is no filter' letter
try build --force -o letter a
status_is '--force' 0
cp one.bly before
for more in '' '-k blocked -P'; do
    # shellcheck disable=SC2086  # a list of words
    try build $more -n 9 -f 9 -o one.bly a
    refused "no line with a key $more" 'no line has column 9: '
    is_still "no line with a key $more" one.bly
done
try build -o none.bly c
note 'no keys' 'no keys: the filter is empty'
printf '# c\n\n0.0.0.0 a.b\n' >remarked
try build -o remarked.bly --comment '#' --skip-blank --blanks -f 2 remarked
silent 'what is skipped lacks no column'
try build -o new.bly -f 99 a
refused 'no such column in any line' 'no line has column 99: check'
check 'no filter was written' [ ! -e new.bly ]
try build -k blocked -P -n 10 -o /dev/null a
refused 'a divided filter to a device' 'regular file'
try build -k blocked -P -o /dev/null a missing
refused 'and before anything is read' "'/dev/null' is not a regular file"

finish
