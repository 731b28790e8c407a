# dedup-exact.sh - first occurrences, exactly; compared with awk. Errors of `dedup`.
# shellcheck source=lib.sh
. "$1/lib.sh"
# shellcheck source=shared/dedup.sh
. "$1/shared/dedup.sh"

# ---- exactly ----------------------------------------------------------------
# Files in two or three passes, pipes in one, with much memory and with little.
same() {
    name=$1
    shift
    first "$@" >want
    for how in '' '-M 1M' '-j 1' '-j 5 -M 2M'; do
        # shellcheck disable=SC2086
        try dedup $how "$@"
        if [ "$(cat status)" != 0 ] || [ -s err ]; then
            fail "dedup $how: $name" "$(details)"
        else
            check "dedup $how: $name" cmp out want
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
awk '{ key = $0; sub(/\r$/, "", key) } !seen[key]++' dos >want
try dedup dos
check 'a CR before the newline is no part of a key' cmp out want
first dos >want
try dedup --keep-cr dos
check '--keep-cr: CR is a byte like any other' cmp out want
awk 'BEGIN { for (i = 0; i < 100000; i++) print "" }' >blank
same 'an empty line, many times' blank few blank
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
# Keys that recur after each of many tables has been spilled, and keys of many
# lengths.
awk -v n="$(work 300000 70000)" 'BEGIN {
    for (i = 0; i < n; i++) {
        printf "%d%s\n", i, substr("................................", 1, i % 33)
        if (i % 5 == 0)
            printf "%d%s\n", i / 5, substr("................................", 1,
                                           int(i / 5) % 33)
    } }' >old
same 'lines of tables that are long full' old old
# shellcheck disable=SC2002
cat old | try dedup --verbose -M 1M
check '-v: one pass over a pipe, and what went to the file' \
    grep -Eq 'no new line was dropped \(one pass, [1-9][0-9,]* bytes' err
# shellcheck disable=SC2002
cat few | try dedup --verbose
check '-v: or nothing did' grep -q '(one pass, in memory)$' err
try dedup --verbose few
check '-v: two passes over a file' grep -q '(two passes, in memory)$' err
try dedup --verbose -M 1M large large
check '-v: or three' grep -q '(three passes, [1-9]' err
# shellcheck disable=SC2002
cat table | try dedup -M 1M -f 2 -t ,
check 'a pipe, -f: lines without the column stay' \
    sh -c 'printf "1,x,p\n2,y,p\n4\n4\n" | cmp - out'

# New lines of an endless pipe come at once; the second time, the table has been
# spilled before.
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
try dedup --text inside
out_is 'dedup: a NUL is a byte like any other' 0 'a\0b\na\0c\nd\n'
try dedup -0 nulls
out_is 'dedup -0' 0 'a\0b\0c\0'
try dedup -f 2 -t , table
check 'dedup -f: the first line with the column; lines without it stay' \
    sh -c 'printf "1,x,p\n2,y,p\n4\n4\n" | cmp - out'
note 'dedup -f: and are counted' '2 lines have no such column'
try dedup <many
check 'dedup: standard input that is a file' cmp out many-once
{ read -r _; "$BLOOMERY" dedup >out; } <few
check 'dedup: a file that was read in part' \
    [ "$(tr '\n' ' ' <out)" = 'bee ant cat ' ]
# shellcheck disable=SC2002
cat few | try dedup many - unended
cat many few unended | first >want
check 'dedup: files and a pipe' cmp out want

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
try dedup few missing
refused 'dedup: a missing file, nothing is printed' "cannot read 'missing'"
try dedup folder
refused 'dedup: a folder' "'folder' is a folder"
cp few itself
"$BLOOMERY" dedup itself >>itself 2>err
echo $? >status
: >out
refused 'its own output as input' "'itself' is both the input and the output: send"
check 'its own output as input: nothing is added' cmp few itself
"$BLOOMERY" dedup <itself >>itself 2>err
echo $? >status
refused 'its own output as standard input' "'-' is both the input and the output"
for size in '' 0 10K 1 -5M 12X M 1.5M 99999999999T; do
    try dedup -M "$size" few
    refused "--memory '$size'" 'SIZE|--memory'
