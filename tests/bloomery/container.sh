# container.sh - files with filters inside: the list of `info`, the queries of
# `query` on their groups, and refusals. The files come from the fuzz corpus
# in the build folder; tests/formats/container.c writes the same.
. "${1:?}/lib.sh"

# from_hex HEX FILE: writes the bytes of hexadecimal digits, as octal escapes.
from_hex() {
    grep -v '^#' "$1" | tr -d '\n ' | fold -w 2 |
    awk '{ d = "0123456789abcdef"
           v = 16 * (index(d, substr($0, 1, 1)) - 1) \
             + index(d, substr($0, 2, 1)) - 1
           printf "\\0%03o", v }' >octal
    printf '%b' "$(cat octal)" >"$2"
}
# from_corpus NAME FILE
from_corpus() {
    from_hex "$(dirname "$BLOOMERY")/corpus/container-$1.hex" "$2"
}
from_corpus groups some.parquet
from_corpus measured all.parquet
# A copy with a column of type INT64 in place of BYTE_ARRAY.
printf '%b' "$(sed 's/\\0026\\0014\\0031/\\0026\\0004\\0031/' octal)" >int.parquet
from_corpus blocks blocks.sst
from_corpus parts parts.sst
printf '%s\n' k0 k1 other1 other2 >keys
printf '%s\n' a3 b4 c5 d6 other >letters

# ---- The filters -------------------------------------------------------------

try info all.parquet
out_has 'info: whose file' 0 '^  system     parquet$'
out_has 'info: groups' 0 '^  groups     1 .a group is a row group.$'
out_has 'info: a filter' 0 '^ +0 +47 .*%.*% +2  a$'
try info some.parquet
out_has 'info: a group without one' 0 \
    '^  without    1: row group 1, column a has no filter$'
try info blocks.sst
out_has 'info: blocks without keys' 0 '^  empty      1: no key is there$'
out_has 'info: in any' 0 '^  in any     [0-9.]+ % of strangers pass$'
try info --json some.parquet
out_has 'info: json, which column' 0 '"column": *"a"'
out_has 'info: json, where it lies' 0 '"offset": *4,'
out_has 'info: json, what lacks' 0 '"lacks": *"has no filter"'
try info blocks.sst
out_has 'info: a table' 0 '^  filters    3$'
try check all.parquet blocks.sst
out_is 'check: they are well' 0 \
    'all.parquet: ok (1 filter inside)\nblocks.sst: ok (3 filters inside)\n'
try check --json parts.sst
out_has 'check: json' 0 '"filters": *3'

# ---- Asking them -------------------------------------------------------------

try query --column a all.parquet keys
out_is 'query: a column' 0 'k0\nk1\n'
try query --column a --unpack-limit 1K all.parquet keys
refused 'query: a longer list than the limit has room for' \
    "all.parquet: .* bytes of memory are needed .*--unpack-limit"
try query --unpack-limit 2K blocks.sst letters
refused 'query: more filters than the limit has room for' \
    "'blocks.sst': its filters take more than 2,048 bytes.*--unpack-limit"
try query --column a -c all.parquet keys
out_is 'query: how many' 0 '2\n'
try query --column a -v all.parquet keys
out_is 'query: the others' 0 'other1\nother2\n'
try query --column a --groups all.parquet keys
out_is 'query: in which groups' 0 '0\tk0\n0\tk1\n'
try query --groups parts.sst letters
out_is 'query: partitions' 0 '0\ta3\n1\tb4\n2\tc5\n'
try query --groups blocks.sst letters
out_is 'query: blocks' 0 '0\ta3\n2\tc5\n3\td6\n'
try query --mark blocks.sst letters
out_is 'query: one mark for a file' 0 '1\ta3\n0\tb4\n1\tc5\n1\td6\n0\tother\n'
try query --mark -F blocks.sst -F parts.sst letters
out_is 'query: a mark for each file' 0 \
    '11\ta3\n01\tb4\n11\tc5\n10\td6\n00\tother\n'
try query --format leveldb -c blocks.sst letters
out_is 'query: a table, whose format is named' 0 '3\n'
try query --format rocksdb -c parts.sst letters
out_is 'query: a table, whose other format is named' 0 '3\n'
"$BLOOMERY" query -c - letters <parts.sst >out 2>err
echo $? >status
out_is 'query: from standard input, a file' 0 '3\n'
try query -F blocks.sst -F parts.sst letters
out_is 'query: of several files' 0 'a3\nb4\nc5\nd6\n'
try query --json parts.sst letters
out_has 'query: json, of each group' 0 '"group": *2'
try query -q parts.sst --key b4
silent 'query: one key'
try query --column a --groups --as text some.parquet --key 7
check 'query: where a filter lacks any key may be' \
    test "$(cat out)" = "$(printf '1\t7')"
