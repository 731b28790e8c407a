# formats.sh - filters in other systems' formats: recognised, named, made,
# changed, converted, with data attached.
. "${1:?}/lib.sh"

seq 1000 >keys
seq 5000 5999 >others

# ---- The listing -------------------------------------------------------------

try formats
out_has 'formats: dcso' 0 '^dcso +recognised'
try formats --json
out_has 'formats: json' 0 '"name": *"dcso"'
try formats dcso
refused 'formats: no operand' 'kinds NAME'
try kinds dcso
out_has 'kinds: a format' 0 '^dcso: '
try kinds
if grep -q '^dcso' out; then
    fail 'kinds: lists ours only' "$(details)"
else
    pass 'kinds: lists ours only'
fi

# ---- A filter of another system ----------------------------------------------

seq 1 50 | awk '{ printf "%040x\n", 171 * 256 + $1 }' >digests
try build -k dcso --upper -o digests.bloom digests
try query -c digests.bloom digests
check 'hashes in lower case: --upper is named' grep -q \
    "if 'digests.bloom' holds hashes in upper case, use --upper; otherwise" err
sed 's/^/\\/' digests >marked
try query -c digests.bloom marked
check 'also if sha1sum marked them' grep -q 'use --upper; otherwise' err
try query -c --upper digests.bloom digests
out_has 'and finds them' 0 '^50$'
try build -k dcso -n 2000 -p 0.001 -o a.bloom keys
silent 'build: a file of another system'
try build -k dcso -n 2000 -p 0.001 -o b.bloom others
silent 'build: another'
check 'build: it begins as theirs' \
    test "$(od -An -tx1 -N16 a.bloom | tr -d ' ')" = \
    0100000000000000d007000000000000
try query -c a.bloom keys
out_is 'query: all members' 0 '1000\n'
try query -c --format dcso a.bloom keys
out_is 'query: named' 0 '1000\n'
"$BLOOMERY" query -c - keys <a.bloom >out 2>err
echo $? >status
out_is 'query: from a pipe' 0 '1000\n'
try info a.bloom
out_has 'info: what it is' 0 'kind +dcso'
out_has 'info: how many' 0 'keys +1,000 added, planned for 2,000'
out_has 'info: what its numbers are' 0 '^  bits       [0-9]+$'
out_has 'info: no hash of ours' 0 'hash +as its system does'
try info --json a.bloom
out_has 'info: json' 0 '"kind": *"dcso"'
try check a.bloom
out_has 'check' 0 '^a.bloom: ok .its format has no checksum'
try overlap a.bloom b.bloom
out_has 'overlap' 0 '^in either +[12],[0-9]{3} ± '
try unite -o ab.bloom a.bloom b.bloom
silent 'unite'
try query -c ab.bloom keys others
out_is 'unite: both are there' 0 '2000\n'
try add a.bloom others
silent 'add'
try query -c a.bloom keys others
out_is 'add: they are there' 0 '2000\n'
check 'add: the same bytes as a union' \
    test "$(tail -c +49 a.bloom | cksum)" = "$(tail -c +49 ab.bloom | cksum)"
try build -k dcso -n 2000 -o a.bloom keys
silent 'build: over a filter of another system'

# ---- Another format ----------------------------------------------------------

try convert --to bloomery a.bloom a.bly
silent 'convert: to ours'
check 'convert: it says what it is' test "$(head -c 8 a.bly)" = bloomery
try query -c a.bly keys
out_is 'convert: it is the filter' 0 '1000\n'
try convert --to dcso a.bly back.bloom
silent 'convert: back'
check 'convert: the same bytes' cmp a.bloom back.bloom
try build -o k.bly keys
try convert --to dcso k.bly k.bloom
refused 'convert: other bits' 'build a filter of kind .* from the keys'
check 'convert: nothing is written' test ! -e k.bloom
try build -k split -H xxh64 -o split.bly keys
silent 'build: split by xxh64'
try convert --to parquet split.bly split.filter
silent 'convert: split to parquet'
try query -c split.filter keys
out_is 'convert: its keys are there' 0 '1000\n'
try convert --to split split.filter again.bly
silent 'convert: and back'
"$BLOOMERY" query split.bly others >want.out
"$BLOOMERY" query again.bly others >out
check 'convert: and finds the same strangers' cmp want.out out
try convert --to split a.bloom x.bly
refused 'convert: to a kind of other bits' 'unknown format .split'
try convert --to dcos k.bly k.bloom
refused 'convert: no such format' "did you mean 'dcso'"
try convert --to bloomery a.bloom
refused 'convert: no output' 'OUT'
try info --format dcso a.bly
refused 'our own file, named another' 'this is a Bloomery filter'
try info a.bloom
out_has 'info: the size of the file' 0 \
    "size +$(wc -c <a.bloom | sed 's/\(.*\)\(...\)$/\1,\2/') bytes"
