# join.sh - lines whose key is in another list, exactly; compared with awk.
# shellcheck source=lib.sh
. "$1/lib.sh"

inner() {
    awk 'NR == FNR { list[$0]; next } $0 in list' "$2" "$1"
}

outer() {
    awk 'NR == FNR { list[$0]; next } !($0 in list)' "$2" "$1"
}

# ---- a few ------------------------------------------------------------------
printf 'ant\nbee\ncat\nbee\n\ndog' >lines
printf 'bee\nemu\ndog\nbee\n' >list
try join lines list
out_is 'lines in the list, in their order, as often as they come' 0 \
    'bee\nbee\ndog\n'
try join --invert-match lines list
out_is '--invert-match: the others; an empty line is a key' 0 'ant\ncat\n\n'
try join -c lines list
out_is '-c' 0 '3\n'
try join -cv lines list
out_is '-c --invert-match' 0 '3\n'
for files in 'lines none' 'none list'; do
    # shellcheck disable=SC2086
    try join $files
    refused "a file that is missing: $files" \
        "cannot read 'none': No such file or directory: check the name\$"
done
try join - list <lines
out_is 'LINES from standard input' 0 'bee\nbee\ndog\n'
{ read -r _; "$BLOOMERY" join - list >out; } <lines
check 'a standard input that was read in part' \
    [ "$(tr '\n' ' ' <out)" = 'bee bee dog ' ]
try join lines - <list
out_is 'LIST from standard input' 0 'bee\nbee\ndog\n'
# shellcheck disable=SC2002
cat list | try join lines -
out_is 'LIST from a pipe' 0 'bee\nbee\ndog\n'
: >empty
try join lines empty
out_is 'an empty list: nothing, status 1' 1 ''
try join -v lines empty
out_is 'an empty list: all, with --invert-match' 0 'ant\nbee\ncat\nbee\n\ndog\n'
try join empty list
out_is 'no lines: status 1' 1 ''
try join -c empty list
out_is 'no lines: 0' 1 '0\n'
tr '\n' '\0' <lines >lines0
tr '\n' '\0' <list >list0
try join -0 lines0 list0
out_is '-0' 0 'bee\0bee\0dog\0'
printf '1,x,p\n2,y,p\n3,x,q\n4\n' >table
printf 'k;x\nk;z\nk\n' >other
try join -f 2 -t , table - <<END
x
END
check '-f: a column of LINES, whole lines of LIST' \
    sh -c 'printf "1,x,p\n3,x,q\n" | cmp - out'
check '-f: lines without it are reported' \
    grep -q '^bloomery join: note: 1 line of LINES has no such column' err
try join -f 2 --list-field 2 -t , table table
check '-F: a column of LIST' sh -c 'printf "1,x,p\n2,y,p\n3,x,q\n" | cmp - out'
check '-F: and of the list' grep -q '1 line of LIST has no such column' err
try join -f 2 --list-field 1-2 -t , table table
refused 'different numbers of columns' '-f and --list-field list different numbers .*, 1 and 2, '
printf 'id,mail\n1,"a@x"\n2,b@x\n3,c@x\n' >mails
printf '"a@x"\nb@x\n' >asked
try join --csv -f mail mails asked
refused 'a list without a header' "no column 'mail'.*use --list-field 1"
try join --csv -f 2 mails asked
note 'a whole line in quotes' \
    '^bloomery join: note: 1 line of LIST begins with a quote, .*: use --list-field 1'
check 'which are part of its key' sh -c 'printf "2,b@x\n" | cmp - out'
printf 'a@x,1\nb@x,2\n' >pairs
try join --invert-match --csv -f 2 mails pairs
note 'a list of several columns: a note' 'every line of LIST has several .*use --list-field'
try join -t , -f 2 mails pairs
check 'a list of several columns without --csv' grep -q 'use --list-field' err
try join --csv -f mail --list-field 1 mails asked
out_is 'a column in quotes' 0 'id,mail\n1,"a@x"\n2,b@x\n'
try join --csv mails mails
out_is 'whole lines of both' 0 'id,mail\n1,"a@x"\n2,b@x\n3,c@x\n'
printf 'x\ny\n' >plain
try join --list-field 2 -t ';' plain other
check '-F without -f' sh -c '[ "$(cat out)" = x ]'
try join -v -f 2 -t , table plain
check '--invert-match: a line without a key is not printed' \
    sh -c '[ ! -s out ] && [ "$(cat status)" = 1 ]'
try join --verbose lines list
check '-v' grep -Eq \
    '^bloomery join: 6 lines in .*, 3 printed; 4 keys in the list, which fit' \
    err

printf 'ANT\r\n Bee \ndog\n' >untidy
try join -i --trim --crlf lines untidy
out_is '-i, --trim, --crlf' 0 'ant\nbee\nbee\ndog\n'
if command -v gzip >/dev/null; then
    gzip -c lines >lines.gz
    gzip -c list >list.gz
    try join lines.gz list.gz
    out_is 'compressed files' 0 'bee\nbee\ndog\n'
else
    skip 'compressed files' 'no gzip'
fi

# ---- many -------------------------------------------------------------------
n=$(work 400000 100000)
awk -v n="$n" 'BEGIN {
    srand(3)
    for (i = 0; i < n; i++) {
        key = int(rand() * n)
        printf "%s/%d%s\n", key % 3 ? "page" : "a longer path", key,
               key % 7 ? "" : "?and=something&more=of&the=same&kind=yes"
    }
}' >many
awk -v n="$n" 'NR % 3 == 0 { print } NR % 9 == 0 { print "no line at all " NR }
               NR % 30 == 0 { print }' many >half