check 'query: and a note says so' grep -q \
    'of the 2 row groups of .some.parquet., 1 cannot be queried, .* .row group 1 has' err

try query --column a -F all.parquet -F all.parquet --key k0
out_is 'query: files of text' 0 'k0\n'
"$BLOOMERY" build -o ours.bly keys 2>err
for other in 'all.parquet' 'ours.bly'; do
    try query --column a -F int.parquet -F $other --key 7
    refused "query: of two files, one of numbers, and $other" \
        'of the form int64, and '.*' of the form text: build both'
done
try query --column a some.parquet --key k0
refused 'query: a column of two types' \
    "two columns are named 'a', one of text and one of int64.*another name"

# ---- Compressed ORC files -----------------------------------------------------

# Row i of 102 has the number 1000003 i - 5000000 and text-i, in row groups of
# 100.
theirs=$1/../formats/theirs
printf '%s\n' -5000000 94000297 95000300 96000303 -1 >numbers
printf '%s\n' text-0 text-99 text-102 >texts
for codec in zlib snappy lz4 zstd; do
    from_hex "$theirs/orc-groups-$codec.hex" $codec.orc
    try info $codec.orc
    if grep -q 'compressed with .*, which is not supported here' err; then
        skip "ORC, $codec" 'built without it'
        continue
    fi
    out_has "ORC, $codec: row groups" 0 '^  groups     2 .a group is a row'
    out_has "ORC, $codec: a filter" 0 '^ +1 +84 +[0-9.]+ % .* +2  s$'
    try check $codec.orc
    out_is "ORC, $codec: check" 0 "$codec.orc: ok (4 filters inside)\n"
    try query --column x --groups $codec.orc numbers
    out_is "ORC, $codec: numbers" 0 \
        '0\t-5000000\n0\t94000297\n1\t95000300\n1\t96000303\n'
    try query --column s --groups $codec.orc texts
    out_is "ORC, $codec: texts" 0 '0\ttext-0\n0\ttext-99\n'
    try query -q --column s $codec.orc --key text-102
    status_is "ORC, $codec: a text that is not there" 1
done

# ---- Columns of unknown types -------------------------------------------------

# If a column's type is missing, unknown or not in the schema, the bytes of its
# keys are not guessed.
beginning() {
    head -c 51 all.parquet      # the magic, and the filter
}
schema='\051\034\025\014\0'   # of one column, of type BYTE_ARRAY
{ beginning
  printf '%b' "$schema" '\051\034\031\034\074\025\022\051\030\001a' \
      '\0266\010\0\0\0\0\026\0\0\0PAR1'; } >nine.parquet
{ beginning
  printf '%b' "$schema" '\051\034\031\034\074\071\030\001a' \
      '\0266\010\0\0\0\0\024\0\0\0PAR1'; } >untold.parquet
{ beginning
  printf '\111\034\031\034\074\025\014\051\030\001a'
  printf '\266\010\0\0\0\0\021\0\0\0PAR1'; } >bare.parquet
{ beginning
  printf '%b' "$schema" '\051\034\031\034\074\025\014\051\030\0' \
      '\0266\010\0\0\0\0\025\0\0\0PAR1'; } >nameless.parquet
for file in nine untold bare; do
    try query --column a $file.parquet keys
    refused "query: a column, $file" "type of column 'a' is unknown, or .* give"
    try query --column a --as text -c $file.parquet keys
    out_is "query: a column, $file, by --as" 0 '2\n'
done
try query nameless.parquet keys
refused 'query: a column without a name' "choose one with --column: ''"
try query --column '' -c nameless.parquet keys
out_is 'query: a column without a name, asked' 0 '2\n'

# A price of 1.50, stored as 150.
echo 150 | "$BLOOMERY" build -k parquet --as int64 -n 10 -o price.filter 2>err
printf PAR1 >price.parquet
cat price.filter >>price.parquet
printf '%b' '\051\034\025\004\0125\012\0' \
    '\051\034\031\034\074\025\004\051\030\001p\0266\010\0\0\0\0' \
    '\030\0\0\0PAR1' >>price.parquet
for price in 1.50 150; do
    try query --column p price.parquet --key $price
    refused "query: a decimal, $price" "type of column 'p' .*as a decimal: give"
done
try query --column p --as int64 price.parquet --key 150
out_is 'query: a decimal as it is stored' 0 '150\n'

# ---- Classes that differ from the type ---------------------------------------

