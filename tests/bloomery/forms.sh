# forms.sh - keys written as text that stand for other bytes: --as.
. "${1:?}/lib.sh"

# same NAME FORM TEXT DIGITS: TEXT in that form is the key with these bytes.
same() {
    printf '%s\n' "$3" >text
    printf '%s\n' "$4" >digits
    try build --force --as "$2" -k standard -n 10 -o text.bly text
    try build --force --as hex -k standard -n 10 -o digits.bly digits
    tail -c +129 text.bly >text.payload
    tail -c +129 digits.bly >digits.payload
    check "$1" cmp text.payload digits.payload
}

same 'int32' int32 258 02010000
same 'int32: negative' int32 -1 ffffffff
same 'int32: the least' int32 -2147483648 00000080
same 'int32: without a sign' int32 4294967295 ffffffff
same 'int64' int64 258 0201000000000000
same 'int64: the least' int64 -9223372036854775808 0000000000000080
same 'int64: the most' int64 18446744073709551615 ffffffffffffffff
same 'float' float 1.5 0000c03f
same 'double' double -2 00000000000000c0
same 'double: with an exponent' double 1e3 0000000000408f40
same 'number' number 258 0201000000000000
same 'number: the least' number -9223372036854775808 0000000000000080
same 'number: 1.0 is 1' number 1.0 0100000000000000
same 'number: 1e3 is 1000' number 1e3 e803000000000000
same 'number: -0.0 is 0' number -0.0 0000000000000000
same 'number: no integer' number -2.5 00000000000004c0
same 'number: beyond int64' number 9223372036854775808 000000000000e043
same 'number: none' number nan 000000000000f87f
same 'utf16' utf16 Aé 4100e900
same 'utf16: two units' utf16 😀 3dd800de
same 'hex: with 0x' hex 0xDEADbeef deadbeef
same 'hex: nothing' hex '' ''
same 'hex: blanks between bytes, and around' hex ' de ad  beef ' deadbeef
same 'hex: marked by sha1sum' hex '\DEADbeef' deadbeef
same 'int32: blanks around' int32 ' 7 ' 07000000
same 'int64: as in a file from Windows' int64 "7$(printf '\r')" 0700000000000000
same 'double: blanks around' double ' 1.5 ' 000000000000f83f

# Text that does not fit the form is not a key. Blanks around it, and between
# hex bytes, are ignored.
none() {
    printf '%s\n' "$3" 12 >text
    try build --force --as "$2" -k standard -n 10 -o x.bly text
    err_has "$1" 'no key of the form '"$2"
}

err_has() {
    if [ "$(cat status)" = 0 ] && grep -q "$2" err; then
        pass "$1"
    else
        fail "$1" "$(details)"
    fi
}

for text in 4294967296 -2147483649 x '' 1x - 1.0; do
    none "int32: '$text'" int32 "$text"
done
for text in 18446744073709551616 -9223372036854775809 '1 2'; do
    none "int64: '$text'" int64 "$text"
done
for text in 1x '' '1 2' .; do
    none "double: '$text'" double "$text"
done
for text in abc 0g 'a b'; do
    none "hex: '$text'" hex "$text"
done
printf '12\n\377\n\355\240\200\n\300\200\n\360\217\277\277\n' >text
try build --force --as utf16 -k standard -n 10 -o x.bly text
err_has 'utf16: no UTF-8' '^bloomery build: note: 4 lines have no key .*line 2 of'

# A query reports such lines as an error at the end, after answering the others;
# with -q a member found first is enough.
printf '%s\n' 12 zz 13 >text
try build --as hex -k standard -n 10 -o hex.bly --key 12
try query --as hex hex.bly text
check 'query: the others are answered' test "$(cat out)" = 12
status_is 'query: a key that could not be read' 2
check 'query: and which' grep -q 'line 2 of .text.: check it, or --as' err
try query -v --as hex hex.bly text
status_is 'query -v: a key that could not be read' 2
try query -q --as hex hex.bly text
status_is 'query -q: found before' 0
try query -q --as hex hex.bly --key zz
status_is 'query: --key that could not be read' 2

# The form applies to keys from every source: columns, quotes, JSON, NULs, the
# command line.
printf '258\n7\n' >numbers
try build --force --as int32 -k standard -n 10 -o n.bly numbers
printf 'a,258\nb,"7"\nc,8\n' >t.csv
try query --csv -f 2 --as int32 n.bly t.csv
out_is 'a column' 0 'a,258\nb,"7"\n'
printf '{"k":258}\n{"k":"7"}\n{"k":9}\n' >t.json
try query --json-field k --as int32 n.bly t.json
out_is 'a member' 0 '{"k":258}\n{"k":"7"}\n'
printf '258\0007\0008' >t.nul
try query -c -0 --as int32 n.bly t.nul
out_is 'NULs, and no last one' 0 '2\n'
try query -c --as int32 --key 258 --key 8 n.bly
out_is 'the command line' 0 '1\n'
printf ' 258 \n' >t.blank
try query -c --trim --as int32 n.bly t.blank
refused 'numbers cannot be trimmed' 'for keys that are text: they cannot be'
printf 'AB\n' >t.hex
try build --as hex -p 1e-9 -o ab.bly --key ab
try query -c ab.bly t.hex
out_is 'digits have no case' 0 '1\n'
for option in -i '-i --unicode' --upper --trim --keep-cr; do
    for file in ab.bly n.bly; do
        # shellcheck disable=SC2086  # words
        try query $option $file --key 7
        refused "$option: $file has no text" \
            "'$file' has keys of the form [a-z0-9]*, which differs from --*[a-z]"
    done
