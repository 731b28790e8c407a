# wrapped.sh - filters that come compressed, in hexadecimal digits, or in JSON.
. "${1:?}/lib.sh"

seq 100 >keys
seq 1000 1999 >others
"$BLOOMERY" build -k dcso -n 100 -o a.bloom keys 2>err
"$BLOOMERY" build -k bip37 -n 100 -o w.bip37 keys 2>err
"$BLOOMERY" build -k ethereum -o e.bin keys 2>err

# hex FILE: its bytes, 16 on a line.
hex() {
    od -An -v -tx1 "$1"
}

# ---- Hexadecimal digits -------------------------------------------------------

hex w.bip37 >lines.hex
hex w.bip37 | tr -d ' \n' >bare.hex
hex w.bip37 | tr -d ' \n' | tr a-f A-F >upper.hex
{ printf 0x; tr -d '\n' <bare.hex; printf '\r\n'; } >prefixed.hex
for form in lines bare upper prefixed; do
    try query -c --format bip37 "$form.hex" keys
    out_is "hex: $form" 0 '100\n'
done
for what in others keys; do
    "$BLOOMERY" query --format bip37 w.bip37 "$what" >want.out
    try query --format bip37 bare.hex "$what"
    check "hex: the same of $what" cmp want.out out
done
"$BLOOMERY" query -c --format bip37 - keys <lines.hex >out 2>err
echo $? >status
out_is 'hex: from a pipe' 0 '100\n'
"$BLOOMERY" query -c --format bip37 - keys <w.bip37 >out 2>err
echo $? >status
out_is 'as it is: from a pipe' 0 '100\n'
try convert --format bip37 -F bip37 prefixed.hex back.bip37
silent 'hex: to bytes'
check 'hex: the same bytes' cmp w.bip37 back.bip37
try info --format bip37 bare.hex
out_has 'hex: info' 0 'kind +bip37'
try check --format bip37 bare.hex
out_has 'hex: check' 0 '^bare.hex: ok'
try unite --format bip37 -o both bare.hex w.bip37
silent 'hex: unite'
check 'hex: united with itself' cmp w.bip37 both
"$BLOOMERY" build -k leveldb -n 100 -o l.filter keys 2>err
hex l.filter >l.hex
try query -c --format leveldb l.hex keys
out_is 'hex: of a format that takes nearly any bytes' 0 '100\n'
mkfifo pipe
cat l.hex >pipe &
try query -c --format leveldb pipe keys
out_is 'hex: from a named pipe' 0 '100\n'
wait
cat l.filter >pipe &
try query -c --format leveldb pipe keys
out_is 'as it is: from a named pipe' 0 '100\n'
wait
"$BLOOMERY" build -n 100 -o own.bly keys 2>err
for file in own.bly own.bly.gz; do
    [ $file = own.bly ] || gzip -k own.bly
    cat $file >pipe &
    try query -c pipe keys
    out_is "$file: from a named pipe, of no named format" 0 '100\n'
    wait
done
cat own.bly >pipe &
try check pipe
status_is 'check: a named pipe' 0
wait
sed '2s/ \(.\)/ g/' l.hex >mistyped
{ printf '\357\273\277'; cat l.hex; } >marked
tr -d '\n' <l.hex | tr ' ' : >colons
od -A x -tx1 l.filter | sed 's/$/ |/' >dump
for text in mistyped marked colons dump; do
    try query -c --format leveldb $text keys
    refused "hex: $text" 'it is text, and not hexadecimal digits alone: give'
done
printf 'abc\n' >odd.hex
try query --format bip37 odd.hex keys
refused 'hex: an odd number' 'odd number of hexadecimal digits: fetch it anew'
try info --format bip37 odd.hex
refused 'hex: an odd number, info' 'odd number'
keeps 'hex: what changes a filter does not take it' 'filterload' bare.hex \
    add --format bip37 bare.hex keys

# ---- JSON ---------------------------------------------------------------------

bloom=$(hex e.bin | tr -d ' \n')
printf '{"id":1,"result":{"note":"a \\"logsBloom\\": b","logsBloom" :\n "0x%s"}}\n' \
    "$bloom" >block.json
try query -c block.json keys
out_is 'json: a block' 0 '100\n'
try info block.json
out_has 'json: what it is' 0 'kind +ethereum'
printf '[{"logsBloom":"0x%s"},{"logsBloom":"0x%s"}]' "$bloom" "$bloom" >two.json
try query two.json keys
refused 'json: which of two?' 'has 2 filters named logsBloom: give one'
printf '{"logsBloom":"0x12"}' >short.json
try query short.json keys
refused 'json: too short' 'ethereum'
printf '{"logsBloom":"none"}' >none.json
try query none.json keys
refused 'json: no digits' 'not in hexadecimal digits'
printf '{"logsBloom":' >cut.json
try query cut.json keys
refused 'json: cut short' 'not a Bloomery filter'

# ---- Compressed -----------------------------------------------------------------

gzip -c a.bloom >a.bloom.gz
try query -c a.bloom.gz keys
if [ "$(cat status)" = 2 ]; then      # built without BLY_DECOMPRESS
    refused 'compressed: known' 'gzip'
    finish
fi
out_is 'compressed: query' 0 '100\n'
try info a.bloom.gz
out_has 'compressed: info' 0 'kind +dcso'
try check a.bloom.gz
out_has 'compressed: check' 0 '^a.bloom.gz: ok'
try convert -F dcso a.bloom.gz b.bloom
silent 'compressed: convert'
check 'compressed: the same bytes' cmp a.bloom b.bloom
"$BLOOMERY" build -o ours.bly keys 2>err
gzip -c ours.bly >ours.gz
try query -c ours.gz keys
out_is 'compressed: one of ours' 0 '100\n'
gzip -c bare.hex >bare.gz
try query -c --format bip37 bare.gz keys
out_is 'compressed: hexadecimal digits' 0 '100\n'
head -c 60 a.bloom.gz >cut.gz
try query cut.gz keys
refused 'compressed: cut short' 'damaged or cut short: fetch it anew'
try check --json cut.gz
out_has 'compressed: cut short, json' 2 '"ok": *false'
gzip -c keys >text.gz
try query text.gz keys
refused 'compressed: no filter in it' 'text.gz: not a Bloomery filter'
keeps 'compressed: what changes a filter does not take it' 'unpack it first' \
    a.bloom.gz add a.bloom.gz others

finish