for class in int32 int64 number double utf16 domain; do
    try query --column a --as $class all.parquet --key 7
    refused "query: texts, as $class" "are of the class text, not $class: leave"
done
for class in text hex int32 number float any; do
    try query --column a --as $class int.parquet --key 07
    refused "query: numbers, as $class" "are of the class int64, not $class: le"
done
printf '%s\n' 6b30 6b31 6b32 >digits
try query --column a --as hex all.parquet digits
out_is 'query: texts, as hex' 0 '6b30\n6b31\n'
try query --column a --as bytes all.parquet keys
out_is 'query: texts, as bytes' 0 'k0\nk1\n'
try query --column a --as int64 int.parquet --key 7
status_is 'query: numbers, as what they are' 1
from_corpus orc numbers.orc
for class in int32 int64 number; do
    try query --column x --as $class --groups numbers.orc --key -50000000
    out_is "query: numbers of ORC, as $class" 0 '0\t-50000000\n'
done
try query --column x --as double numbers.orc --key -50000000
refused 'query: numbers of ORC, as double' 'of the class int64, not double'
try query --column s --as int64 numbers.orc --key 7
refused 'query: texts of ORC, as numbers' 'of the class text, not int64'
try query --as int64 parts.sst --key 7
status_is 'query: a table with keys of any class' 1

# ---- Groups without a filter --------------------------------------------------

# Two columns a.b of an ORC file with row groups of one row, in stripes of 3 and
# 2 rows. One of the columns has no filter.
cat >twins.hex <<'END'
4f52430a0c08041a0800000000000000000a0c08041a0800000000000000000a0c08041a0800
000000000000000a0608081003182a1204080018011204080018011204080018011204080018
010a0c08041a0800000000000000000a0c08041a0800000000000000000a0608081003181c12
04080018011204080018011204080018011204080018011a0a0803102a1800202028031a0a08
4d101c180020202802220e080c100110021a03612e621a0161220208072207080c10031a0162
220208074001083b1000188080102202000c300682f403034f524315
END
from_hex twins.hex twins.orc
try query --column a.b --groups twins.orc --key zz
check 'query: groups where one of two columns has no filter' \
    test "$(cat out)" = "$(printf '0,1,2,3,4\tzz')"
# A stripe of 2^40 row groups, which has no filter.
cat >far.hex <<'END'
4f52430a0c08041a0800000000000000000a0608081001180e12040800180112040800180112
04080018011204080018011204080018011204080018011204080018011204080018011a0a08
03100e1800202028011a0f0831100018002018288080808080202207080c10011a0161220208
074001082c1000188080102202000c300682f403034f524315
END
from_hex far.hex far.orc
try query --column a far.orc --key zz
refused 'query: more groups than memory' \
    'its filters take more than .* of memory.*--unpack-limit'

# ---- Refusals ----------------------------------------------------------------

try query all.parquet keys
refused 'query: no column named' 'choose one with --column: a$'
try query --column A all.parquet keys
refused 'query: the other case' "did you mean 'a'"
try query --column bcdefgh all.parquet keys
refused 'query: no such column' "no column 'bcdefgh': the columns with filters are a$"
try query --column a blocks.sst keys
refused 'query: a table has no columns' 'leave --column out'
"$BLOOMERY" build -o ours.bly keys 2>err
try query --column a ours.bly keys
refused 'query: a filter has none inside' 'no FILE does'
try query --all -F blocks.sst -F parts.sst letters
refused 'query: not all of them' '\-\-all requires a key'
try query --groups -F blocks.sst -F parts.sst letters
refused 'query: groups of one file' 'exactly one FILE'
try count blocks.sst letters
refused 'count: not a filter itself' 'contains filters and is not a filter itself'
head -c 100 all.parquet >half.parquet
try query --column a half.parquet keys
refused 'query: without its end' 'a part of one: its filters are inside'
if gzip -c all.parquet >all.gz; then
    try query --column a all.gz keys
    refused 'query: compressed' 'decompress it to one|decompress it first'
fi
: >empty
try info empty
refused 'info: an empty file' 'it is empty'
head -c 100 all.parquet >cut.parquet
printf 'PAR1' >>cut.parquet
try query --column a cut.parquet keys
refused 'query: cut short' 'read as a Parquet file'
try check cut.parquet
refused 'check: cut short' 'read as a Parquet file'
try unite -o new.bly all.parquet ours.bly
refused 'unite: not a filter itself' 'contains filters and'
keeps 'unite: nothing is written over' 'not a filter' all.parquet \
    unite -o all.parquet ours.bly ours.bly

finish
