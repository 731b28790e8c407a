# inputs.sh - sources of keys: the command line, lists of files, folders.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf 'ant\nbee\ncat\n' >keys
printf 'bee\ndog\n' >ask
try build -n 1000 -p 1e-9 -o f.bly keys
silent 'build'

# also NAME STATUS TEXT REGEX: exactly this on stdout, and one note that
# matches.
also() {
    printf '%b' "$3" >want
    if [ "$(cat status)" = "$2" ] && cmp -s want out \
        && [ "$(wc -l <err)" -eq 1 ] && grep -Eq -e "$4" err; then
        pass "$1"
    else
        fail "$1" "$(details); out: $(head -c 200 out | tr '\n' '|')"
    fi
}

# ---- keys of the command line -----------------------------------------------
try query f.bly --key bee --key dog --key ant </dev/null
out_is '--key: those that are there' 0 'bee\nant\n'
try query --key dog f.bly
out_is '--key, not there: status 1' 1 ''
printf 'dog\n' | try query -v f.bly --key bee --key elk
out_is '--key: standard input is not read' 0 'elk\n'
try query -c f.bly --key bee --key bee --key ''
out_is 'the empty key is one, and a repeated one two' 0 '2\n'
try query --mark --line-number f.bly --key dog --key bee
out_is '--key --mark -n' 0 '0\t1:dog\n1\t2:bee\n'
try query --with-filename f.bly --key bee
out_is '--key -H' 0 '(command line):bee\n'
try query -f 2 -t , f.bly --key bee --key a,bee
out_is 'columns are not of keys' 0 'bee\n'
try build -i --trim -p 1e-9 -o changed.bly --key bee
try query changed.bly --key ' BEE' --key DOG
out_is '-i and --trim are, as the filter says' 0 ' BEE\n'
cr=$(printf 'bee\r')
try query --crlf f.bly --key "$cr"
status_is 'a CR is a part of the key' 1
try query -0 f.bly --key bee --key dog
out_is '-0 prints keys with NUL' 0 'bee\0'
lines='two
lines'
try query f.bly --key "$lines"
refused 'a newline in a key' "--key 'two.*lines' contains a newline, .*: use -0"
try build -n 9 -p 1e-9 -o l.bly -0 --key "$lines"
silent 'build -0 --key'
try query -0 l.bly --key "$lines" --key two
out_is 'with -0 it is fine' 0 'two\nlines\0'
printf 'PK\003\004 \377\376 zip\n' >zip
magic=$(printf '\037\213zip')
try build -n 9 -p 1e-9 -o m.bly --key "$magic" --key "$(cat zip)"
silent 'keys are bytes, whatever they look like'
try query -c m.bly --key "$magic" --key "$(cat zip)"
out_is 'and found' 0 '2\n'
try build -o two.bly --key ant --key bee
silent 'build --key counts them'
try query -c two.bly keys
out_is 'build --key' 0 '2\n'
for kind in xor scalable cuckoo; do
    try build -k $kind -p 1e-4 -o k.bly --key ant --key bee
    silent "build --key of $kind"
    try query k.bly --key ant --key bee
    out_is "query --key of $kind" 0 'ant\nbee\n'
done
try build -k counting -n 100 -p 1e-6 -o c.bly keys
try add c.bly --key ant --key new
silent 'add --key'
try count c.bly --key ant --key new --key dog
out_is 'count --key' 0 '2\tant\n1\tnew\n0\tdog\n'
try remove c.bly --key ant --key new
silent 'remove --key'
try count -m 1 c.bly --key ant --key new
out_is 'and they are gone' 0 '1\tant\n'
printf '7\tant\n' >labelled
try build -k bloomier:bits=8 -l 1 -o g.bly labelled
try get g.bly --key ant
out_is 'get --key' 0 '7\tant\n'
try query f.bly --key ant ask
refused '--key and KEYS' '--key and KEYS cannot be used together: leave one out'
n=$(work 30000 3000)
awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) printf "--key k%d ", i }' >args
# shellcheck disable=SC2046  # a list of words
try build -p 1e-9 -o many.bly $(cat args)
silent 'many keys'
awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) print "k" i }' >lines
try query -c many.bly lines
out_is 'all of them are there' 0 "$n\n"

