# forms.sh - keys that are written as text and stand for other bytes: --as.
. "${1:?}/lib.sh"

# same NAME FORM TEXT DIGITS: the key in that form is that of these bytes.
same() {
    printf '%s\n' "$3" >text
    printf '%s\n' "$4" >digits
    try build --force --as "$2" -k standard -n 10 -o text.bly text
    try build --force --as hex -k standard -n 10 -o digits.bly digits
    check "$1" cmp text.bly digits.bly
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
same 'int32: blanks around' int32 ' 7 ' 07000000
same 'int64: as in a file from Windows' int64 "7$(printf '\r')" 0700000000000000
same 'double: blanks around' double ' 1.5 ' 000000000000f83f

# What is of no such form is no key; blanks around it, and between bytes of hex,
# are none of it.
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

# Of what is asked for, such a line is an error in the end, and the others are
# answered; one that is found first is enough for -q.
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

# Wherever keys come from: columns, quotes, JSON, NULs, the command line.
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
out_is 'trimmed before' 0 '1\n'
printf 'AB\n' >t.hex
try query -c -i --as hex n.bly t.hex
out_is 'lower case before' 1 '0\n'
seq 100000 >many
try build --force --as int64 -o many.bly many
try query -c --as int64 many.bly many
out_is 'many, in every batch' 0 '100000\n'
try query -c --as int32 many.bly many
check 'other bytes are other keys' test "$(cat out)" -lt 5000
try dedup --as int32 -c numbers
printf '07\n7\n+7\n' >sevens
try dedup --as int32 sevens
out_is 'dedup: what they stand for' 0 '07\n'

try query --as int n.bly numbers
refused 'no such form' "no form of a key: give text, hex"

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

finish
