# input.sh - typical odd files: binary, with CR LF and byte order marks, in
# capitals or between blanks.
# shellcheck source=lib.sh
. "$1/lib.sh"

seq 1 "$(work 300000 40000)" >keys
sed 's/^/no/' keys >none
try build -p 1e-9 -o k.bly keys
silent 'build'
cp k.bly of.bly

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
keeps 'NUL bytes' "'nul' is not text, because it has NUL bytes: .* -0 .* --text" of.bly \
    build -o of.bly nul
try dedup nul
refused 'dedup of NUL bytes' "is not text"
(echo a; sleep 0.2; printf 'b\0c\n') | try build -n 10 -o none.bly
refused 'NUL bytes in a second piece of a pipe' "is not text"
try dedup --text nul
out_is '--text takes them' 0 'a\nb\0c\n'
try dedup -0 nul
out_is '-0 wants them' 0 'a\nb\0c\n\0'

# ---- byte order marks -------------------------------------------------------
printf '\357\273\277one\ntwo\n' >bom
printf 'one\ntwo\n' >plain
try build -p 1e-9 -o w.bly plain
try query w.bly bom bom
out_is 'the mark of UTF-8 is no part of the first key' 0 'one\ntwo\none\ntwo\n'
try dedup plain bom
out_is 'dedup' 0 'one\ntwo\n'
# shellcheck disable=SC2002
cat bom | try dedup - plain
out_is 'dedup, of a pipe' 0 'one\ntwo\n'
printf '\357\273\277' >mark
try dedup mark plain
out_is 'the mark alone' 0 'one\ntwo\n'
# shellcheck disable=SC2002
cat bom | dd bs=1 2>/dev/null | try query w.bly
out_is 'the mark, byte by byte' 0 'one\ntwo\n'
printf '\377\376o\0n\0e\0\n\0' >wide
try query w.bly wide
refused 'UTF-16' "'wide' is UTF-16 or UTF-32, .*iconv"
printf '\376\377\0o\0n\0e\0\n' >wide
try query w.bly wide
refused 'UTF-16, the other way round' "'wide' is UTF-16 or UTF-32, .*iconv"

# ---- blank lines and comments -----------------------------------------------
printf '# a list\n\na.example # why\n \t\nb.example\t#\n  # more\nc#d\n#\n' >blocked
printf 'a.example\nb.example\nc#d\n' >hosts
try build -o list.bly blocked
note 'comments that are keys' "begin with '#' and are keys .use --comment"
try build -o hosts.bly -n 10 hosts
try build -o list.bly -n 10 --skip-blank --comment '#' blocked
silent '--skip-blank --comment'
check '--skip-blank --comment: the filter of the keys alone' \
    cmp -s hosts.bly list.bly
try query --skip-blank --comment '#' list.bly blocked
out_is '--comment: lines are printed as they are' 0 \
    'a.example # why\nb.example\t#\nc#d\n'
try query -v --skip-blank --comment '#' list.bly blocked
out_is 'query -v: what is skipped is not printed' 1 ''
try query -vc --skip-blank --comment '#' list.bly blocked
out_is 'query -vc: what is skipped is not counted' 1 '0\n'
try query -c --skip-blank list.bly blocked
out_is '--skip-blank alone: comments are keys' 0 '1\n'
try query -c --comment '#' list.bly blocked
out_is '--comment alone' 0 '3\n'
try join --comment '#' --skip-blank hosts blocked
out_is 'join: a list with comments' 0 'a.example\nb.example\nc#d\n'
try join hosts blocked
note 'join: a list with comments, as keys' 'use --comment'
try dedup --comment '#' --skip-blank blocked
out_is 'dedup: what is skipped stays' 0 "$(sed 's/\\/\\\\/g' blocked |
    awk '{ printf "%s\\n", $0 }')"
printf '# c\n\n0.0.0.0 a.b\n' >columns
lacks_nothing() {
    for job in 'build -n 10 -o columns.bly columns' 'add columns.bly columns' \
        'query columns.bly columns' 'dedup columns' \
        'dedup -a -n 10 columns' 'join columns columns' \
        'sketch -o columns.sketch --force columns' \
        'build --json -o columns.bly columns'; do
        # shellcheck disable=SC2086  # words
        try $job --comment '#' --skip-blank -f 2 "$@"
        check "$job $*: what is skipped lacks no column" \
            sh -c '! grep "no such column" err'
    done
    check "build --json $*: what is skipped" grep -q '"keyless": 0' out
}
lacks_nothing --blanks
lacks_nothing -t ' '
lacks_nothing --csv -t ' '
printf '# c\n\n1 k 2\nshort\n' >columns
try build --comment '#' --skip-blank --blanks -f 2 -n 10 -o columns.bly columns
note 'a line without the column is counted beside what is skipped' \
    '1 line has no such column'
