# wrapped.sh - filters inside compressed files, hexadecimal digits, JSON,
# objects of Java or dumps of Valkey.
. "${1:?}/lib.sh"

seq 100 >keys
seq 1000 1999 >others
"$BLOOMERY" build -k dcso -n 100 -o a.bloom keys 2>err
"$BLOOMERY" build -k bip37 -n 100 -o w.bip37 keys 2>err
"$BLOOMERY" build -k ethereum -o e.bin keys 2>err

# hex FILE: prints its bytes, 16 on a line.
hex() {
    od -An -v -tx1 "$1"
}

# ---- Hexadecimal digits ------------------------------------------------------

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
try convert --format bip37 --to bip37 prefixed.hex back.bip37
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
cp l.hex kept.hex
for change in 'add l.hex' 'remove l.hex' 'resize -n 500 l.hex'; do
    # shellcheck disable=SC2086  # words
    try $change --format leveldb
    refused "hex: $change" "'l.hex' is written as text, .* 'bloomery convert"
done
check 'hex: and the file stays as it was' cmp l.hex kept.hex
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
{ printf '\303\244'; cat l.hex; } >accent
od -An -v -tx1z l.filter >readable
{ printf '\377\376'; sed 's/./&\x00/g' l.hex | tr '\n' ' '; } >utf16le
sed 's/./\x00&/g' l.hex | tr -d '\n' >utf16be
printf 'AbCd!\n' >short
printf 'a' >letter
for text in mistyped marked colons accent readable utf16le utf16be short \
            letter; do
    try query -c --format leveldb $text keys
    refused "hex: $text" 'it is text, and not only hexadecimal digits: give'
done

# Addresses also consist of digits, and the default words of od and hexdump are
# not in byte order. A filter of 56 keys has 72 bytes.
seq 56 >few
"$BLOOMERY" build -k leveldb:bits=10 -n 56 -o few.filter few 2>err
for how in '-tx1' '-A x -tx1' '-A d -tx1' '-An -x' '-x' '-An -tx4' '-An -tx8' \
           '-An -tx8 -w8' '-An -tx2 -w2' '-An -tx1 -w1 -v'; do
    od $how few.filter >dump
    try query -c --format leveldb dump few
    if [ "$how" = '-An -tx1 -w1 -v' ]; then
        out_is "hex: od $how" 0 '56\n'
    else
        refused "hex: od $how" 'not single bytes in order'
    fi
done
head -c 8 few.filter >eight
for how in '-An -tx8' '-An -tx4 -w4' '-tx1'; do
    od $how eight >dump
    try query -c --format exim dump few
    refused "hex: eight bytes, od $how" 'not single bytes in order'
done
hex few.filter | tr -d ' \n' | fold -w 60 >runs
try query -c --format leveldb runs few
out_is 'hex: runs of 60 digits' 0 '56\n'
sed '1s/^../& /' runs >broken
try query -c --format leveldb broken few
refused 'hex: a run with a blank' 'not single bytes in order'
{ sed 1q runs; cat runs; head -c 20 runs; } | tr -d '\n' | fold -w 60 |
    sed '2s/..$//' >uneven
try query -c --format leveldb uneven few
refused 'hex: a line that is shorter' 'not single bytes in order'
printf 'abc\n' >odd.hex
try query --format bip37 odd.hex keys
refused 'hex: an odd number' 'odd number of hexadecimal digits: fetch it again'
try info --format bip37 odd.hex
refused 'hex: an odd number, info' 'odd number'
keeps 'hex: what changes a filter does not take it' 'written as text' bare.hex \
    add --format bip37 bare.hex keys

# ---- JSON --------------------------------------------------------------------

bloom=$(hex e.bin | tr -d ' \n')
printf '{"id":1,"result":{"note":"a \\"logsBloom\\": b","logsBloom" :\n "0x%s"}}\n' \
    "$bloom" >block.json