echo text >text
keeps 'convert: over a text' 'not a filter' text convert --to bloomery a.bloom text

# Standard output is appended to.
echo before >on
"$BLOOMERY" convert --to bloomery a.bloom - >>on
"$BLOOMERY" convert --to dcso a.bly - >>on
check 'convert: to standard output' \
    test "$(cksum <on)" = "$( (echo before; cat a.bly a.bloom) | cksum)"
"$BLOOMERY" build -k dcso -n 2000 -o - keys >sent.bloom
check 'build: to standard output' cmp sent.bloom a.bloom
"$BLOOMERY" convert --to parquet split.bly - >sent.filter
check 'convert: a twin to standard output' cmp sent.filter split.filter
check 'convert: which is not a file' test ! -e -
try convert --to parquet k.bly -
refused 'convert: other bits to standard output' '^bloomery convert: k.bly: a filter'

# An image has what the options told when it was made, and stays an image.
try build -k rustbloom:type=bytes -n 3000 -o r.bin keys
silent 'build: a filter that does not state the type of its keys'
cp r.bin told.bin
try convert --format rustbloom:type=bytes --to bloomery r.bin r.bly
silent 'convert: to an image that does'
try query -c r.bly keys
out_is 'image: all members' 0 '1000\n'
try add r.bly others
silent 'add: to the image'
try query -c r.bly keys others
out_is 'add: the image finds what was added' 0 '2000\n'
try unite -o both.bly r.bly r.bly
silent 'unite: images'
check 'unite: an image' cmp both.bly r.bly
"$BLOOMERY" unite -o - r.bly r.bly >sent.bly
check 'unite: an image to standard output' cmp sent.bly r.bly
"$BLOOMERY" unite -o - - r.bly <r.bly >sent.bly
check 'unite: an image from standard input' cmp sent.bly r.bly
try add --format rustbloom:type=bytes told.bin others
silent 'add: to the bare file'
try convert --to rustbloom r.bly back.bin
silent 'convert: the image back'
check 'add: the bare file stays bare' cmp told.bin back.bin
"$BLOOMERY" convert --to rustbloom r.bly - >sent.bin
check 'convert: the image to standard output' cmp told.bin sent.bin
try query -c --format bloomery a.bly keys
out_is 'query: our own, named' 0 '1000\n'
try query --format bloomery a.bloom keys
refused 'query: not our own' 'not a Bloomery filter'

try build -k leveldb -o l.filter keys
silent 'build: a format that its bytes do not tell'
try unite --format leveldb -o l.filter l.filter l.filter
silent 'unite: in the place of an input that is named'
printf 'notes\n' >text
keeps 'build: over what may be anything' 'is not a filter' text \
    build -k leveldb -o text keys
keeps 'unite: over what may be anything' 'is not a filter' text \
    unite --format leveldb -o text l.filter l.filter

# ---- Attached data -----------------------------------------------------------

printf 'notes\0of its\nowner' >notes
try build -k dcso -n 2000 -o b.bloom others
silent 'build: one like the first'
try info a.bloom
out_has 'info: nothing is attached' 0 'attached +0 bytes'
try convert --data notes a.bloom noted.bloom
silent 'convert: data is attached'
check 'convert: behind the filter' \
    test "$(cat a.bloom notes | cksum)" = "$(cksum <noted.bloom)"
