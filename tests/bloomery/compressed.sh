# compressed.sh - compressed keys are decompressed, or refused.
# shellcheck source=lib.sh
. "$1/lib.sh"

seq 1 "$(work 300000 20000)" >keys
sed 's/^/no/' keys >none
cat keys none >both
n=$(wc -l <keys)
total=$(wc -l <both)
try build -p 1e-9 -o k.bly keys
silent 'build'

# ---- what is known, and not read ---------------------------------------------
for kind in 'compress:\037\235\220' 'lzip:LZIP\001' 'zip:PK\003\004' \
    '7-zip:7z\274\257\047\034'; do
    printf '%b\n' "$(printf '%s' "${kind#*:}" | sed 's/\\/\\0/g')" >other
    try query k.bly other
    refused "${kind%%:*} is known" "'other' is compressed by ${kind%%:*}, .*pipe"
done
gzip -c keys >keys.gz
try query k.bly keys.gz
if [ "$(cat status)" = 2 ]; then      # built without BLY_DECOMPRESS
    refused 'gzip is known' "'keys.gz' is compressed by gzip, which is not supported"
    finish
fi

# ---- compressed: every format, every way in ---------------------------------
# format NAME COMMAND...: the checks for what COMMAND writes to stdout, which is
# compressed by NAME.
format() {
    format=$1
    shift
    title=$1
    if ! command -v "$1" >/dev/null; then
        skip "$title" "there is no $1"
        return
    fi
    "$@" <keys >one
    "$@" <none >two
    "$@" </dev/null >zero
    cat one zero two >members
    try query k.bly one
    check "$title: query prints the lines" cmp -s out keys
    for file in one members; do
        wanted=$n
        cp keys plain
        [ $file = one ] || cp both plain
        try query -c k.bly $file
        out_is "$title: query $file" 0 "$wanted\n"
        try query -c k.bly <$file
        out_is "$title: query, stdin is a file, $file" 0 "$wanted\n"
        # shellcheck disable=SC2002  # a pipe is what is tested
        cat $file | try query -c k.bly
        out_is "$title: query, a pipe, $file" 0 "$wanted\n"
        # shellcheck disable=SC2002
        cat $file | dd bs=7 2>/dev/null | try query -c k.bly
        out_is "$title: query, some bytes at a time, $file" 0 "$wanted\n"
        for way in '' '--approximate -p 1e-9'; do
            # shellcheck disable=SC2086  # options or none
            try dedup $way $file
            check "$title: dedup $way $file" cmp -s out plain
        done
        try dedup <$file
        check "$title: dedup, stdin is a file, $file" cmp -s out plain
        # shellcheck disable=SC2002
        cat $file | try dedup
        check "$title: dedup, a pipe, $file" cmp -s out plain
    done
    try build -p 1e-9 -o of.bly one
    silent "$title: build counts its keys"
    try build -p 1e-9 -o in.bly <one
    silent "$title: build counts those of stdin"
    check "$title: the filter is that of the keys" cmp -s k.bly of.bly
    check "$title: and that of stdin too" cmp -s k.bly in.bly
    # shellcheck disable=SC2002
    cat one | try build -p 1e-9 -o no.bly
    refused "$title: keys of a pipe are not counted" 'give their maximum .* -n'
    try build -k fuse -o fuse.bly one
    silent "$title: build of a kind that is built at once"
    try build -p 1e-9 -n "$total" -o both.bly two
    try add both.bly one
    silent "$title: add"
    try query -c both.bly both
    out_is "$title: what was added is there" 0 "$total\n"
    size=$(wc -c <one)
    for cut in 3 $((size / 2)) $((size - 1)); do
        head -c "$cut" one >short
        [ "$cut" -ge 10 ] || [ "$format" = gzip ] || continue
        keeps "$title: build of $cut bytes" "'short' is damaged: .* cut short: " \
            of.bly build -o of.bly short
        try query -c k.bly short
        status_is "$title: query of $cut bytes" 2
        check "$title: and it names the file" grep -q "'short' is damaged" err
        # shellcheck disable=SC2002
        cat short | keeps "$title: build, a pipe of $cut bytes" \
            'standard input is damaged' of.bly build -n 1M -o of.bly
    done
    cp one bad
    printf 'XXXXXXXXXXXXXXXX' |
        dd of=bad bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
    # bzip2 prints damaged text before it reports the damage.
    keeps "$title: damaged in the middle" "'bad' is (damaged:|not text)" of.bly \
        build -o of.bly bad
    { cat one; echo garbage; } >bad
    keeps "$title: garbage behind the end" \
        "'bad' is damaged: the data compressed by $format is followed" of.bly \
        build -o of.bly bad
    { cat one; head -c 1000 /dev/zero; } >padded
    try query -c k.bly padded
    out_is "$title: zeros behind the end are none" 0 "$n\n"
    try dedup bad
    status_is "$title: dedup of what is damaged" 2
    check "$title: dedup says so" grep -q "'bad' is damaged" err
    size=$(wc -c <out)
    head -c "$size" keys >plain
    check "$title: dedup prints lines before the damage" cmp -s out plain
    try dedup -c one
    check "$title: dedup -c reads once" [ "$(wc -l <out)" = "$n" ]
    try query -q k.bly one none
    silent "$title: query -q stops early"
    try query --no-decompress k.bly one
    refused "$title: --no-decompress leaves no text" "'one' is not text"
    try dedup --no-decompress --text one
    cp out bytes
    try dedup --no-decompress --text bytes
    check "$title: and --text takes its bytes" cmp -s out bytes
    check "$title: which are few" [ "$(wc -c <out)" -le $((size + 1)) ]
}
format gzip gzip -c
format zstd zstd -qc
format xz xz -0c
format bzip2 bzip2 -c
format lz4 lz4 -qc
# Their members state their sizes, and are decompressed by several threads.
format gzip bgzip -c
format 'zstd or lz4' pzstd -qcp 2

# A member of bgzip may be followed by one of gzip, which states no size. Its
# size may be wrong, which matters to no other program.
if command -v bgzip >/dev/null; then
    { bgzip -c keys; gzip -c none; bgzip -c keys; } >mixed
    cat keys none keys | gzip -c >like
    try query k.bly mixed
    cp out plain
    try query k.bly like
    check 'members with and without sizes' cmp -s out plain
    bgzip -c keys >wrong
    printf '\000\100' | dd of=wrong bs=1 seek=16 conv=notrunc 2>/dev/null
    cat wrong wrong >wrongs
    try query -c k.bly wrongs
    out_is 'wrong sizes' 0 "$((2 * n))\n"
    tail -c 5000 wrong | cat wrong - >wrongs
    keeps 'damage behind a wrong size' "'wrongs' is damaged" \
        of.bly build -o of.bly wrongs
    try query -q k.bly mixed
    silent 'query -q of them stops early'
else
    skip 'members with and without sizes' 'there is no bgzip'
fi

# Skippable frames may begin a file of either format.
for format in zstd lz4; do
    if ! command -v $format >/dev/null; then
        skip "$format behind what is to be skipped" "there is no $format"
        continue
    fi
    $format -qc <keys >one
    for first in '\0120' '\0132' '\0137'; do
        printf '%b\052\115\030\003\0\0\0abc' "$first" >frame
        cat frame frame one frame one frame >framed
        try query -c k.bly framed
        out_is "$format: frames $first that are to be skipped" 0 "$((2 * n))\n"
    done
    # Numbers that pzstd would write there, as a size, mean something else.
    for number in '\01\0\0\0' '\011\0\0\0' '\0377\0\0\0' 'abcd'; do
        printf 'P\052\115\030\004\0\0\0%b' "$number" >numbered
        cat numbered one numbered one >framed
        try query -c k.bly framed
        out_is "$format: behind the number $number" 0 "$((2 * n))\n"
    done
    { cat frame one; echo garbage; } >framed
    keeps "$format: garbage behind them" "'framed' is damaged: .* followed" \
        of.bly build -o of.bly framed
    head -c 5000 framed >cut
    keeps "$format: cut behind them" "'cut' is damaged: .* cut short" \
        of.bly build -o of.bly cut
done
printf 'a*M\030\003\0\0\0abc\n' >near
try dedup --text near
check 'bytes that are nearly such a frame' cmp -s out near

# Decompression needs a pipe.
# shellcheck disable=SC3045
(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    ulimit -n 4 && exec "$BLOOMERY" dedup keys.gz) >out 2>err
echo $? >status
refused 'too many open files' "cannot read 'keys.gz': .*ulimit -n"

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
check 'prints decompressed lines' cmp -s out keys
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

# A reader that stops early ends even if its writer does not.
if command -v timeout >/dev/null; then
    mkfifo slow
    (gzip -c keys; exec sleep 100) >slow &
    writer=$!
    timeout 60 "$BLOOMERY" query -q -j 4 k.bly slow
    echo $? >status
    : >out
    : >err
    status_is 'query -q of a pipe that stays open' 0
    kill $writer 2>/dev/null
    wait $writer 2>/dev/null
else
    skip 'a pipe that stays open' 'there is no timeout'
fi

# ---- other commands ---------------------------------------------------------
sed '$d' keys >less
gzip -c less >less.gz
for option in '--differences 10' ''; do
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

# ---- what is no text, compressed ---------------------------------------------
{ echo 1; head -c 200000 /dev/zero; } | gzip -c >nul.gz
keeps 'NUL bytes' "'nul.gz' is not text" of.bly build -o of.bly nul.gz
printf '\357\273\2771\n2\n' | gzip -c >bom.gz
try query k.bly bom.gz
out_is 'a byte order mark' 0 '1\n2\n'
# A line larger than the memory limit; sanitizers alone exceed the limit.
if command -v gzip >/dev/null \
    && (ulimit -v 300000 && "$BLOOMERY" --version >/dev/null 2>&1); then
    head -c 300000000 /dev/zero | tr '\0' a | gzip -1 >bomb
    (
        ulimit -v 300000
        try dedup -j 1 bomb
        refused 'a line that is too long for the memory' \
            "a line of 'bomb' does not fit in memory"
    )
else
    skip 'a line that is too long for the memory' 'no gzip, or no such limit'
fi

finish