try query -c block.json keys
out_is 'json: a block' 0 '100\n'
keeps 'json: what changes a filter does not take it' 'written as text' \
    block.json add block.json others
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
refused 'json: no digits' 'its logsBloom is not hexadecimal'
try query --format leveldb block.json keys
refused 'json: of another format' 'format is ethereum, not leveldb: leave'
printf '{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}' >error.json
printf '[1,2,3]' >array.json
printf '{"filter": "%s"}' "$bloom" >other.json
for file in error array other; do
    for format in leveldb exim ethereum bip37; do
        try query --format $format $file.json keys
        refused "json: no logsBloom, $file, $format" \
                'it is text, and not only hexadecimal digits'
    done
    try query $file.json keys
    refused "json: no logsBloom, $file" 'not a Bloomery filter'
done
printf '{"logsBloom":' >cut.json
try query cut.json keys
refused 'json: cut short' 'not a Bloomery filter'

# ---- JSON of bits-and-blooms --------------------------------------------------
#
# A file of the Go package for 50 keys at 30 %, with key0 .. key49; then the same
# in the other alphabet, and with words of the other byte order.

seq -f 'key%.0f' 0 49 >members
seq -f 'absent%.0f' 0 49 | cat members - >both
printf '{"m":126,"k":2,"b":"AAAAAAAAAH7_jzr5_99fszfGvz3_V_Z0"}' >go.json
printf '{ "b" : "AAAAAAAAAH7/jzr5/99fszfGvz3/V/Z0",\n"note": 1, "k":2,"m":126 }\n' \
    >standard.json
printf '{"m":126,"k":2,"b":"fgAAAAAAAACzX9__-TqP_3T2V_89v8Y3"}' >little.json
for file in go standard little; do
    try query -c "$file.json" members
    out_is "bits-and-blooms: members, $file" 0 '50\n'
    try query -c "$file.json" both
    out_is "bits-and-blooms: others, $file" 0 '83\n'
done
try info go.json
out_has 'bits-and-blooms: what it is' 0 'kind +bitsandblooms'

# bad NAME JSON MESSAGE: checks that the JSON is refused.
bad() {
    printf '%s' "$2" >bad.json
    try query bad.json keys
    refused "bits-and-blooms: $1" "$3"
}
bad 'another m' '{"m":127,"k":2,"b":"AAAAAAAAAH7_jzr5_99fszfGvz3_V_Z0"}' \
    'does not begin with the number of bits m'
bad 'cut short' '{"m":126,"k":2,"b":"AAAAAAAAAH7_jzr5"}' \
    'does not begin with the number of bits m'
bad 'a word short' '{"m":126,"k":2,"b":"AAAAAAAAAH7_jzr5_99fsw=="}' \
    'read as a filter of bits-and-blooms'
bad 'no length' '{"m":0,"k":2,"b":""}' 'does not begin with the number of bits'
bad 'no base64' '{"m":126,"k":2,"b":"AAAA!AAA"}' 'its b is not base64'
bad 'padding inside' '{"m":126,"k":2,"b":"AA==AAAA"}' 'its b is not base64'
bad 'no number' '{"m":-1,"k":2,"b":"AAAA"}' 'its m or k is not a number'
bad 'a large number' '{"m":1,"k":18446744073709551616,"b":"AAAA"}' \
    'its m or k is not a number'
bad 'no hash functions' '{"m":126,"k":0,"b":"AAAAAAAAAH7_jzr5_99fszfGvz3_V_Z0"}' \
    'number of hash functions is 0'
bad 'twice' '{"m":1,"m":1,"k":2,"b":"AAAA"}' 'not a Bloomery filter'
bad 'something behind it' '{"m":1,"k":2,"b":"AAAA"} 1' 'not a Bloomery filter'
bad 'no end' '{"m":1,"k":2,"b":"AAAA"' 'not a Bloomery filter'
try query --format leveldb go.json keys
refused 'bits-and-blooms: of another format' \
        'format is bitsandblooms, not leveldb: leave'

# ---- JSON of npm's bloom-filters -----------------------------------------------

