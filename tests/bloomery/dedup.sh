# dedup.sh - first occurrences: exactly, by a filter, and by a window; held
# against awk, sort and uniq.
# shellcheck source=lib.sh
. "$1/lib.sh"

# A rate at which no line is dropped by accident.
sure='-p 1e-9'

first() {
    awk '!seen[$0]++' "$@"
}

# N lines, about half of them repeated, of several lengths.
lines() {
    awk -v n="$1" 'BEGIN {
        srand(7)
        for (i = 0; i < n; i++) {
            key = rand() < 0.5 ? i : int(rand() * i)
            printf "%s/%d%s\n", key % 3 ? "page" : "a longer path", key,
                   key % 7 ? "" : "?and=something&more=of&the=same&kind=yes"
        }
    }'
}

# ---- whatever the way -------------------------------------------------------
printf 'ant\nbee\nant\ncat\nbee\nant\n' >few
try dedup few
out_is 'each line once, in order' 0 'ant\nbee\ncat\n'
try dedup <few
out_is 'from standard input' 0 'ant\nbee\ncat\n'
try dedup - few <few
out_is '- is standard input' 0 'ant\nbee\ncat\n'
: >empty
try dedup empty
out_is 'no lines' 0 ''
printf 'b\na\nb' >unended
try dedup few unended
out_is 'a last line without its end gets one' 0 'ant\nbee\ncat\nb\na\n'
try dedup unended few
out_is 'also before another file' 0 'b\na\nant\nbee\ncat\n'
printf 'a\n\nb\n\n' >gaps
try dedup gaps
out_is 'an empty line is a line' 0 'a\n\nb\n'
printf 'a\0b\0a\0c' >nulls
try dedup -0 nulls
out_is '-0' 0 'a\0b\0c\0'
printf '1,x,p\n2,y,p\n3,x,q\n4\n4\n' >table
try dedup -f 2 -t , table
printf '1,x,p\n2,y,p\n4\n4\n' >want
check '-f: by a column; lines without it stay' cmp out want
note '-f: and are counted' '2 lines have no such column and were taken for'

many=$(work 300000 100000)
lines "$many" >many
first many >many-once
try dedup many
check 'by default no line is lost' cmp out many-once

# ---- by a filter ------------------------------------------------------------
# shellcheck disable=SC2086
try dedup -a $sure many
check 'as awk, at a tiny rate' cmp out many-once
for jobs in 1 2 5; do
    # shellcheck disable=SC2086
    try dedup -a $sure -j $jobs many
    check "the same with -j $jobs" cmp out many-once
    try dedup -a -k blocked -n "$many" -j $jobs many
    cp out blocked-$jobs
done
check '-k: all numbers of threads give the same' \
    sh -c 'cmp blocked-1 blocked-2 && cmp blocked-1 blocked-5'
try dedup --approximate -p 1% many
note 'it says how many lines may be lost' \
    'note: up to about [0-9,.]* new lines may have been dropped .*leave out'
lost=$(($(wc -l <many-once) - $(wc -l <out)))
# Two thirds of the lines are different: 1 % of these are lost at most, but for
# five standard deviations.
check '-p 1%: no more than that are dropped' awk -v lost="$lost" -v n="$many" \
    'BEGIN { most = n * 2 / 300; exit !(lost <= most + 5 * sqrt(most)) }'
check '-p 1%: what is printed is in order and once' \
    awk 'NR == FNR { place[$0] = NR; next }
         !($0 in place) || place[$0] <= last { exit 1 }
         { last = place[$0] }' many-once out
try dedup -a few
check '--approximate: a few lines' \
    [ "$(tr '\n' ' ' <out)" = 'ant bee cat ' ]
note '--approximate: of which hardly one is lost' 'a new line may have been dropped, with a chance of 0\.3 %'
try dedup -av many
check '-v: status' [ "$(cat status)" = 0 ]
check '-v: one line with the numbers' \
    grep -Eq '^bloomery dedup: [13]00,000 lines in .*at most 0.1 % of the new' err
try dedup -a -k blocked -n 1000 many
check 'an overfull filter is told' \
    grep -Eq '1,000 that the filter was planned for .*larger -n' err