try dedup --comment '#' --skip-blank --blanks -f 2 columns
note 'dedup: a line without the column is counted beside what is skipped' \
    '1 line has no such column'
try query --line-number --comment '#' --skip-blank --blanks -f 2 columns.bly columns
out_is 'skipped lines have numbers' 0 '3:1 k 2\n'
printf '// x\nk // y\n' >slashes
try build -o slashes.bly -n 10 --comment // slashes
try query -c --key k slashes.bly
out_is '--comment of two bytes' 0 '1\n'
printf '1,"a # b",x\n# no "record"\n' >commented.csv
try build -o csv.bly -n 10 --csv -f 2 --comment '#' commented.csv
try query --key 'a # b' csv.bly
out_is '--comment in CSV: at the start of a line only' 0 'a # b\n'
check '--comment in CSV: a note about lines without the column' \
    [ "$(try build -o csv.bly -n 10 --csv -f 2 commented.csv; cat status)" = 0 ]
try build -o no.bly --comment '#' commented.csv --csv -f 4
refused 'no line has the column, or is no comment' 'no line has column 4: check -f and -t$'
printf '# only\n\n' >remarks
try build -o no.bly --comment '#' --skip-blank remarks
refused 'only comments' 'no line has a key: .*--skip-blank and --comment'
try build -o no.bly --comment '' blocked
refused 'an empty --comment' '--comment is empty'
try dedup --json-field k --skip-blank blocked
refused '--skip-blank of JSON' 'cannot be used with --skip-blank'
printf 'x\r\n\r\ny # z\r\n' >dosed
try build -o dosed.bly -n 10 --skip-blank --comment '#' dosed
try query -c --key y --key x --key '' dosed.bly
out_is '--skip-blank and --comment of CR LF' 0 '2\n'

# ---- CR alone ---------------------------------------------------------------
printf 'id,a\r1,x\r2,"y\rz"\r3,x\r' >mac.csv
tr '\r' '\n' <mac.csv >unix.csv
for way in '--csv -f a' '--csv --header' '-c --csv -f 1,2' \
    '--csv -f a -M 1M'; do
    # shellcheck disable=SC2086
    "$BLOOMERY" dedup $way unix.csv >want
    # shellcheck disable=SC2086
    try dedup $way mac.csv
    check "CR alone: dedup $way as with newlines" cmp -s want out
    note "CR alone: dedup $way: a note" "'mac.csv' end with a CR alone"
    # shellcheck disable=SC2086
    "$BLOOMERY" dedup $way <unix.csv >want
    # shellcheck disable=SC2002,SC2086
    dd bs=1 2>/dev/null <mac.csv | try dedup $way
    check "CR alone: dedup $way, from a pipe byte by byte" cmp -s want out
done
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "%d\r", i % 50000 }' >mac
awk 'BEGIN { for (i = 0; i < 50000; i++) print i }' >want
for way in '' '-M 1M' '-j 1'; do
    # shellcheck disable=SC2086
    try dedup $way mac
    check "CR alone: dedup $way of many lines" cmp -s want out
    # shellcheck disable=SC2002,SC2086
    cat mac | try dedup $way
    check "CR alone: dedup $way of many lines from a pipe" cmp -s want out
done
{ cat mac; echo; } >want
for way in --text --keep-cr -0; do
    try dedup $way mac
    case $way in
    -0) { cat mac; printf '\0'; } >want ;;
    esac
    check "CR alone, $way: one line" cmp -s want out
done
printf 'a\r' >one
try dedup one
out_is 'a CR at the end of the only line is not CR alone' 0 'a\r\n'
printf '\357\273\277a\rb\ra\r' >marked
try dedup marked
check 'CR alone, behind a byte order mark' sh -c 'printf "a\nb\n" | cmp - out'
{ cat mac; printf 'b\n'; } >turned
try dedup -c turned
check 'CR alone, and a newline far behind it' [ "$(cat status)" = 2 ]
check 'CR alone, and a newline far behind it: says so' grep -q \
    "first lines of 'turned' end with a CR alone, and later ones .*tr" err

printf 'a\rb\rc\n' >within
try build -o within.bly within
note 'a CR within a line: a note' "'within' contain a CR, .*: .*tr"
try query within.bly within
check 'a CR within a line is part of the key' cmp -s within out
try build -o within.bly --text within
silent 'a CR within a line, --text'