"$BLOOMERY" build -k npmbloom -n 100 -o npm.json keys 2>err
cp npm.json grown.json
head -n 20 others >more
try add grown.json more
status_is 'npm: add' 0
try query -c grown.json more
out_is 'npm: added keys' 0 '20\n'
"$BLOOMERY" query -c --format npmbloom - keys <npm.json >out 2>err
echo $? >status
out_is 'npm: from a pipe' 0 '100\n'
try convert --to bloomery npm.json npm.bly
try convert --to npmbloom npm.bly back.json
check 'npm: the same text' cmp npm.json back.json
sed 's/,/, /' npm.json >spaced.json
sed 's/"BloomFilter"/"CountingBloomFilter"/' npm.json >counting.json
sed 's/,"_seed":[0-9]*//' npm.json >seedless.json
for file in spaced counting; do
    try query $file.json keys
    refused "npm: $file" "bloom-filters writes a BloomFilter: write one with"
done
try query seedless.json keys
refused 'npm: no seed' 'there is no _seed'

# ---- Compressed --------------------------------------------------------------

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
try convert --to dcso a.bloom.gz b.bloom
silent 'compressed: convert'
check 'compressed: the same bytes' cmp a.bloom b.bloom
"$BLOOMERY" build -o ours.bly keys 2>err
gzip -c ours.bly >ours.gz
try query -c ours.gz keys
out_is 'compressed: one of ours' 0 '100\n'
"$BLOOMERY" query -c - keys <ours.gz >out 2>err
echo $? >status
out_is 'compressed: as standard input' 0 '100\n'
cat ours.gz | "$BLOOMERY" query -c - keys >out 2>err
echo $? >status
out_is 'compressed: from a pipe' 0 '100\n'
printf '0123456789abcdef' >key
chmod 600 key
"$BLOOMERY" build -H siphash --key-file key -o secret.bly keys 2>err
gzip -k secret.bly
try check secret.bly.gz
out_has 'compressed: check without the secret' 0 '^secret.bly.gz: ok'
try check --json secret.bly.gz
out_has 'compressed: check without the secret, json' 0 '"status": *"BLY_OK"'
try check --key-file key secret.bly.gz
out_has 'compressed: check with the secret' 0 '^secret.bly.gz: ok'
printf 'fedcba9876543210' >other.key
chmod 600 other.key
try check --key-file other.key --json secret.bly.gz
out_has 'compressed: check with another secret' 2 '"status": *"BLY_ESECRET"'
try query secret.bly.gz keys
refused 'compressed: query without the secret' 'secret.bly.gz: .*--key-file'
head -n 20 keys | "$BLOOMERY" build -k egh:universe=65536 -n 20 -o exact.bly 2>err
"$BLOOMERY" add exact.bly keys 2>err
gzip -k exact.bly
try check exact.bly.gz
check 'compressed: check tells of a broken promise' grep -q 'warning: .* holds more' err
head -c 3000000 /dev/zero | gzip -c >bomb.gz
try query --unpack-limit 2999999 bomb.gz keys
refused 'compressed: of nothing but zeros' \
    "'bomb.gz': .*more than 2,999,999 bytes .*--unpack-limit"
for tool in gzip zstd xz bzip2 lz4; do
    command -v "$tool" >tool || continue
    head -c 300000 /dev/zero | "$tool" -c >bomb
    try query --unpack-limit 299999 bomb keys
    refused "compressed: zeros by $tool" 'more than 299,999 bytes'
    try query --unpack-limit 300000 bomb keys
    refused "compressed: zeros by $tool within the limit" 'not a Bloomery filter'
done
try query --unpack-limit 1K --format exim - keys <bomb.gz
refused 'compressed: zeros in a pipe' 'more than 1,024 bytes .*of memory'
try query --unpack-limit 3000000 bomb.gz keys
refused 'compressed: zeros within the limit' 'bomb.gz: not a Bloomery filter'

# A packed filter in a compressed file: one limit covers both.
"$BLOOMERY" build -k compressed -n 10000000 -o large.bly /dev/null
gzip -k large.bly
check 'both layers: 700,000 times' [ "$(wc -c <large.bly.gz)" -lt 177 ]
for file in large.bly large.bly.gz; do
    for command in query count overlap diff 'unite -o x' 'serve --socket s'
    do
        # shellcheck disable=SC2086  # a command and its options
        try $command --unpack-limit 100M "$file" keys
        refused "$command $file: beyond the limit" \
            "$file: 124374210 bytes of memory .*limit is 104857600: .*--unpack-limit"
    done
    try check --unpack-limit 4M "$file"
    out_is "check $file: not unpacked" 0 "$file: ok\n"
    try info --unpack-limit 4M "$file"
    out_has "info $file: the header" 0 '^  size  *124,37[0-9],'
    out_has "info $file: packed" 0 '^  packed  *15,[0-9]* '
    check "info $file: why no more is shown" grep -q 'only its header' err
    try info --json --unpack-limit 4M "$file"
    out_has "info --json $file" 0 '"bytes": *12437'