status_is 'and is an error, for lines were lost' 2
head -n 1500 many-once >more
try dedup -a -k blocked -n 1000 more
check 'one that is less than twice as full is told' \
    grep -q 'planned for 1,000: .*larger -n' err
status_is 'and is no error' 0
try dedup -a -k cuckoo -n 1000 many
status_is 'a filter that is full is an error' 2
check 'and it says so' grep -q 'full' err
try dedup -a -k ribbon many
refused 'a kind that is built at once' 'no line can be added to kind ribbon: '
{ cat many-once; cat many-once; } >twice
for kind in cuckoo quotient counting; do
    try dedup --approximate -p 1e-8 -k $kind -n "$many" twice
    check "-k $kind: repeats do not fill it" cmp out many-once
done
try dedup --approximate -k standard -n 10 many
check 'a filter that is far too small says that most was lost' \
    grep -q 'note: most new lines were dropped' err
try dedup --approximate -k aging -n 10 many
refused 'a kind that forgets' 'give --window N'
try dedup -a -k nokind many
refused 'no such kind' 'nokind'
try dedup -a -k blocked many
refused 'a kind that does not grow, without -n' ': .*: '

# ---- a window ---------------------------------------------------------------
# 1000 different lines, over and over: a window of 1000 knows all of them.
awk 'BEGIN { for (i = 0; i < 20000; i++) print "line " i % 1000 }' >round
try dedup --window 1000 -p 1e-6 round
check '--window: the last N different lines are remembered' \
    [ "$(wc -l <out)" -le 1000 ]
awk 'BEGIN { for (i = 0; i < 200000; i++) print i; print 0 }' >long
try dedup -w 1000 -p 1e-6 long
check '--window: old lines are forgotten' [ "$(tail -n 1 out)" = 0 ]
mkfifo questions answers
timeout 60 "$BLOOMERY" dedup -w 100 <questions >answers &
exec 3>questions 4<answers
printf 'bee\nbee\n' >&3
read -r answer <&4
printf 'ant\nunfinished' >&3
read -r second <&4
exec 3>&- 4<&-
wait
check 'a line does not wait for the next' [ "$answer $second" = 'bee ant' ]

# ---- exactly ----------------------------------------------------------------
# Files by two or three passes, pipes by one, with much memory and with little.
same() {
    name=$1
    shift
    first "$@" >want
    for how in '' '-M 1M' '-j 1' '-j 5 -M 2M'; do
        # shellcheck disable=SC2086
        try dedup --exact $how "$@"
        if [ "$(cat status)" != 0 ] || [ -s err ]; then
            fail "--exact $how: $name" "$(details)"
        else
            check "--exact $how: $name" cmp out want
        fi
    done
    cat "$@" | first >want
    for how in '' '-M 1M' '-j 1 -M 1M' '-j 5 -M 2M'; do
        # shellcheck disable=SC2086
        cat "$@" | try dedup $how
        if [ "$(cat status)" != 0 ] || [ -s err ]; then
            fail "$how: $name, from a pipe" "$(details)"
        else
            check "$how: $name, from a pipe" cmp out want
        fi
    done
}

same 'a few lines' few
same 'no lines' empty
same 'empty lines' gaps
same 'a last line without its end' unended
same 'many lines' many
same 'many lines, twice' many many
same 'files with and without an end' few gaps many unended
printf 'a\r\nb\r\na\r\na\nb\n' >dos
same 'CR is a byte like any other' dos
awk 'BEGIN { for (i = 0; i < 100000; i++) print "" }' >blank
same 'one empty line, many times' blank few blank
{
    head -c 3000000 /dev/zero | tr '\0' x
    echo
    cat few
    head -c 3000000 /dev/zero | tr '\0' x
    echo y
    head -c 3000000 /dev/zero | tr '\0' x
    echo
    head -c 5000 /dev/zero | tr '\0' z
    echo
    head -c 5000 /dev/zero | tr '\0' z
    echo
} >wide
same 'lines of megabytes' wide
lines "$(work 400000 100000)" | awk '{ print $0, $0, $0 }' >large
same 'more than the memory holds' large large
# Keys that come again after each of many tables has gone to the file, and keys
# of many lengths.
awk -v n="$(work 300000 70000)" 'BEGIN {
    for (i = 0; i < n; i++) {
        printf "%d%s\n", i, substr("................................", 1, i % 33)
        if (i % 5 == 0)
            printf "%d%s\n", i / 5, substr("................................", 1,
                                           int(i / 5) % 33)
    } }' >old
