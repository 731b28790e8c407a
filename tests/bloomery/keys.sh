# keys.sh - the definition of a key: lines, line ends, columns, long and empty
# ones.
# shellcheck source=lib.sh
. "$1/lib.sh"

# A rate too low for false positives to disturb tests.
build() {
    try build -p 1e-9 -o k.bly "$@"
}

# ---- newline ----------------------------------------------------------------
printf 'one\ntwo\nthree' >unended
build unended
silent 'build says nothing'
try query k.bly unended
out_is 'the last line keeps its missing newline' 0 'one\ntwo\nthree'
printf 'one\ntwo\nthree\n' >ended
try query k.bly ended
out_is 'equal keys with a newline at the end' 0 'one\ntwo\nthree\n'
try query k.bly unended unended
out_is 'lines of the next file do not stick to an unended one' 0 \
    'one\ntwo\nthree\none\ntwo\nthree'
printf 'one' >single
try query k.bly single
out_is 'a line without newline' 0 'one'
: >empty
try query k.bly empty
out_is 'a file of 0 bytes has no line' 1 ''
try query k.bly unended empty ended
out_is 'an empty file among others' 0 'one\ntwo\nthree\none\ntwo\nthree\n'

# ---- NUL, CR, empty keys ----------------------------------------------------
printf 'a\nb\0c\0d' >null
build -0 null
try query -0 k.bly null
out_is '-0: a newline is part of a key' 0 'a\nb\0c\0d'
printf 'c\0b\0' >other
try query --null k.bly other
out_is '--null: only the whole key is found' 0 'c\0'
printf 'a\0b\n' >inside
build --text inside
try query --text k.bly inside
out_is 'a NUL inside a line is an ordinary byte' 0 'a\0b\n'
printf 'a\n' >plain
try query k.bly plain
out_is 'a key does not end at a NUL' 1 ''
printf 'a\r\n' >dos
build --text --keep-cr dos
try query --text k.bly dos
out_is 'CR is an ordinary byte: found with it' 0 'a\r\n'
try query k.bly plain
out_is 'CR is an ordinary byte: not found without it' 1 ''
printf '\377\376\200\n' >bytes
build bytes
try query k.bly bytes
out_is 'bytes that are no text are keys' 0 '\0377\0376\0200\n'
printf 'x\n\ny\n' >gap
build gap
printf '\n' >newline
try query k.bly newline
out_is 'an empty line is a key, the empty one' 0 '\n'
printf 'x\ny\n' >nogap
build nogap
try query k.bly newline
out_is 'the empty key is not always there' 1 ''

# ---- columns ----------------------------------------------------------------
printf '1\tred\tx\n2\tgreen\n3\n4\t\tz\n' >table
printf 'red\n\n' >colours
build colours
try query -f 2 k.bly table
out_is '-f 2: columns are parted by TAB, whole lines are printed' 0 \
    '1\tred\tx\n4\t\tz\n'
try query -f 2 -v k.bly table
out_is '-f -v: a line without the column is not there' 0 '2\tgreen\n3\n'
printf 'a,red\nb,blue\n' >csv
try query --field 2 --separator , k.bly csv
out_is '--field, --separator' 0 'a,red\n'
try query -f2 -t '\x2c' k.bly csv
out_is '-t \xHH' 0 'a,red\n'
printf 'a\0red\nb\0blue\n' >nulcsv
try query -f 2 -t '\0' k.bly nulcsv
out_is '-t \0' 0 'a\0red\n'
printf 'a\tred\n' >tab
try query -f 2 -t '\t' k.bly tab
out_is '-t \t' 0 'a\tred\n'
printf 'a\\red\n' >backslash
# shellcheck disable=SC1003
try query -f 2 -t '\\' k.bly backslash
out_is '-t backslash' 0 'a\\red\n'
try query -f 1 -t ' ' k.bly colours
out_is '-f 1 of a line with no separator is the line' 0 'red\n\n'
build -n 10 -f 2 table
note 'build: lines without the column are counted' '1 line has no such column'
printf 'green\n3\n' >ask
try query k.bly ask
out_is 'build -f takes the column' 0 'green\n'
try build --json -f 2 -o j.bly table
out_has 'build --json: keys without the skipped line' 0 '"items": 3,'
printf '9\tpink\n10\n11\n' >short
try add -f 2 k.bly short
note 'add: lines without the column are counted' '2 lines have no such column'
printf 'pink\n' >pink
try query k.bly pink
out_is 'add -f takes the column' 0 'pink\n'

# ---- where keys come from ---------------------------------------------------
try build -p 1e-9 -o k.bly <ended
silent 'keys of stdin that is a file are counted'
try query k.bly <unended
out_is 'and all found' 0 'one\ntwo\nthree'
try query k.bly - single <ended
out_is '- is standard input' 0 'one\ntwo\nthree\none'
# shellcheck disable=SC2002
cat ended | try build -p 1e-9 -n 3 -o k.bly
silent 'keys of a pipe with -n'
# shellcheck disable=SC2002
cat ended | try query k.bly -
out_is 'query from a pipe' 0 'one\ntwo\nthree\n'
printf 'four\n' >-dash
try query -c k.bly -- -dash ended
out_is '-- ends the options' 0 '3\n'
try query k.bly ended -c
out_is 'options may follow operands' 0 '3\n'

# ---- long lines, many lines -------------------------------------------------
long() {
    head -c 5000000 /dev/zero | tr '\0' "$1"
}
{ echo before; long x; echo; long y; echo; echo after; } >lines
build lines
silent 'lines of 5 MB'
{ long x; echo z; long z; echo; long x; echo; } >ask
try query k.bly ask
{ long x; echo; } >want
check 'finds the right one of three 5 MB lines' cmp want out
try query -c k.bly lines
out_is 'all of them found' 0 '4\n'
awk 'BEGIN { for (i = 0; i < 300000; i++) print "key", i, i * i }' >many
build many
try query k.bly many
check 'lines across many blocks come back as they were' cmp many out
awk 'BEGIN { for (i = 0; i < 300000; i++) print (i % 3 ? "no" : "key"), i, i * i }' \
    >mixed
awk 'NR % 3 == 1' mixed >want
try query k.bly mixed
check 'the right ones of many' cmp want out
awk 'NR % 3 != 1' mixed >want
try query -v k.bly mixed
check 'and with -v the others' cmp want out
awk 'BEGIN { for (i = 0; i < 100000; i++) print "\t" i "\t" }' >columns
awk 'BEGIN { for (i = 0; i < 100000; i += 2) print i }' >even
build even
awk 'NR % 2 == 1' columns >want
try query -f 2 k.bly columns
check 'columns across many blocks' cmp want out

finish