# ---- lists of files ---------------------------------------------------------
printf 'ask\0keys\0' >list
try query --with-filename --files0-from list f.bly
out_is '--files0-from' 0 'ask:bee\nkeys:ant\nkeys:bee\nkeys:cat\n'
printf 'ask\0keys' | try query -c --with-filename --files0-from=- f.bly
out_is '--files0-from -, without the last NUL' 0 'ask:1\nkeys:3\n'
odd='a new
line'
cp ask "$odd"
printf '%s\0' "$odd" >odd
try query --with-filename --files0-from odd f.bly
out_is 'a newline in a name' 0 "$odd:bee\n"
printf 'ask\0-\0' >with
try query --with-filename --files0-from with f.bly <keys
out_is 'a list may name standard input' 0 \
    'ask:bee\n(standard input):ant\n(standard input):bee\n(standard input):cat\n'
try query --files0-from - f.bly <with
refused 'but not if it comes from there' "name 2 of standard input is '-'"
printf 'ask\0\0keys\0' >holes
try query --files0-from holes f.bly
refused 'an empty name' "name 2 of 'holes' is empty: leave it out"
try query --files0-from none f.bly
refused 'a list that is missing' "cannot read the names in 'none': No such"
try query --files0-from . f.bly
refused 'a list that is a folder' "cannot read the names in '.': Is a directory"
try query --files0-from /dev/null f.bly
refused 'an empty list' 'there are no files to read: add names to the list'
printf 'ask\nkeys\n' >newlines
try query --files0-from newlines f.bly
refused 'names with newlines' "names in 'newlines' end with a newline, not with NUL"
try query --files0-from list f.bly ask
refused 'with KEYS' '--files0-from and KEYS cannot be used together: leave one'
try query --files0-from - - <list
refused 'the filter and the list from standard input' 'cannot both'
printf 'ask\0missing\0keys\0' >lacks
try query --files0-from lacks -c f.bly
if [ "$(cat status)" = 2 ] && [ "$(cat out)" = 4 ] \
    && grep -q "cannot read 'missing'" err; then
    pass 'a missing file of a list is reported, the others are asked'
else
    fail 'a missing file of a list is reported, the others are asked' "$(details)"
fi
try build -p 1e-9 -o b.bly --files0-from list
silent 'build --files0-from'
try query -c b.bly ask keys
out_is 'build --files0-from: all keys' 0 '5\n'
keeps 'build --files0-from, one is missing' "cannot read 'missing'" b.bly \
    build -o b.bly --files0-from lacks
printf 'b.bly\0' >own
keeps 'build --files0-from, the output is in it' \
    "'b.bly' is both the output and a file of keys" b.bly \
    build -o b.bly --files0-from own
try add b.bly --files0-from list
status_is 'add --files0-from' 0
try dedup --files0-from list
out_is 'dedup --files0-from' 0 'bee\ndog\nant\ncat\n'
printf 'ask\0keys\0' | try dedup --approximate --files0-from -
out_has 'dedup --approximate --files0-from -' 0 '^cat$'
try count --files0-from list c.bly
out_is 'count --files0-from' 0 '1\tbee\n0\tdog\n1\tant\n1\tbee\n1\tcat\n'
printf 'labelled\0' >l0
try put g.bly --files0-from l0
silent 'put --files0-from'
printf 'keys\0' >keys0
try build -k cascade --without ask -o cas.bly --files0-from keys0
refused 'a key in both lists' 'bee'
printf 'dog\n' | try build -k cascade --without - -o cas.bly --files0-from list
refused 'standard input is refused as well' 'dog'
printf 'keys\0' | try build -k cascade --without - -o cas.bly --files0-from -
refused 'both on standard input' 'cannot both be read from standard input'