same 'lines of tables that are long full' old old
# shellcheck disable=SC2002
cat old | try dedup -v -M 1M
check '-v: one pass over a pipe, and what went to the file' \
    grep -Eq 'no new line was dropped \(one pass, [1-9][0-9,]* bytes' err
# shellcheck disable=SC2002
cat few | try dedup -v
check '-v: or nothing did' grep -q '(one pass, in memory)$' err
try dedup -v few
check '-v: two passes over a file' grep -q '(two passes, in memory)$' err
try dedup -v -M 1M large large
check '-v: or three' grep -q '(three passes, [1-9]' err
# shellcheck disable=SC2002
cat table | try dedup -M 1M -f 2 -t ,
check 'a pipe, -f: lines without the column stay' \
    sh -c 'printf "1,x,p\n2,y,p\n4\n4\n" | cmp - out'

# New lines of a pipe that does not end come at once; the second time the table
# has gone to the file before.
rm -f questions answers
mkfifo questions answers
timeout 60 "$BLOOMERY" dedup -M 1M <questions >answers &
exec 3>questions 4<answers
printf 'bee\nbee\n' >&3
read -r answer <&4
awk 'BEGIN { for (i = 0; i < 60000; i++) print i }' >&3 &
last=
while [ "$last" != 59999 ]; do
    read -r last <&4 || break
done
printf 'bee\n77\nant\n' >&3
read -r second <&4
exec 3>&- 4<&-
wait
check 'a new line of an endless pipe comes at once' \
    [ "$answer $second" = 'bee ant' ]

printf 'a\0b\na\0c\na\0b\nd\n' >inside
try dedup --exact --text inside
out_is '--exact: a NUL is a byte like any other' 0 'a\0b\na\0c\nd\n'
try dedup --exact -0 nulls
out_is '--exact -0' 0 'a\0b\0c\0'
try dedup -x -f 2 -t , table
check '--exact -f: the first line with the column; lines without it stay' \
    sh -c 'printf "1,x,p\n2,y,p\n4\n4\n" | cmp - out'
note '--exact -f: and are counted' '2 lines have no such column'
try dedup -x <many
check '--exact: standard input that is a file' cmp out many-once
{ read -r _; "$BLOOMERY" dedup -x >out; } <few
check '--exact: a file that was read in part' \
    [ "$(tr '\n' ' ' <out)" = 'bee ant cat ' ]
# shellcheck disable=SC2002
cat few | try dedup -x many - unended
cat many few unended | first >want
check '--exact: files and a pipe' cmp out want

# ---- counts -----------------------------------------------------------------
sort many | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print n "\t" $0 }' |
    sort >counts
for memory in 1M 128M; do
    try dedup --count -M $memory many
    cut -f 2- out >lines-out
    check "-c -M $memory: first occurrences in order" cmp lines-out many-once
    sort out >sorted
    check "-c -M $memory: the counts of uniq -c" cmp sorted counts
    try dedup --only-repeated -M $memory many
    awk 'NR == FNR { n[$0]++; next } n[$0] > 1' many many-once >want
    check "-d -M $memory" cmp out want
    try dedup --only-unique -M $memory many
    awk 'NR == FNR { n[$0]++; next } n[$0] == 1' many many-once >want
    check "-u -M $memory" cmp out want
done
# Some keys that each take more than the memory, among others in all parts.
for letter in a b c d; do
    head -c 400000 /dev/zero | tr '\0' $letter
    echo
done >giants
cat giants many giants >mixed
first mixed >want
try dedup -c -M 1M mixed
cut -f 2- out >lines-out
check '-c -M: keys larger than their share of the memory' cmp lines-out want
check '-c -M: and they are counted' [ "$(grep -c '^2.aaaa' out)" = 1 ]