try info noted.bloom
out_has 'info: how much is attached' 0 'attached +18 bytes of data$'
try info --json noted.bloom
out_has 'info: how much, as JSON' 0 '"attached": *18'
try info --json k.bly
check 'info: no place for it' test "$(grep -c attached out)" = 0
"$BLOOMERY" info --data noted.bloom >out 2>err
check 'info: the data, unchanged' cmp out notes
try add noted.bloom others
silent 'add: to a filter with data'
try unite -o both.bloom noted.bloom b.bloom
silent 'unite: a filter with data'
try unite -o other.bloom b.bloom noted.bloom
silent 'unite: with a filter with data'
try convert --to bloomery both.bloom both.bly
silent 'convert: with data'
for file in noted.bloom both.bloom both.bly; do
    "$BLOOMERY" info --data $file >out 2>err
    check "info: the data of $file is what it was" cmp out notes
done
try info --data other.bloom
out_is 'unite: the data of the others is theirs' 0 ''
echo other | "$BLOOMERY" convert --data - both.bly both.bly 2>err
try info --data both.bly
out_is 'convert: data from standard input, in place' 0 'other\n'
check 'convert: the image stays one' test "$(head -c 8 both.bly)" = bloomery
try convert --to bloomery --data notes both.bly both.bly
silent 'convert: data and another format'
try convert --data - noted.bloom noted.bloom </dev/null
silent 'convert: data is taken away'
try info --data noted.bloom
out_is 'info: none is left' 0 ''
try query -c noted.bloom keys others
out_is 'convert: all keys are there' 0 '2000\n'
cp a.bloom kept.bloom
try info --data k.bly
refused 'info: a kind without data' 'no place for attached data: .* dcso'
try info --data a.bloom b.bloom
refused 'info: data of one' 'one FILE'
keeps 'convert: no place for data' 'no place for attached data' kept.bloom \
    convert --data notes k.bly kept.bloom
keeps 'convert: no such data' "read the data in 'nowhere'" kept.bloom \
    convert --data nowhere a.bloom kept.bloom
keeps 'convert: a folder for data' "read the data in '\.'" kept.bloom \
    convert --data . a.bloom kept.bloom
keeps 'convert: the data is the output' 'both the output and the data' a.bloom \
    convert --data a.bloom b.bloom a.bloom
keeps 'convert: bits of another format' 'build a filter of kind' kept.bloom \
    convert --to guava --data notes a.bloom kept.bloom
try convert a.bloom x.bloom
refused 'convert: to what' '--to, or the data to attach'
try convert --data - - x.bloom
refused 'convert: two from standard input' 'only one of IN and the data'

# ---- Required options --------------------------------------------------------

block=bip158:block=000000006c02c8ea6e4ff69651f7fcde348fb9d557a06e6957b65552002a7820
try build -k $block -o block.filter keys
silent "build: a block's filter"
try query -c --format $block block.filter keys
out_is "query: a block's filter" 0 '1000\n'
try query --format bip158 block.filter keys
refused 'query: of which block' 'block=HASH'
try query --format bip158:block=12 block.filter keys
refused 'query: no block' '64 hexadecimal digits'
try query -c --format "${block%20}21" block.filter keys
out_has 'query: of another block' 1 '^0$'
try convert --format $block --to bloomery block.filter block.bly
silent 'convert: ours keeps what was told'
try query -c block.bly keys
out_is 'query: so that nothing is to be told' 0 '1000\n'
try build -k bip158 -o x.filter keys
refused 'build: of which block' 'block=HASH'

# ---- Growing, counting, built at once ----------------------------------------