done
seq 100000 >many
try build --force --as int64 -o many.bly many
try query -c --as int64 many.bly many
out_is 'many, in every batch' 0 '100000\n'
try query -c --as int32 many.bly many
refused 'other bytes are other keys' "'many.bly' has keys of the form int64, \
which differs from --as"
try dedup --as int32 -c numbers
printf '07\n7\n+7\n' >sevens
try dedup --as int32 sevens
out_is 'dedup: what they stand for' 0 '07\n'

try query --as int n.bly numbers
refused 'no such form' "not a class of keys: give one of any bytes text number"

# Keys of another system.
printf '%s\n' 99108ad8ed9bb6274d3980bab5a85c048f0950c8 \
    b5a2c786d9ef4658287ced5914b37a1b4aa32eee \
    b9300670b4c5366e95b2699e8b18bc75e5f729c5 >scripts
try build --as hex -k bip37:flags=1 -n 3 -p 0.01 -o scripts.bip37 scripts
check "the message of Bitcoin's own test" \
    test "$(od -An -tx1 scripts.bip37 | tr -d ' \n')" = \
    03614e9b050000000000000001
try query -c --format bip37 --as hex scripts.bip37 scripts
out_is 'and it is asked' 0 '3\n'

# ---- keys that cannot be read ------------------------------------------------
try build -k counting --as number -n 10 -o n.bly --key 7
cp n.bly before
for verb in add remove; do
    try $verb n.bly --key abc
    refused "$verb: no key can be read" 'no key of the form number: .*--as'
    check "$verb: the file is as it was" cmp -s before n.bly
done
try query n.bly --key abc
refused 'query: no key can be read' '1 line has no key of the form number'
try build -k invertible --as number -n 10 -o sketch.bly --key 7
printf '7\nabc\n' | try diff sketch.bly
check 'diff: a key that cannot be read is an error' [ "$(cat status)" = 2 ]
printf '{"id":7}\n{broken\n{"id":"x"}\n{"no":1}\n' >some.jsonl
try build --as number --json-field id -n 10 -o j.bly some.jsonl
check 'JSON: lines that cannot be read are counted once' grep -q \
    '2 lines are not JSON objects, or have no key of the form number' err
check 'JSON: and those without the member apart' grep -q \
    '1 line has no such member' err
try build -k dcso -i -n 10 -o folded.bloom --key A
note 'a format that cannot state the form' \
    'cannot record .* form text:case=lower: query the file with the same options'
printf 'a\tb\n' >tabs.tsv
printf 'a,b\n' | try build -n 10 -f 1,2 -t , --force -o joined.bly -
try query -f 1,2 joined.bly tabs.tsv
refused 'columns joined by another separator' \
    'form text:join=comma, which differs from -f without --csv'

printf 'a~b\n' | try build -n 10 -f 1,2 -t '~' -o other.bly -
printf 'a~b\n' | try query -c -f 1,2 -t '~' other.bly
note 'a separator that the form does not name' "use the -t of 'build'"
check 'and the key is found' [ "$(cat out)" = 1 ]

finish

# ---- a filter states how its keys were made ----------------------------------
# found NAME LINE OPTIONS...: a filter built from the line with these options
# finds it without them, and so do `add`, `remove` and `count`.
found() {
    name=$1
    printf '%b\n' "$2" >line
    shift 2
    try build -k counting -n 10 -p 1e-9 "$@" -o own.bly line
    silent "$name: build"
    try query own.bly line
    check "$name: query" cmp -s out line
    try add own.bly line
    silent "$name: add"
    try count own.bly line
    check "$name: count" [ "$(cut -f 1 out)" = 2 ]
    try remove own.bly line
    try remove own.bly line
    silent "$name: remove"
    try query -v own.bly line
    check "$name: query -v" cmp -s out line
    rm own.bly
}
found 'plain' 'Host1.Example.org'
found '-i' 'Host1.Example.org' -i
found '--upper' 'aBc' --upper
found '--trim' ' a ' --trim
found '--as number' '7.0' --as number
found '--as int32' '7' --as int32
found '--as utf16' 'é' --as utf16 -i
found '--as hex' '00 FF' --as hex
found 'CR LF' 'a\r'
found '--keep-cr' 'a\r' --keep-cr
found '--as any' 'A' --as any