# A pipe is held in memory, until it does not fit any more.
for memory in 1M 128M; do
    passes=one
    [ $memory != 1M ] || passes=three
    for option in -c -d -u; do
        try dedup $option many
        mv out want
        # shellcheck disable=SC2002
        cat many | try dedup $option -v -M $memory
        check "$option -M $memory: of a pipe" cmp out want
        note "$option -M $memory: of a pipe, in so many passes" "$passes pass"
    done
    try dedup -c mixed
    mv out want
    # shellcheck disable=SC2002
    cat mixed | try dedup -c -M $memory
    check "-c -M $memory: of a pipe, with large keys" cmp out want
done
printf 'b\0a\n\0\0b\0\0a' | try dedup -c0
check '-c0: of a pipe' sh -c \
    'printf "2\tb\0001\ta\n\0002\t\0001\ta\0" | cmp - out'
# shellcheck disable=SC2002
cat unended | try dedup -c - few
out_is '-c: of a pipe without its last end, and a file' 0 \
    '2\tb\n1\ta\n3\tant\n2\tbee\n1\tcat\n'
: | try dedup -c
out_is '-c: of an empty pipe' 0 ''
printf 'name\nb\nb\n' | try dedup -c --header
out_is '-c --header: of a pipe' 0 'count\tname\n2\tb\n'
printf 'Ant\nbee\nANT\n' | try dedup -ci
out_is '-ci: of a pipe' 0 '2\tAnt\n1\tbee\n'

try dedup -cd few
out_is '-cd' 0 '3\tant\n2\tbee\n'
try dedup -cu few
out_is '-cu' 0 '1\tcat\n'
try dedup -du few
out_is '-du: none can be both' 0 ''
try dedup -c unended
out_is '-c: a last line without its end' 0 '2\tb\n1\ta\n'
try dedup -c -f 2 -t , table
check '-c -f: a line without the column counts for itself' \
    sh -c 'printf "2\t1,x,p\n1\t2,y,p\n1\t4\n1\t4\n" | cmp - out'

# ---- what goes wrong --------------------------------------------------------
try dedup few missing
refused 'a missing file, nothing is printed' "cannot read 'missing'"
# shellcheck disable=SC2002
cat few | try dedup - missing
refused 'a missing file, and a pipe' "cannot read 'missing'"
try dedup -w 9 missing few
if [ "$(cat status)" = 2 ] && grep -q "cannot read 'missing': .*: " err \
    && [ "$(tr '\n' ' ' <out)" = 'ant bee cat ' ]; then
    pass 'a missing file: reported, the others are read, status 2'
else
    fail 'a missing file: reported, the others are read, status 2' "$(details)"
fi
mkdir folder
try dedup -x few missing
refused '--exact: a missing file, nothing is printed' "cannot read 'missing'"
try dedup -x folder
refused '--exact: a folder' "'folder' is a folder"
cp few itself
"$BLOOMERY" dedup -x itself >>itself 2>err
echo $? >status
: >out
refused 'its own output as input' "'itself' is the input and the output: send"
check 'its own output as input: nothing is added' cmp few itself
"$BLOOMERY" dedup <itself >>itself 2>err
echo $? >status
refused 'its own output as standard input' "'-' is the input and the output"
try dedup -x -w 10 few
refused '--exact --window' 'drop lines'
try dedup -x -a few
refused '--exact --approximate' 'drop lines'
try dedup -p 1% few
refused '-p alone' 'give --approximate too'
try dedup -c -p 1% few
refused '-c -p' 'may err'
try dedup -x -n 10 few
refused '--exact -n' 'may err'
try dedup -a -M 10M few
refused '--memory with --approximate' 'leave it out'
try dedup -w 10 -k blocked few
refused '--window -k' 'excludes -k'
for size in '' 0 10K 1 -5M 12X M 1.5M 99999999999T; do
    try dedup -x -M "$size" few
    refused "--memory '$size'" 'SIZE|--memory'