done
try dedup -M 0 few
refused '-M 0' "'0' is too small: give"
try dedup -M 1023K few
refused '-M 1023K' 'too small: give 1M or more$'
try dedup -M 99999999T few
refused '-M 99999999T' 'larger than memory can be: give'
(
    TMPDIR=/nowhere/at/all
    export TMPDIR
    # shellcheck disable=SC2002
    cat few | try dedup -c
    out_is '-c: a pipe that fits needs no folder' 0 '3\tant\n2\tbee\n1\tcat\n'
    # shellcheck disable=SC2002
    cat large | try dedup -c -M 1M
    refused '-c: no folder for the copy of a pipe' \
        "in '/nowhere/at/all': .*: set TMPDIR .*, or use more --memory"
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
        "in '/nowhere/at/all': .*: set TMPDIR .*, or use more --memory"
    try dedup -M 1M large
    refused 'dedup: no folder for what does not fit' \
        'set TMPDIR .*, or use more --memory'
    try dedup few
    out_is 'dedup: what fits needs no folder' 0 'ant\nbee\ncat\n'
)
# A file-size limit stands in for a full disk.
(
    # shellcheck disable=SC3045
    ulimit -f 2000
    # shellcheck disable=SC2002
    cat large | try dedup -c -M 1M
    refused '-c: a full disk, of the copy of a pipe' \
        'cannot write a temporary file .*: .*: set TMPDIR .*, or use more'
    # shellcheck disable=SC2002
    cat large | try dedup -c -i
    refused '-c -i: a full disk, of the copy of a pipe' \
        'cannot write a temporary file .*: .*: set TMPDIR .* with room$'
    # shellcheck disable=SC2002
    cat large | "$BLOOMERY" dedup -M 1M 2>err >/dev/null
    echo $? >status
    : >out
    refused 'a full disk, of what does not fit of a pipe' \
        'cannot write a temporary file .*: .*: set TMPDIR .*, or use more'
    try dedup -M 1M large
    refused 'dedup: a full disk' \
        'cannot write a temporary file .*: .*: set TMPDIR'
)
if [ -w /dev/full ]; then
    "$BLOOMERY" dedup many >/dev/full 2>err
    echo $? >status
    : >out
    refused 'dedup: a full disk for the output' 'standard output'
else
    skip 'dedup: a full disk for the output' 'no /dev/full'
fi
{ "$BLOOMERY" dedup large 2>err; echo $? >status; } | head -n 1 >out
if [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ] && [ "$(cat status)" = 141 ]; then
    pass 'dedup: a reader that goes away ends it quietly'
else
    fail 'dedup: a reader that goes away ends it quietly' "$(details)"
fi

# The first file changes while the second, a pipe, blocks the command. With a
# pipe everything is read in one pass, so the change does no harm.
cp few moving
mkfifo slow
"$BLOOMERY" dedup moving slow >out 2>err &
exec 3>slow
echo ant >>moving
echo dog >&3
exec 3>&-
wait
check 'dedup: with a pipe all is read once' grep -q dog out

# A file that grows or changes between the passes: stdout is a pipe that blocks
# the second pass until that has happened.
first large >large-once
mkfifo held
cp large moving
{ "$BLOOMERY" dedup moving >held 2>err; echo $? >status; } &
exec 4<held
read -r line <&4
echo one more line >>moving
{ printf '%s\n' "$line"; cat <&4; } >out
exec 4<&-
wait
check 'dedup: a file that grows is read up to where it ended' \
    sh -c 'cmp out large-once && [ "$(cat status)" = 0 ] && [ ! -s err ]'
cp large moving
{ "$BLOOMERY" dedup moving >held 2>err; echo $? >status; } &
exec 4<held
read -r _ <&4
printf X | dd of=moving bs=1 conv=notrunc 2>/dev/null
cat <&4 >/dev/null
exec 4<&-
wait
if [ "$(cat status)" = 2 ] && [ "$(wc -l <err)" -eq 1 ] \
    && grep -q "'moving' changed while it was being read, .*: try" err; then
    pass 'dedup: a file that changes is an error'
else
    fail 'dedup: a file that changes is an error' "$(details)"
fi

finish
