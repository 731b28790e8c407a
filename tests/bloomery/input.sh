# input.sh - files as people have them: compressed, binary, with CR LF and byte
# order marks, in capitals or between blanks.
# shellcheck source=lib.sh
. "$1/lib.sh"

seq 1 "$(work 300000 40000)" >keys
sed 's/^/no/' keys >none
cat keys none >both
n=$(wc -l <keys)
total=$(wc -l <both)
try build -p 1e-9 -o k.bly keys
silent 'build'

# ---- compressed: every format, every way in ---------------------------------
# format NAME COMMAND...: the checks for what COMMAND writes to stdout.
format() {
    format=$1
    shift
    if ! command -v "$1" >/dev/null; then
        skip "$format" "there is no $1"
        return
    fi
    "$@" <keys >one
    "$@" <none >two
    "$@" </dev/null >zero
    cat one zero two >members
    try query k.bly one
    if grep -q 'which is not read here' err; then
        refused "$format is known" "compressed by $format, which .*: give"
        return
    fi
    check "$format: query prints the lines" cmp -s out keys
    for file in one members; do
        wanted=$n
        cp keys plain
        [ $file = one ] || cp both plain
        try query -c k.bly $file
        out_is "$format: query $file" 0 "$wanted\n"
        try query -c k.bly <$file
        out_is "$format: query, stdin is a file, $file" 0 "$wanted\n"
        # shellcheck disable=SC2002  # a pipe is what is tested
        cat $file | try query -c k.bly
        out_is "$format: query, a pipe, $file" 0 "$wanted\n"
        # shellcheck disable=SC2002
        cat $file | dd bs=7 2>/dev/null | try query -c k.bly
        out_is "$format: query, some bytes at a time, $file" 0 "$wanted\n"
        for way in '' --exact; do
            # shellcheck disable=SC2086  # an option or none
            try dedup -p 1e-9 $way $file
            [ -z "$way" ] || try dedup --exact $file
            check "$format: dedup $way $file" cmp -s out plain
        done
        try dedup --exact <$file
        check "$format: dedup --exact, stdin is a file, $file" cmp -s out plain
        # shellcheck disable=SC2002
        cat $file | try dedup --exact
        check "$format: dedup --exact, a pipe, $file" cmp -s out plain
    done
    try build -p 1e-9 -o of.bly one
    silent "$format: build counts its keys"
    try build -p 1e-9 -o in.bly <one
    silent "$format: build counts those of stdin"
    check "$format: the filter is that of the keys" cmp -s k.bly of.bly
    check "$format: and that of stdin too" cmp -s k.bly in.bly
    # shellcheck disable=SC2002
    cat one | try build -p 1e-9 -o no.bly
    refused "$format: keys of a pipe are not counted" 'give -n'
    try build -k fuse -o fuse.bly one
    silent "$format: build of a kind that is built at once"
    try build -p 1e-9 -n "$total" -o both.bly two
    try add both.bly one
    silent "$format: add"
    try query -c both.bly both
    out_is "$format: what was added is there" 0 "$total\n"
    size=$(wc -c <one)
    for cut in 3 $((size / 2)) $((size - 1)); do
        head -c "$cut" one >cut
        [ "$cut" -ge 10 ] || [ "$format" = gzip ] || continue
        keeps "$format: build of $cut bytes" "'cut' is damaged: .* early: " \
            of.bly build -o of.bly cut
        try query -c k.bly cut
        status_is "$format: query of $cut bytes" 2
        check "$format: and it names the file" grep -q "'cut' is damaged" err
        # shellcheck disable=SC2002
        cat cut | keeps "$format: build, a pipe of $cut bytes" \
            'standard input is damaged' of.bly build -n 1M -o of.bly
    done
    cp one bad
    printf 'XXXXXXXXXXXXXXXX' |
        dd of=bad bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
    # bzip2 gives what is wrong before it says so.
    keeps "$format: damaged in the middle" "'bad' is (damaged|no text): " of.bly \
        build -o of.bly bad
    { cat one; echo garbage; } >bad
    keeps "$format: garbage behind the end" \
        "'bad' is damaged: behind what $format .* something else" of.bly \
        build -o of.bly bad
    { cat one; head -c 1000 /dev/zero; } >padded
    try query -c k.bly padded
    out_is "$format: zeros behind the end are none" 0 "$n\n"
    try dedup --exact bad
    refused "$format: dedup --exact prints nothing of what is damaged" damaged
    try query -q k.bly one none
    silent "$format: query -q stops early"
    try query --no-decompress k.bly one
    refused "$format: --no-decompress leaves no text" "'one' is no text: "
    try dedup --no-decompress --text --exact one
    cp out bytes
    try dedup --no-decompress --text --exact bytes
    check "$format: and --text takes its bytes" cmp -s out bytes
    check "$format: which are few" [ "$(wc -c <out)" -le $((size + 1)) ]
}
format gzip gzip -c
format zstd zstd -qc
format xz xz -0c
format bzip2 bzip2 -c
format lz4 lz4 -qc

