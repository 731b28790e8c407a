# integers.sh - kind egh: integers without a false positive, and the messages
# beyond the promised number.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 3000; i <= 60000; i += 3000) print i }' >twenty
awk 'BEGIN { for (i = 0; i < 70000; i++) print i }' >all
try build -k egh:universe=65536 -o ids.bly twenty
silent 'build of integers'
try query ids.bly all
if cmp -s out twenty; then
    pass 'query finds these and no other'
else
    fail 'query finds these and no other' "$(details)"
fi
printf '03000\n' | try query ids.bly
out_is 'zeros in front' 0 '03000\n'
printf '%s\n' -3000 3e3 ' 3000' '' x 3000.0 68536 | try query ids.bly
out_is 'not an integer in range' 1 ''

try info ids.bly
out_has 'info: the promise' 0 '^  rate +no false positives up to 20 different keys$'
out_has 'info: the count' 0 '^  different +20, exact$'
out_has 'info: the hash' 0 '^  hash +decimal, seed 0$'
try check ids.bly
out_is 'check' 0 'ids.bly: ok\n'
cp ids.bly more.bly
try add more.bly twenty
silent 'add of the same keys'
printf '1\n' | try add more.bly
note 'add of one more' '^bloomery add: warning: .* the 20 up to which it is exact: false positives are now possible'
try check more.bly
note 'check of more than promised' '^bloomery check: warning: .*exact: false positives are possible'
try info more.bly
out_has 'info of more than promised' 0 '^  rate +[0-9].* %.*there are none only up to 20 '
try build -k egh:universe=65536 -n 19 -o less.bly twenty
note 'build with too small a number' '^bloomery build: warning: .*exact.*build it again with -n 20$'

printf '7\n65536\n' >outside
keeps 'a number outside' 'not an integer below 65536: .*universe=' ids.bly \
    add ids.bly outside
printf '5\n999\n1000\n7\n' >outside
try build -k egh:universe=1000 -n 9 -o x.bly twenty outside
refused 'the line of a number outside' \
    "line 1 of 'twenty': '3000' is refused: .* below 1000"
try build -k egh:universe=1000 -n 9 -o x.bly outside
refused 'not the first line' "line 3 of 'outside': '1000' is refused: "
printf '5\nabc\n' | try build -k egh:universe=1000 -n 9 -o x.bly
refused 'the line of a word' "line 2 of '-': 'abc' is not a whole number"
try build -k egh:universe=1000 -n 2000000 -j 2 -o x.bly all
refused 'a line among many' "line 1001 of 'all': '1000' is refused: "
try build -k egh:universe=65536 -H xxh3 -o x.bly twenty
refused 'a hash that is not the integer' 'decimal or identity'
try build -k egh -n 5000 -o x.bly twenty
refused 'too many keys' '8192 moduli'
try build -k egh -n 20 -o any.bly twenty
silent 'all 2^64 hashes'
try query -c any.bly all
out_is 'keys of any kind' 0 '20\n'

# hash decimal: all keys that are not numbers would be one key
printf '5\napple\npear\n' >fruit
for kind in standard xor cuckoo; do
    try build -k $kind -H decimal -n 10 -o x.bly twenty fruit
    refused "$kind of numbers: a word" \
        "line 2 of 'fruit': 'apple' is not a whole number below"
    check "$kind of numbers: nothing is written" [ ! -e x.bly ]
done
printf '18446744073709551615\n' | try build -k standard -H decimal -n 9 -o x.bly
refused 'the one number that stands for none' 'line 1 .*18446744073709551615'
printf '18446744073709551614\n\n' | try build -k standard -H decimal -n 9 -o x.bly
refused 'an empty line' "line 2 .*: '' is not"
try build -k standard -H decimal -p 1e-9 -o n.bly twenty
silent 'numbers alone'
keeps 'a word to add' "line 2 of 'fruit': 'apple'" n.bly add n.bly fruit
try query -c n.bly fruit
out_is 'no word is found' 1 '0\n'
printf '3\t7\n3\tseven\n' >labels
try build -k spatial:areas=3 -n 10 -H decimal -l 1 -o x.bly labels
refused 'a label with a word' "line 2 of 'labels': 'seven'"
printf '3\t7\n' | try build -k spatial:areas=3 -n 10 -H decimal -l 1 -o s.bly
keeps 'a word to put' "line 2 of 'labels': 'seven'" s.bly put s.bly labels
try sketch -H decimal --differences 10 -o x.bly twenty fruit
refused 'a word to sketch' "the key 'apple' is not a whole number"
check 'a word to sketch: nothing is written' [ ! -e x.bly ]
try sketch -H decimal --differences 10 -o k.bly twenty
try diff k.bly fruit
refused 'a word that differs' "the key 'apple' is not a whole number"
awk 'BEGIN { for (i = 0; i < 300000; i++) print i; print "last" }' >long
for j in 1 4; do
    try build -H decimal -j $j -o x.bly long
    refused "the line of a long file, -j $j" "line 300001 of 'long': 'last'"
done

# ---- Counters, and which numbers are in -------------------------------------

try list ids.bly
sort -n out >listed
check 'list: the numbers' cmp listed twenty
try list more.bly
refused 'list: more than it is exact for' 'more integers than the 20'
printf '5\n5\n7\n' | try build -k egh:universe=65536,bits=8 -n 20 -o c.bly
silent 'build: counters'
printf '5\n7\n9\n' | try count c.bly
out_is 'count' 0 '2\t5\n1\t7\n0\t9\n'
printf '5\n7\n' | try remove c.bly
silent 'remove'
try list c.bly
out_is 'list: what is left' 0 '5\n'
try list -0 c.bly
out_is 'list: with NULs' 0 '5\0'
printf '5\n' | try remove ids.bly
refused 'remove: of bits' 'kind egh, which cannot remove'
printf 'apple\npear\n' | try build -k invertible:key=8 -n 9 -o i.bly
try list i.bly
sort out >listed
check 'list: whole keys' test "$(tr '\n' ' ' <listed)" = 'apple pear '
printf 'apple\npear\n' | try build -n 9 -o s.bly
try list s.bly
refused 'list: a kind that cannot' 'cannot list its keys.*egh, invertible'
try list
refused 'list: no file' 'this command takes one FILE'

finish