# ---- folders ----------------------------------------------------------------
mkdir -p in/b in/b-c in/empty elsewhere
cp ask in/b/x
cp keys in/b-c/x
printf 'cat\n' >in/.hidden
cp f.bly in/filter
printf 'a\0b' >in/binary
printf 'PK\003\004' >in/zip
gzip -c keys >in/b/z.gz
gzip -c in/binary >in/binary.gz
"$BLOOMERY" query f.bly in/b/z.gz >out 2>&1
if [ $? -eq 2 ]; then                   # built without BLY_DECOMPRESS
    cp keys in/b/z.gz
    cp in/binary in/binary.gz
fi
: >in/nothing
cp keys elsewhere/secret
ln -s ../elsewhere in/linked
ln -s ../ask in/link
ln -s . in/circle
mkfifo in/pipe
skips="note: 4 files are not text and were skipped, first 'in/binary' .use --text"
try query -r --with-filename f.bly in </dev/null
also '-r: the order of bytes; no links, pipes, filters' 0 \
    'in/.hidden:cat\nin/b-c/x:ant\nin/b-c/x:bee\nin/b-c/x:cat\nin/b/x:bee\nin/b/z.gz:ant\nin/b/z.gz:bee\nin/b/z.gz:cat\n' \
    "$skips"
cp out first
try query -r --with-filename -j 4 f.bly in/ </dev/null
check 'in/: the same, with one slash' cmp out first
(cd in && "$BLOOMERY" query --recursive --with-filename ../f.bly </dev/null >../out 2>../err)
sed 's|^in/|./|' first >want
check 'without KEYS it is .' cmp out want
try query -rc --with-filename f.bly in
also '-r -c -H: files that were skipped have no count' 0 \
    'in/.hidden:1\nin/b-c/x:3\nin/b/x:1\nin/b/z.gz:3\nin/nothing:0\n' "$skips"
try query -r --with-filename f.bly ask in/linked keys in/b
out_is 'a link that is named is followed; files among folders' 0 \
    'ask:bee\nin/linked/secret:ant\nin/linked/secret:bee\nin/linked/secret:cat\nkeys:ant\nkeys:bee\nkeys:cat\nin/b/x:bee\nin/b/z.gz:ant\nin/b/z.gz:bee\nin/b/z.gz:cat\n'
printf 'dog\nant\n' | try query -r --with-filename f.bly in/b-c -
out_has '-r and standard input' 0 '^\(standard input\):ant$'
try query -rq f.bly in
silent '-q says nothing of what was skipped'
try query -r -c --text f.bly in/binary in/filter
out_is '--text skips nothing' 1 '0\n'
try query -r f.bly in/binary
refused 'a file that is named is not skipped' "'in/binary' is not text"
try query -r f.bly in/empty
refused 'an empty folder' 'there are no files to read: name a folder that'
try query -r f.bly none
refused 'a folder that is missing' "cannot read 'none'"
try query f.bly in
refused 'a folder without -r' "'in' is a folder: .*, or use -r$"
try join in keys
refused 'a command without -r' "'in' is a folder: name the files of keys in it$"
printf 'in/b\0ask\0' >folders
try query -rc --files0-from folders f.bly
out_is '-r with --files0-from' 0 '5\n'

try build -r --verbose -p 1e-9 -o r.bly in
check 'build -r counts and reads, and tells once' [ "$(grep -c "$skips" err)" -eq 1 ]
try query -c r.bly keys ask
out_is 'build -r' 0 '5\n'
try build -r -n 100 -k xor -p 1e-6 -o x.bly in/b in/b-c
silent 'build -r of a kind that is built at once'
try query -c x.bly keys ask
out_is 'all keys are there' 0 '5\n'
try add -r r.bly in
note 'add -r' "$skips"
try remove -r c.bly in/b-c
silent 'remove -r'
for way in '' --approximate '--window 100'; do
    # shellcheck disable=SC2086  # a list of words
    try dedup -r $way in
    if [ "$(cat status)" = 0 ] && grep -q "$skips" err \
        && [ "$(cat out)" = "$(printf 'cat\nant\nbee\ndog')" ]; then
        pass "dedup -r $way"
    else
        fail "dedup -r $way" "$(details)"
    fi