try build -k redisbloom -n 100 -o grown.bf keys
silent 'build: it grows'
try query -c grown.bf keys
out_is 'query: what has grown' 0 '1000\n'
try build -k redisbloom:growth=0 -n 100 -o full.bf keys
refused 'build: what does not grow' 'growth=2'
try build -k valkey -n 100 -o grown.valkey keys
silent 'build: a chain of Valkey grows'
try query -c grown.valkey keys
out_is 'query: what has grown, of Valkey' 0 '1000\n'
try build -k valkey:expansion=0 -n 100 -o full.valkey keys
refused 'build: what does not grow, of Valkey' 'expansion=2'
try build -k rediscuckoo -n 1000 -o copies.cf keys keys
silent 'build: copies'
try count copies.cf keys
check 'count: copies' test "$(awk '$1 < 2' out | wc -l)" = 0
try remove copies.cf keys
silent 'remove: copies'
try query -c copies.cf keys
out_is 'query: one copy is left' 0 '1000\n'
try build -k xorfilter -o built.xf keys
silent 'build: at once'
try query -c built.xf keys
out_is 'query: built at once' 0 '1000\n'
try add built.xf others
refused 'add: built at once' 'takes no more keys'
try build -k crlite -o x.cascade keys
refused 'build: what is only read' 'kind cascade'
if "$BLOOMERY" plan -k squid -n 10 >out 2>err; then
    try build -k squid:method=post -n 2000 -o posts.digest keys
    silent 'build: a digest'
    try query -c --format squid:method=post posts.digest keys
    out_is 'query: a digest of posts' 0 '1000\n'
    try query -c posts.digest keys
    check 'query: not of gets' test "$(cat out)" -lt 100
fi

# ---- Not a filter ------------------------------------------------------------

try query text keys
refused 'a text' 'nor of a format that its bytes show: name another file'
try query --format dcso text keys
refused 'a text, named' 'it is text, and not only hexadecimal digits'
try query --format dcos a.bloom keys
refused 'no such format' "did you mean 'dcso'"
head -c 1000 a.bloom >cut.bloom
try query cut.bloom keys
refused 'cut short' 'cut.bloom: read as a DCSO filter.*fetch it again'
keeps 'add to what is cut short' 'cut short' cut.bloom add cut.bloom others
try build -k dcso --hash xxh64 -n 10 -o x.bloom keys
refused 'build: a hash function' 'as its system does'
try build -k dcso --seed 7 -n 10 -o x.bloom keys
refused 'build: a seed' 'as its system does'

# ---- Rates that a format cannot keep -----------------------------------------

# Double hashing gives small filters a rate far above the formula's: the warning
# and info report the true one.
seq 10 >ten
"$BLOOMERY" build -k guava -p 0.0001 -o ten.guava ten 2>err
check 'a small filter: the warning tells the true rate' grep -qE \
    'planned for 10 keys cannot keep a rate of 0\.01 %: it has 0\.3[0-9]* %' err
"$BLOOMERY" info --json ten.guava >out
check 'a small filter: info tells the true rate' grep -qE \
    '"rate": 0\.00(19|2)' out
seq 1000 >thousand
"$BLOOMERY" build -k guava -p 0.01 -o thousand.guava thousand 2>err
check 'a filter that keeps its rate: no warning' test ! -s err
try build -k squid:bits=5 -n 10 -o ten.squid ten
silent 'no warning about a rate that nobody asked for'
try build -k squid:bits=5 -n 10 -p 1% -o ten.squid ten
note 'a warning about the rate that -p asked for' 'cannot keep a rate of 1 %'
for kind in fuse ribbon xor gcs; do
    try build -k $kind -o frozen.any ten
    try info frozen.any
    check "info: $kind knows the number of its keys" \
        grep -q '^  different  10, exact$' out
done
for kind in standard squid dcso; do
    echo one | "$BLOOMERY" build -k $kind -n 1M -o one.any
    try info one.any
    check "info: $kind estimates it, with a deviation that is not 0" \
        grep -q '^  different  1 ± [1-9]*, estimated' out
    "$BLOOMERY" build -k $kind -n 10 -o none.any </dev/null
    try info none.any
    check "info: $kind knows that it is empty" \
        grep -q '^  different  0, exact$' out
done
for kind in quotient golomb compaction scalable cuckoo; do
    echo one | "$BLOOMERY" build -k $kind -p 3e-9 -n 1M -o one.any
    try info one.any
    check "info: $kind does not call one key exact" \
        grep -q '^  different  1 ± 1, estimated' out
done
for type in xor8 fuse8; do
    { cat ten; cat ten; } | "$BLOOMERY" build -k xorfilter:type=$type -n 20 -o xor.any
    try info xor.any
    check "info: $type counts repeated keys" \
        grep -q '^  different  at most about 2[0-3], as repeated' out