done
try check --unpack-limit 10K large.bly.gz
refused 'check: more than the limit comes from it' 'more than 10,240 bytes'
printf 'X' | dd of=large.bly bs=1 seek=9999 conv=notrunc 2>dd
try check large.bly
refused 'check: a damaged one' 'large.bly: the payload is damaged'
try info large.bly
refused 'info: a damaged one' 'large.bly: the payload is damaged'
rm large.bly
gzip -c bare.hex >bare.gz
try query -c --format bip37 bare.gz keys
out_is 'compressed: hexadecimal digits' 0 '100\n'
head -c 60 a.bloom.gz >cut.gz
try query cut.gz keys
refused 'compressed: cut short' 'damaged or cut short: fetch it again'
try check --json cut.gz
out_has 'compressed: cut short, json' 2 '"ok": *false'
gzip -c keys >text.gz
try query text.gz keys
refused 'compressed: no filter in it' 'text.gz: not a Bloomery filter'
keeps 'compressed: what changes a filter does not take it' "is compressed, .* 'bloomery convert" \
    a.bloom.gz add a.bloom.gz others

# ---- Objects of Java ---------------------------------------------------------

# bytes NAME: the bytes of a file of tests/formats/theirs/.
bytes() {
    perl -ne 'chomp; print pack("H*", $_) unless /^#/' \
        "$1/../formats/theirs/$2.hex"
}

for form in spark1 spark2; do
    bytes "$1" $form >$form
    bytes "$1" $form-object >$form.object
    try query $form.object --key key-0 --key key-98
    out_is "object: $form" 0 'key-0\nkey-98\n'
    try convert --to spark $form.object $form.back
    check "object: the same bytes of $form" cmp $form $form.back
    try convert --to spark - $form.back <$form.object
    check "object: from a pipe, $form" cmp $form $form.back
    head -c 150 $form.object >cut.object
    try query cut.object --key key-0
    refused "object: cut short, $form" 'object of Java, and damaged or cut short'
    try add $form.object keys
    refused "object: $form is not changed" .
done
sed 's/BloomFilterImpl/CountMinSketch/' spark1.object >other.object
try query other.object --key key-0
refused 'object: of another class' 'an object of Java, but not a Bloom filter'

# ---- Dumps of Valkey ---------------------------------------------------------

for form in valkey valkey-grown; do
    bytes "$1" $form >$form
    bytes "$1" $form-dump >$form.dump
    try query $form.dump --key key-0 --key key-98
    out_is "dump: $form" 0 'key-0\nkey-98\n'
    try convert --to valkey $form.dump $form.back
    check "dump: the same bytes of $form" cmp $form $form.back
    try convert --to valkey - $form.back <$form.dump
    check "dump: from a pipe, $form" cmp $form $form.back
    { cat $form.dump && echo; } >line.dump
    try convert --to valkey line.dump $form.back
    check "dump: with the end of a line, $form" cmp $form $form.back
    for bytes in 10 21 40 150 200; do
        head -c $bytes $form.dump >cut.dump
        try query cut.dump --key key-0
        refused "dump: $bytes bytes of $form" cut.dump
    done
    refused "dump: cut short, $form" 'dumped, and damaged or cut short'
    { cat $form.dump && printf x; } >long.dump
    try query long.dump --key key-0
    refused "dump: with another byte, $form" 'dumped, and damaged'
    try add $form.dump keys
    refused "dump: $form is not changed" .
done
bytes "$1" valkey-packed-dump >packed.dump
try query packed.dump --key key-0
refused 'dump: compressed' 'set rdbcompression to no'
{ head -c 60 valkey.dump && printf X && tail -c +62 valkey.dump; } >bad.dump
try query bad.dump --key key-0
refused 'dump: a wrong byte' 'dumped, and damaged'

finish