done
try dedup -r --count in
also 'dedup -r --count' 0 '3\tcat\n2\tant\n3\tbee\n1\tdog\n' "$skips"
try dedup -r --memory 1M in/b in/b-c
out_is 'dedup -r of files that are read again' 0 'bee\ndog\nant\ncat\n'

# The command's own output is not among its inputs.
keeps 'build -r: the output is in the folder' \
    "'in/filter' is both the output and a file of keys" in/filter \
    build -r -o in/filter in
keeps 'add -r: the filter is in the folder' \
    "'in/filter' is both the output and a file of keys" in/filter \
    add -r in/filter in
for command in 'query -r f.bly' 'query -rc f.bly in/out' 'dedup -r' \
    'count -r c.bly'; do
    cp keys in/out
    # shellcheck disable=SC2086  # a list of words
    "$BLOOMERY" $command in >>in/out 2>err
    echo $? >status
    : >out
    case $command in
    *-rc*)  check "$command counts only" [ "$(tail -n 1 in/out)" -ge 1 ]
        continue ;;
    esac
    refused "$command: the output is in the folder" \
        "'in/out' is both the input and the output"
    check "$command: it is as it was" cmp in/out keys
done
rm in/out

# A deep folder, and a wide one.
deep=deep
for i in $(seq 1 60); do
    deep=$deep/a-rather-long-name-of-a-folder-$i
done
mkdir -p "$deep"
cp keys "$deep/last"
try query -rc f.bly deep
out_is 'a deep folder' 0 '3\n'
mkdir wide
(cd wide && seq 1 "$(work 3000 400)" | xargs -I{} cp ../keys '{}')
try query -rc --with-filename f.bly wide
find wide -type f | LC_ALL=C sort | sed 's/$/:3/' >want
check 'a wide folder, in the order of bytes' cmp out want

# Without two of its capabilities, root obeys permissions.
mine='setpriv --bounding-set -dac_override,-dac_read_search'
[ "$(id -u)" -eq 0 ] || mine=
# Many folders, each with a file of keys and one that is skipped.
mkdir many
for i in $(seq 300); do mkdir "many/$i"; echo "key $i" >"many/$i/key"; done
for i in $(seq 300); do printf 'a\0b\n' >"many/$i/none"; done
seq -f 'key %g' 300 >every
try build -o every.bly every
find many -mindepth 1 -type d -print0 >folders
try query -rc --files0-from folders every.bly
if [ "$(cat out)" = 300 ] && grep -q 'note: 300 files are not text' err; then
    pass 'many folders'
else
    fail 'many folders' "$(details)"
fi
try query -rc --with-filename --files0-from folders every.bly
check 'many folders: those that are skipped have no count' \
    [ "$(grep -c '/key:1$' out)" -eq 300 -a "$(wc -l <out)" -eq 300 ]

mkdir in/shut
cp keys in/shut
chmod 000 in/shut
# shellcheck disable=SC2086  # a command and its options
if $mine ls in/shut >/dev/null 2>&1 || ! $mine true 2>/dev/null; then
    skip 'a folder that may not be read' 'root may do everything here'
else
    AS=$mine
    rm in/binary in/binary.gz in/filter in/zip
    try query -rc f.bly in
    if [ "$(cat status)" = 2 ] && [ "$(cat out)" = 8 ] \
        && [ "$(wc -l <err)" -eq 1 ] \
        && grep -q "cannot read 'in/shut': Permission denied: " err
    then
        pass 'a folder that may not be read is reported, the others are read'
    else
        fail 'a folder that may not be read is reported, the others are read' \
            "$(details)"
    fi
    keeps 'build of it' "cannot read the folder 'in/shut': Permission" b.bly \
        build -r -o b.bly in
    chmod 444 in/shut
    keeps 'a folder that may not be entered' \
        "cannot read 'in/shut/keys': .*: you cannot enter a folder" \
        b.bly build -r -o b.bly in
    AS=
fi
chmod 700 in/shut

finish