done
"$BLOOMERY" build -k xorfilter:type=fuse8 -n 10 -o none.any </dev/null
try info none.any
check 'info: fuse8 knows that it is empty' grep -q '^  different  0, exact$' out
{ cat ten; cat ten; } | "$BLOOMERY" build -k rediscuckoo -n 100 -o cf.any
try info cf.any
check 'info: repeated keys may be counted again' \
    grep -q '^  different  at most about 20, as' out
"$BLOOMERY" build -k leveldb -p 0.01 -o ten.leveldb ten 2>err
check 'leveldb takes as many bits as keep the rate' test ! -s err

# ---- hashes in the wrong case ------------------------------------------------
awk 'BEGIN { srand(1); for (i = 0; i < 4000; i++) {
    s = ""; for (j = 0; j < 40; j++) s = s sprintf("%X", int(rand() * 16))
    print s } }' >HASHES
tr A-F a-f <HASHES >hashes
head -n 2000 HASHES >KNOWN
sed 's/$/ x/' hashes >columns
try build -k dcso -n 2000 -p 0.001 -o known.bloom KNOWN
try query -c known.bloom hashes
check 'hashes in lower case: a note' \
    grep -q "lower case: if 'known.bloom' holds hashes in upper .*--upper" err
try query -c --upper known.bloom hashes
check 'hashes, --upper: half of them are found' \
    sh -c '[ "$(cat out)" -ge 2000 ] && [ "$(cat out)" -lt 2050 ] && [ ! -s err ]'
try query -c known.bloom HASHES
check 'hashes in upper case: no note' [ ! -s err ]
try query -c --blanks -f 1 known.bloom columns
check 'hashes in a column: a note' grep -q 'use --upper' err
tail -n 2000 HASHES >STRANGE
try query -c known.bloom STRANGE
check 'no hash is known: a note that asks' grep -q 'use --ignore-case' err
head -n 900 hashes >few
try query -c known.bloom few
check 'fewer hashes: a note that names more ways' \
    grep -q 'use --upper; otherwise try --as hex' err
{ echo word; cat hashes; } >mixed
try query -c -j 1 known.bloom mixed
check 'keys of another kind beside them: no note' \
    sh -c '! grep "hashes in" err'
try build -n 2000 -o lower.bly hashes
try query -c lower.bly STRANGE
check 'also in a filter of our own' grep -q 'use --ignore-case' err

# ---- Keys of another form ----------------------------------------------------
seq 1 1000 >numbers
seq 3001 4000 >strangers
try build -k guava --as int64 -o ids.guava numbers
try info ids.guava
check 'info: a format without a form says so' \
    grep -q '^  form       not recorded: give --as and other key options' out
unmade="no more keys .* 'ids\.guava' does not record .*: try --as int64, int32,"
for options in -c -q --mark -S; do
    # shellcheck disable=SC2086  # words
    try query $options ids.guava numbers
    check "query $options: numbers as text get a note" grep -q "$unmade" err
done
try query ids.guava --key 5
check 'query: so does one key' grep -q "$unmade" err
check 'and the status stays 1' [ "$(cat status)" = 1 ]
try query -c --as int64 ids.guava numbers
out_is 'query --as: all keys are found' 0 '1000\n'
try query -c --as int64 ids.guava strangers
check 'query --as: no note about strangers' [ ! -s err ]
try query -c -i ids.guava numbers
check 'query -i: no note' [ ! -s err ]
try query -c ids.guava </dev/null
out_is 'query: no note without a key' 1 '0\n'
try build -k guava -o text.guava numbers
head -n 60 numbers | cat - strangers >mixed
try query -c text.guava mixed
check 'query: no note if keys are found' [ ! -s err ]
"$BLOOMERY" info --json text.guava | grep '"planned_rate"' >rate
"$BLOOMERY" query --json text.guava numbers | grep '"planned_rate"' >out
check 'query: the planned rate is that of info' cmp rate out
try build --as any -o any.bly numbers
try query -c any.bly strangers
check 'query: no note for a filter of our own' [ ! -s err ]
try build -k guava -n 1000 -p 0.3 -o full.guava --as int64 numbers
try query -c full.guava strangers
check 'query: a note if as many are found as by chance' \
    sh -c '[ "$(cat out)" -gt 200 ] && grep -q "no more keys" err'