# Spellings with the same form are found.
try build -i --trim -p 1e-9 -o host.bly --key 'Host1.Example.org'
for line in host1.example.org ' HOST1.EXAMPLE.ORG	'; do
    try query -q host.bly --key "$line"
    status_is "-i --trim finds '$line'" 0
done
try build --as number -p 1e-9 -o number.bly --key 7
try query -c number.bly --key 7.0 --key 70e-1 --key 8
out_is 'a number is found by its value' 0 '2\n'
try info host.bly
check 'info: the form' grep -q '^  form       text:case=lower,trim$' out
try info --json number.bly
check 'info --json: the form' grep -q '"keys": "number"' out

try build -p 1e-9 -o text.bly --key a --key B
try build --as any -p 1e-9 -o any.bly --key a --key B
try info any.bly
check 'info: no form' grep -q '^  form       not recorded: give --as' out
try build --as bytes -p 1e-9 -o bytes.bly --key a --key B
try build --as hex -p 1e-9 -o hex.bly --key 61 --key 42
for option in -i --upper --trim --keep-cr '--as number' \
    '--as hex' '--as any'; do
    # shellcheck disable=SC2086  # words
    try query $option text.bly --key a
    refused "$option: contradicts text" \
        "'text.bly' has keys of the form text, which differs from .*: leave"
done
for option in -i --upper --trim --keep-cr; do
    for class in bytes hex number int32; do
        try build --as $class $option -o no.bly --key 1
        refused "--as $class $option" 'are for keys that are text: they cannot be'
    done
done
try add -i text.bly --key a
refused 'add: contradicts' "has keys of the form text, and -i asks"
try query bytes.bly --key a
refused 'bytes: lines are none' "'bytes.bly' has bytes for keys.*--as hex"
try query -c bytes.bly --as bytes --key a
out_is 'bytes: of lines' 0 '1\n'
try query -c bytes.bly --as hex --key 61
out_is 'bytes: of digits' 0 '1\n'
try query -c hex.bly --key 0x61 --key 42
out_is 'hex: of digits' 0 '2\n'
try query -c hex.bly --as bytes --key a
out_is 'hex: of lines' 0 '1\n'
try build --as hex -p 1e-9 -o uuid.bly --key 550E8400-e29b-41d4-a716-446655440000
try query -c uuid.bly --key 550e8400e29b41d4a716446655440000
out_is 'hex: a UUID' 0 '1\n'

# ---- filters that go together have one form ----------------------------------
try unite host.bly text.bly -o no.bly
refused 'unite: different forms' "'host.bly' has keys of the form \
text:case=lower,trim, and 'text.bly' of the form text: build both"
try unite text.bly any.bly -o no.bly
refused 'unite: one without a form' "'any.bly' does not state the form of its keys, and \
made, and 'text.bly' has keys of the form text: use --assume-form"
check 'nothing was written' [ ! -e no.bly ]
for command in unite intersect; do
    for pair in 'text.bly any.bly' 'any.bly text.bly'; do
        # shellcheck disable=SC2086  # two names
        try $command --assume-form $pair -o both.bly
        silent "$command --assume-form $pair"
        try query -c both.bly --key a --key B --key b
        out_is "$command $pair: the keys" 0 '2\n'
        try info both.bly
        check "$command $pair: the form" grep -q 'form       text$' out
    done
done
try unite hex.bly bytes.bly -o both.bly
silent 'unite: bytes and hex are the same keys'
try overlap text.bly any.bly
refused 'overlap: one without a form' 'use --assume-form if both are alike'
try overlap --assume-form text.bly any.bly
check 'overlap --assume-form' grep -q '^in both  *2' out
try query -F text.bly -F host.bly --key a
refused 'query: different forms' 'build both with the same'
try query -F text.bly -F any.bly --key a
refused 'query: one without a form' 'use --assume-form'
try query --assume-form -F text.bly -F any.bly --mark --key B
out_is 'query --assume-form' 0 '11\tB\n'
try unite --assume-form host.bly text.bly -o no.bly
refused 'unite --assume-form: of two forms' 'build both with the same'

# Other systems' files cannot store a form.
try build -k guava -i -n 10 -o other.guava --key A
try query -c -i other.guava --key a --key A
out_is 'another format: options are heeded' 0 '2\n'
try info other.guava
check 'another format: no form' [ "$(grep -c form out)" = 0 ]

# ---- one key of several columns ----------------------------------------------
printf 'a,b,1\n"x,",y,2\n' >pairs.csv
try build --csv -f 1,2 -p 1e-9 -o pairs.bly pairs.csv
try query --csv -f 1,2 pairs.bly pairs.csv
check 'columns: the same' cmp -s out pairs.csv
printf 'b;a\n' >turned
try query -t ';' -f 2,1 pairs.bly turned
refused 'columns: joined by another byte' 'text:join=comma, and -t asks'
try query -c pairs.bly --key a,b
out_is 'columns: the line that they make' 0 '1\n'