done
try dedup -M 0 few
refused '-M 0' "'0' is no memory at all: give"
try dedup -M 1023K few
refused '-M 1023K' 'too little to work in: give 1M or more$'
try dedup -M 99999999T few
refused '-M 99999999T' 'more memory than there can be: give'
(
    TMPDIR=/nowhere/at/all
    export TMPDIR
    # shellcheck disable=SC2002
    cat few | try dedup -c
    out_is '-c: a pipe that fits needs no folder' 0 '3\tant\n2\tbee\n1\tcat\n'
    # shellcheck disable=SC2002
    cat large | try dedup -c -M 1M
    refused '-c: no folder for the copy of a pipe' \
        "in '/nowhere/at/all': .*: set TMPDIR .*, or give more --memory"
    # shellcheck disable=SC2002
    cat few | try dedup -c -i
    refused '-c -i: no folder for the copy of a pipe' \
        "in '/nowhere/at/all': .*: set TMPDIR to a folder that exists$"
    # shellcheck disable=SC2002
    cat few | try dedup
    out_is 'a pipe that fits needs no folder' 0 'ant\nbee\ncat\n'
    # shellcheck disable=SC2002
    cat large | try dedup -M 1M
    : >out
    refused 'no folder for what does not fit of a pipe' \
        "in '/nowhere/at/all': .*: set TMPDIR .*, or give more --memory"
    try dedup -x -M 1M large
    refused '--exact: no folder for what does not fit' \
        'set TMPDIR .*, or give more --memory'
    try dedup -x few
    out_is '--exact: what fits needs no folder' 0 'ant\nbee\ncat\n'
)
# A file that may not grow stands for a disk that is full.
(
    # shellcheck disable=SC3045
    ulimit -f 2000
    # shellcheck disable=SC2002
    cat large | try dedup -c -M 1M
    refused '-c: a full disk, of the copy of a pipe' \
        'cannot write a temporary file .*: .*: set TMPDIR .*, or give more'
    # shellcheck disable=SC2002
    cat large | try dedup -c -i
    refused '-c -i: a full disk, of the copy of a pipe' \
        'cannot write a temporary file .*: .*: set TMPDIR .* with room$'
    # shellcheck disable=SC2002
    cat large | "$BLOOMERY" dedup -M 1M 2>err >/dev/null
    echo $? >status
    : >out
    refused 'a full disk, of what does not fit of a pipe' \
        'cannot write a temporary file .*: .*: set TMPDIR .*, or give more'
    try dedup -x -M 1M large
    refused '--exact: a full disk' \
        'cannot write a temporary file .*: .*: set TMPDIR'
)
if [ -w /dev/full ]; then
    "$BLOOMERY" dedup -x many >/dev/full 2>err
    echo $? >status
    : >out
    refused '--exact: a full disk for the output' 'standard output'
else
    skip '--exact: a full disk for the output' 'no /dev/full'
fi
{ "$BLOOMERY" dedup -x large 2>err; echo $? >status; } | head -n 1 >out
if [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ] && [ "$(cat status)" = 141 ]; then
    pass '--exact: a reader that goes away ends it quietly'
else
    fail '--exact: a reader that goes away ends it quietly' "$(details)"
fi

# The first file changes while the second, a pipe, keeps the command from going
# on; with a pipe all is read in one pass, and so the change does no harm.
cp few moving
mkfifo slow
"$BLOOMERY" dedup -x moving slow >out 2>err &
exec 3>slow
echo ant >>moving
echo dog >&3
exec 3>&-
wait
check '--exact: with a pipe all is read once' grep -q dog out

# A file that grows, or is changed, between the passes: stdout is a pipe that is
# not read on before that has happened, while the second pass stands still.
first large >large-once
mkfifo held
cp large moving
{ "$BLOOMERY" dedup -x moving >held 2>err; echo $? >status; } &
exec 4<held
read -r line <&4
echo one more line >>moving
{ printf '%s\n' "$line"; cat <&4; } >out
exec 4<&-
wait
check '--exact: a file that grows is read up to where it ended' \
    sh -c 'cmp out large-once && [ "$(cat status)" = 0 ] && [ ! -s err ]'
cp large moving
{ "$BLOOMERY" dedup -x moving >held 2>err; echo $? >status; } &
exec 4<held
read -r _ <&4
printf X | dd of=moving bs=1 conv=notrunc 2>/dev/null
cat <&4 >/dev/null
exec 4<&-
wait
if [ "$(cat status)" = 2 ] && [ "$(wc -l <err)" -eq 1 ] \
    && grep -q "'moving' was changed while it was read: .*: try" err; then
    pass '--exact: a file that changes is an error'
else
    fail '--exact: a file that changes is an error' "$(details)"
fi

finish