head -n 200 numbers >members
seq 1 1000 >full
try build -k guava -n 1000 -p 0.3 -o full.guava full
{ cat members; tail -n 800 strangers; } >mixed
try query -c full.guava mixed
check 'query: no note if members are found as well' \
    sh -c '[ "$(cat out)" -gt 400 ] && [ ! -s err ]'

# A filter of 1 GiB without a key. What is in memory of it is what was read.
printf '\002\000\000\000\000\000\000\000\100\102\017\000\000\000\000\000' >large
printf '\173\024\256\107\341\172\204\077\007\000\000\000\000\000\000\000' >>large
printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >>large
printf '\000\000\004\000\000\000\000\000' >>large
dd if=/dev/null of=large bs=1 seek=$((56 + 4096 * 262144)) 2>err
try query --json large --key strange
check 'query: a note about a large file' grep -q 'no more keys' err
kibibytes=$(python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
    "$BLOOMERY" query --json large --key strange)
if [ "$(uname)" = Linux ]; then
    check 'query: the file is not read for it' [ "$kibibytes" -lt 524288 ]
fi
rm large

# ---- Options that a file does not record -----------------------------------
try build -k cassandra:version=ka -o old-Filter.db numbers
untold="no more keys .* 'old-Filter\.db' does not record .* 'bloomery kinds cassandra'"
try query -c --format cassandra old-Filter.db numbers
check 'query: a note if an option of the format may be wrong' \
    grep -q "$untold" err
try query -c --format cassandra -i old-Filter.db numbers
check 'query: also with options for the keys' grep -q "$untold" err
try query -c --format cassandra:version=ka old-Filter.db strangers
check 'query: no note if the option is given' [ ! -s err ]

printf '%s\n' a,1 a,2 b,1 b,3 >issued
printf '%s\n' a,2 b,3 >revoked
try build -k clubcard:keys=comma --within issued -o f.card revoked
printf '%s\n' a,1 a,2 a2 c,1 >asked
try query --format clubcard:keys=comma f.card asked
check 'a key without its group may be there' sh -c 'printf "a,2\na2\n" | cmp - out'
check 'and a note says so' \
    grep -q "without the group in front that 'f.card' needs.*: 1 of 4 " err
try query -c --format clubcard:keys=comma f.card issued
out_is 'keys with groups' 0 '2\n'
check 'and no note' [ ! -s err ]
try query -q --format clubcard:keys=tab f.card --key a,1
check 'with the wrong keys= as well' [ "$(cat status)" = 0 ]

# mistyped NAME OPTIONS...: refused, as no key could be found.
mistyped() {
    name=$1
    shift
    try "$@"
    check "$name" \
        sh -c 'grep -q "has no keys of the form .* use .*type=" err && ! test -s out'
    check "$name: status" [ "$(cat status)" = 2 ]
}
try build -k rustbloom:type=int --as int64 -o int.rb numbers
try query -c --format rustbloom:type=int --as int64 int.rb numbers
out_is 'numbers of the type int are found' 0 '1000\n'
try query -c --format rustbloom:type=int --as hex int.rb --key 0500000000000000
out_is 'and bytes of one' 0 '1\n'
mistyped 'query: numbers that are no str' query --as int64 int.rb numbers
mistyped 'query: texts that are no int' \
    query --format rustbloom:type=int int.rb numbers
mistyped 'add: numbers that are no str' add --as int32 int.rb strangers
mistyped 'add: texts that are no int' \
    add --format rustbloom:type=int int.rb strangers
mistyped 'serve: numbers that are no str' serve --as int64 int.rb
mistyped 'build: numbers that are no str' \
    build -k fastbloom:version=14 --as int64 -o int.fast numbers
mistyped 'build: real numbers that are no int' \
    build -k orc:type=int --as double -o int.orc numbers
mistyped 'build: integers of no type' \
    build -k pyprobables --as int64 -o int.blm numbers

finish