# ---- CR LF ------------------------------------------------------------------
printf 'one\r\ntwo\r\n' >dos
try build -p 1e-9 --as any -o any.bly plain
try query any.bly dos dos
check 'CR LF: nothing is found' [ "$(cat status)" = 1 ]
check 'CR LF: one note says why' [ "$(grep -c 'CR LF.*--crlf' err)" = 1 ]
check 'CR LF: and no more' [ "$(wc -l <err)" = 1 ]
try build --as any -o d.bly dos
note 'CR LF: build says it once, though it reads twice' 'CR LF.*--crlf'
try build -p 1e-9 --as any --crlf -o d.bly dos
silent '--crlf'
check '--crlf: the filter is that of the plain keys' cmp -s d.bly any.bly
try query --crlf any.bly dos
out_is '--crlf: lines are printed as they are' 0 'one\r\ntwo\r\n'
try query --crlf any.bly plain
out_is '--crlf: a line without CR' 0 'one\ntwo\n'
try build -p 1e-9 -o d.bly dos
silent 'CR LF is no part of keys'
check 'CR LF: the filter is that of the plain keys' cmp -s d.bly w.bly
try query w.bly dos
out_is 'CR LF: lines are printed as they are' 0 'one\r\ntwo\r\n'
check 'CR LF: there is nothing to note' [ ! -s err ]
try query d.bly plain
out_is 'CR LF: a line without CR' 0 'one\ntwo\n'
try build -p 1e-9 --keep-cr -o kept.bly dos
try query kept.bly plain
out_is '--keep-cr: the CR is part of the key' 1 ''
try query kept.bly dos
out_is '--keep-cr: and the filter knows it' 0 'one\r\ntwo\r\n'
try query --keep-cr w.bly dos
refused '--keep-cr: not of another filter' "'w.bly' has keys of the form text, \
which differs from --keep-cr"
try query --crlf kept.bly dos
refused '--crlf: not of a filter with CRs' 'text:keep-cr, which differs from --crlf'
for way in '' --count; do
    # shellcheck disable=SC2086  # an option or none
    try dedup $way plain dos
    [ "$way" = --count ] || out_is "dedup $way: CR LF" 0 'one\ntwo\n'
done
out_is 'dedup --count: CR LF' 0 '2\tone\n2\ttwo\n'
try dedup --keep-cr plain dos
out_is 'dedup --keep-cr' 0 'one\ntwo\none\r\ntwo\r\n'
printf '1,one\r\n2,two\r\n' >columns
try query -f 1 -t , w.bly columns
out_is 'CR LF behind another column is no news' 1 ''
try query -f 2 -t , w.bly columns
out_is 'CR LF: the last column' 0 '1,one\r\n2,two\r\n'

# ---- --ignore-case, --trim --------------------------------------------------
printf 'ONE\nTwo\n three\t\n\303\204\n' >mixed
try query -i any.bly mixed
out_is '-i: lines are printed as they are' 0 'ONE\nTwo\n'
try query w.bly mixed
out_is 'without -i' 1 ''
printf 'one\ntwo\n three\t\n\303\244\n' >small
try build -i -p 1e-9 -o i.bly mixed
silent 'build -i'
try query -i -v i.bly small
out_is '-i: letters of UTF-8 stay what they are' 0 '\0303\0244\n'
try build -p 1e-9 -i --as any -o any-i.bly mixed
try query -c -i --trim any-i.bly small
out_is '--trim: the filter has the blanks' 0 '2\n'
try build --trim -i -p 1e-9 -o t.bly mixed
printf '\t three  \n  one\n' >blank
try query --trim t.bly blank
out_is '--trim' 0 '\t three  \n  one\n'
printf 'x, ONE ,y\n' >table
try query -i --trim -f 2 -t , any.bly table
out_is 'in a column' 0 'x, ONE ,y\n'
printf ' \nq\n' >gap
try dedup --trim gap gap
out_is '--trim: nothing but blanks is the empty key' 0 ' \nq\n'
sed 's/^/Key/' keys >Keys
sed 's/^/ kEY/' keys >kEYS
for way in "--approximate -p 1e-9" '' '-M 1M' -c; do
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
for kind in 'sketch --differences 10' 'sketch --differences 10 --whole 16' 'build -p 1e-9'; do
    # shellcheck disable=SC2086  # options
    try $kind -i --trim -o s.bly Keys
    silent "$kind -i --trim"
    try diff -i --trim s.bly kEYS
    out_is "$kind -i --trim, diff" 0 ''
done
try build -k cascade -i --without none -o c.bly Keys
silent 'build --without -i'
keeps 'build --without -i: the key in common' "'key[0-9]+' is both .*line [0-9]+ of 'Keys'" \
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