inner many half >want
outer many half >want-not
for how in '' '-j 1' '-j 5' '-M 1M' '-M 1M -j 1' '-M 2M -j 5'; do
    # shellcheck disable=SC2086
    try join $how many half
    check "join $how: as awk" cmp out want
    # shellcheck disable=SC2086
    try join -v $how many half
    check "join --invert-match $how: as awk" cmp out want-not
done
try join --verbose -M 1M many half
check '-M 1M: in parts' grep -q 'keys in the list, which did not fit' err
# shellcheck disable=SC2002
cat many | try join -M 1M - half
check 'in parts, LINES from a pipe' cmp out want
try join -M 1M - half <many
check 'in parts, LINES from standard input that is a file' cmp out want
# shellcheck disable=SC2002
cat half | try join -M 1M many -
check 'in parts, LIST from a pipe' cmp out want
if command -v gzip >/dev/null; then
    gzip -c many >many.gz
    gzip -c half >half.gz
    try join -M 1M many.gz half.gz
    check 'in parts, compressed files' cmp out want
else
    skip 'in parts, compressed files' 'no gzip'
fi
tr pal PAL <half >HALF
try join -i -M 1M many HALF
check 'in parts, -i' cmp out want
try join -M 1M -c many half
check 'in parts, -c' [ "$(cat out)" = "$(wc -l <want | tr -d ' ')" ]
awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) print "the one key of many" }' \
    >same
try join -M 1M -c many same
out_is 'a list of one key that comes often' 1 '0\n'
cat same half >crowd
cat many same >lines-crowd
inner lines-crowd crowd >want
try join -M 1M lines-crowd crowd
check 'in parts, one key that comes often on both sides' cmp out want
{
    head -c 3000000 /dev/zero | tr '\0' x
    echo
    cat list
    head -c 3000000 /dev/zero | tr '\0' x
    echo y
} >wide
try join wide wide
check 'lines of megabytes' cmp out wide
try join -M 1M wide wide
check 'lines of megabytes, in parts' cmp out wide

# ---- what goes wrong --------------------------------------------------------
try join
refused 'no files' 'this command takes two files, LINES and LIST'
try join lines
refused 'no list' 'this command takes two files, LINES and LIST'
try join - -
refused 'both from standard input' 'cannot both be read from'
try join missing list
refused 'LINES is missing' "cannot read 'missing'"
try join lines missing
refused 'LIST is missing' "cannot read 'missing'"
mkdir folder
try join lines folder
refused 'LIST is a folder' "'folder' is a folder"
try join -M 10 lines list
refused 'too little memory' '1M or more'
cp lines itself
for pair in 'itself list' 'list itself' '- list'; do
    # shellcheck disable=SC2086
    timeout 60 "$BLOOMERY" join $pair <itself >>itself 2>err
    echo $? >status
    : >out
    refused "its own output as input: $pair" 'is both the input and the output: send'
    check "its own output as input: $pair: nothing is added" cmp -s lines itself
done
head -c 3000 many | gzip -c | head -c 300 >cut.gz
# shellcheck disable=SC2002
cat cut.gz | try join lines -
refused 'a damaged pipe is named' 'standard input is damaged'
(
    TMPDIR=/nowhere/at/all
    export TMPDIR
    # shellcheck disable=SC2002
    cat list | try join lines -
    refused 'no folder for the copy of a pipe' 'set TMPDIR'
    try join -M 1M many half
    refused 'no folder for what does not fit' \
        'set TMPDIR .*, or use more --memory'
    try join lines list
    out_is 'needs no folder if the list fits' 0 'bee\nbee\ndog\n'
)
if [ -w /dev/full ]; then
    "$BLOOMERY" join many half >/dev/full 2>err
    echo $? >status
    : >out
    refused 'a full disk for the output' 'standard output'
else
    skip 'a full disk for the output' 'no /dev/full'
fi

# LINES grows, or is changed, between the passes: the output is a pipe that
# blocks the last pass until that has happened.
cp lines-crowd moving
mkfifo held
"$BLOOMERY" join -M 1M moving crowd >want
{ "$BLOOMERY" join -M 1M moving crowd >held 2>err; echo $? >status; } &
exec 4<held
read -r line <&4
cat half >>moving
{ printf '%s\n' "$line"; cat <&4; } >out
exec 4<&-
wait
check 'in parts: lines that grow are read up to where they ended' \
    sh -c 'cmp out want && [ "$(cat status)" = 0 ] && [ ! -s err ]'
cp lines-crowd moving
{ "$BLOOMERY" join -M 1M moving crowd >held 2>err; echo $? >status; } &
exec 4<held
read -r _ <&4
printf X | dd of=moving bs=1 conv=notrunc 2>/dev/null
cat <&4 >/dev/null
exec 4<&-
wait
if [ "$(cat status)" = 2 ] && [ "$(wc -l <err)" -eq 1 ] \
    && grep -q "'moving' changed while it was being read, .*: try again" err; then
    pass 'in parts: lines that change are an error'
else
    fail 'in parts: lines that change are an error' "$(details)"
fi

# LIST changes before it is read again; LINES is a pipe, which is copied in
# between.
cp half moving
rm held
mkfifo held
{ "$BLOOMERY" join -M 1M held moving >out 2>err; echo $? >status; } &
exec 4>held
echo one line >&4
cp list other
mv other moving
exec 4>&-
wait
refused 'in parts: a list that changes is an error' \
    "'moving' changed while it was being read"

finish