gzip -c keys >keys.gz
mkfifo pipe
cat keys.gz >pipe &
try query -c k.bly pipe
out_is 'a named pipe' 0 "$n\n"
wait
cp keys.gz named.txt
try query -c k.bly named.txt
out_is 'the name does not matter' 0 "$n\n"
cp keys named.gz
try query -c k.bly named.gz
out_is 'nor for a file of lines' 0 "$n\n"
try query -c k.bly keys keys.gz keys
out_is 'between other files' 0 "$((3 * n))\n"
try query k.bly keys.gz
check 'what is printed are the lines' cmp -s out keys
: | gzip -c >nothing.gz
try query -c k.bly nothing.gz
out_is 'nothing, compressed' 1 '0\n'
try build -o new.bly nothing.gz
note 'and a filter of it' 'no keys: the filter is empty'
printf 'a\nb' | gzip -c >unended.gz
try dedup unended.gz unended.gz
out_is 'lines without an end do not stick together' 0 'a\nb\n'
gzip -c <keys.gz | gzip -dc >again.gz
try query -c k.bly again.gz
out_is 'as gzip gives it back' 0 "$n\n"
printf 'BZh\n1\n' >bzh
try query k.bly bzh
out_is 'text that begins nearly like bzip2' 0 '1\n'
printf 'B' >b
try dedup b
out_is 'and text that ends where it might' 0 'B\n'

# A reader that stops early ends, though its writer does not. (With more threads
# another one may wait for more lines, as of any pipe.)
if command -v timeout >/dev/null; then
    mkfifo slow
    (gzip -c keys; exec sleep 100) >slow &
    writer=$!
    timeout 60 "$BLOOMERY" query -q -j 1 k.bly slow
    echo $? >status
    : >out
    : >err
    status_is 'query -q of a pipe that stays open' 0
    kill $writer 2>/dev/null
    wait $writer 2>/dev/null
else
    skip 'a pipe that stays open' 'there is no timeout'
fi

for kind in 'compress:\037\235\220' 'lzip:LZIP\001' 'zip:PK\003\004' \
    '7-zip:7z\274\257\047\034'; do
    printf '%b\n' "$(printf '%s' "${kind#*:}" | sed 's/\\/\\0/g')" >other
    try query k.bly other
    refused "${kind%%:*} is known" "'other' is compressed by ${kind%%:*}, .*pipe"
done

# ---- other commands ---------------------------------------------------------
sed '$d' keys >less
gzip -c less >less.gz
for option in '-d 10' ''; do
    # shellcheck disable=SC2086  # options
    try sketch $option -o s.bly less.gz
    silent "sketch $option"
    try diff s.bly keys.gz
    out_is "sketch $option, diff" 1 "$(tail -n 1 keys)\n"
    try diff s.bly <keys.gz
    out_is "sketch $option, diff, stdin is a file" 1 "$(tail -n 1 keys)\n"
    # shellcheck disable=SC2002
    cat keys.gz | try diff s.bly
    out_is "sketch $option, diff, a pipe" 1 "$(tail -n 1 keys)\n"
done
head -c 5000 keys.gz >cut.gz
# shellcheck disable=SC2002
cat cut.gz | try diff s.bly
check 'diff names standard input, not its copy' grep -q \
    'standard input is damaged' err
gzip -c none >none.gz
try build -k cascade --without none.gz -o c.bly keys.gz
silent 'build --without'
keeps 'build --without names the line' "line [0-9]+ of 'keys.gz', line [0-9]+ of 'less.gz'" \
    c.bly build -k cascade --without less.gz -o c.bly keys.gz
try build -k counting -n 400000 -o r.bly keys.gz
try remove r.bly less.gz
silent 'remove'

# ---- what is no text --------------------------------------------------------
try query k.bly k.bly
refused 'a filter for keys' "'k.bly' is a filter, not a file of keys: "
keeps 'build of a filter' "'k.bly' is a filter" of.bly build -o of.bly k.bly
try query -0 k.bly k.bly
refused 'a filter for keys, -0' "'k.bly' is a filter"
try query k.bly <k.bly
refused 'a filter on stdin' "standard input is a filter"
try query --text -c k.bly k.bly
out_is '--text insists' 1 '0\n'
printf 'bloomery\nis a word\n' >word
try dedup word
out_is 'a list that begins with the word' 0 'bloomery\nis a word\n'
printf 'a\nb\0c\n' >nul
keeps 'NUL bytes' "'nul' is no text: it has NUL bytes: .* -0 .* --text" of.bly \
    build -o of.bly nul
try dedup nul
refused 'dedup of NUL bytes' "no text"
try dedup --text nul
out_is '--text takes them' 0 'a\nb\0c\n'
try dedup -0 nul
out_is '-0 wants them' 0 'a\nb\0c\n\0'
{ echo 1; head -c 200000 /dev/zero; } | gzip -c >nul.gz
keeps 'NUL bytes, compressed' "'nul.gz' is no text" of.bly build -o of.bly nul.gz

# ---- byte order marks -------------------------------------------------------
printf '\357\273\277one\ntwo\n' >bom
printf 'one\ntwo\n' >plain
try build -p 1e-9 -o w.bly plain
try query w.bly bom bom
out_is 'the mark of UTF-8 is no part of the first key' 0 'one\ntwo\none\ntwo\n'
try dedup plain bom
out_is 'dedup' 0 'one\ntwo\n'
# shellcheck disable=SC2002
cat bom | try dedup --exact - plain
out_is 'dedup --exact, of a pipe' 0 'one\ntwo\n'
printf '\357\273\277' >mark
try dedup mark plain
out_is 'the mark alone' 0 'one\ntwo\n'
gzip -c bom >bom.gz
try query w.bly bom.gz
out_is 'the mark, compressed' 0 'one\ntwo\n'
# shellcheck disable=SC2002
cat bom | dd bs=1 2>/dev/null | try query w.bly
out_is 'the mark, byte by byte' 0 'one\ntwo\n'
printf '\377\376o\0n\0e\0\n\0' >wide
try query w.bly wide
refused 'UTF-16' "'wide' is UTF-16 or UTF-32, .*iconv"
printf '\376\377\0o\0n\0e\0\n' >wide
try query w.bly wide
refused 'UTF-16, the other way round' "'wide' is UTF-16 or UTF-32, .*iconv"

# ---- CR LF ------------------------------------------------------------------
printf 'one\r\ntwo\r\n' >dos
try query w.bly dos dos
check 'CR LF: nothing is found' [ "$(cat status)" = 1 ]
check 'CR LF: one note says why' [ "$(grep -c 'CR LF.*--crlf' err)" = 1 ]
check 'CR LF: and no more' [ "$(wc -l <err)" = 1 ]
try build -o d.bly dos
note 'CR LF: build says it once, though it reads twice' 'CR LF.*--crlf'
try build -p 1e-9 --crlf -o d.bly dos
silent '--crlf'
check '--crlf: the filter is that of the plain keys' cmp -s d.bly w.bly
try query --crlf w.bly dos
out_is '--crlf: lines are printed as they are' 0 'one\r\ntwo\r\n'
try query --crlf w.bly plain
out_is '--crlf: a line without CR' 0 'one\ntwo\n'
for way in '' --exact --count; do
    # shellcheck disable=SC2086  # an option or none
    try dedup $way --crlf plain dos
    [ "$way" = --count ] || out_is "dedup $way --crlf" 0 'one\ntwo\n'
done
out_is 'dedup --count --crlf' 0 '2\tone\n2\ttwo\n'
printf '1,one\r\n2,two\r\n' >columns
try query -f 1 -t , w.bly columns
out_is 'CR LF behind another column is no news' 1 ''
try query --crlf -f 2 -t , w.bly columns
out_is '--crlf: the last column' 0 '1,one\r\n2,two\r\n'
try query --crlf -0 w.bly plain
refused '--crlf -0' '--crlf .* excludes -0: see'

# ---- --ignore-case, --trim --------------------------------------------------
printf 'ONE\nTwo\n three\t\n\303\204\n' >mixed
try query -i w.bly mixed
out_is '-i: lines are printed as they are' 0 'ONE\nTwo\n'
try query w.bly mixed
out_is 'without -i' 1 ''
printf 'one\ntwo\n three\t\n\303\244\n' >small
try build -i -p 1e-9 -o i.bly mixed
silent 'build -i'
try query -i -v i.bly small
out_is '-i: letters of UTF-8 stay what they are' 0 '\0303\0244\n'
try query -c -i --trim i.bly small
out_is '--trim: the filter has the blanks' 0 '2\n'
try build --trim -i -p 1e-9 -o t.bly mixed
printf '\t three  \n  one\n' >blank
try query --trim t.bly blank
out_is '--trim' 0 '\t three  \n  one\n'
printf 'x, ONE ,y\n' >table
try query -i --trim -f 2 -t , w.bly table
out_is 'in a column' 0 'x, ONE ,y\n'
printf ' \nq\n' >gap
try dedup --trim gap gap
out_is '--trim: nothing but blanks is the empty key' 0 ' \nq\n'
sed 's/^/Key/' keys >Keys
sed 's/^/ kEY/' keys >kEYS
for way in '-p 1e-9' --exact '--exact -M 1M' -c; do
    # shellcheck disable=SC2086  # options
    try dedup $way -i --trim Keys kEYS
    [ "$way" != -c ] || sed 's/^2	//' out >tmp
    [ "$way" != -c ] || mv tmp out
    check "dedup $way -i --trim" cmp -s out Keys
    # shellcheck disable=SC2086
    cat Keys kEYS | try dedup $way -i --trim
    [ "$way" != -c ] || sed 's/^2	//' out >tmp
    [ "$way" != -c ] || mv tmp out
    check "dedup $way -i --trim of a pipe" cmp -s out Keys
done
for kind in 'sketch -d 10' 'sketch -d 10 --whole 16' 'build -p 1e-9'; do
    # shellcheck disable=SC2086  # options
    try $kind -i --trim -o s.bly Keys
    silent "$kind -i --trim"
    try diff -i --trim s.bly kEYS
    out_is "$kind -i --trim, diff" 0 ''
done
try build -k cascade -i --without none -o c.bly Keys
silent 'build --without -i'
keeps 'build --without -i: the key in common' "'key[0-9]+' is among .*line [0-9]+ of 'Keys'" \
    c.bly build -k cascade -i --trim --without kEYS -o c.bly Keys
printf '7\nx\n' >numbers
keeps 'a wrong key is found in its line' "line 2 of 'numbers': 'x'" c.bly \
    build -i -H decimal -o c.bly numbers
printf 'A\t1\nb\t2\n' >labels
try build -i -k bloomier:bits=8 -l 2 -o l.bly labels
silent 'labels, -i'
printf 'a\nB\n' >asked
try get -i l.bly asked
out_is 'get -i' 0 '1\ta\n2\tB\n'
finish
