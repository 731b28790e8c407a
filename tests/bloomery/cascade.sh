# cascade.sh - a revocation list: right for all serial numbers there are.
# shellcheck source=lib.sh
. "$1/lib.sh"

# Serial numbers in hex, as a certificate authority counts them; each
# fortieth is revoked.
awk 'BEGIN { for (i = 0; i < 40000; i++) {
                 s = sprintf("%04x%08x", i % 7, i * 48271 % 2147483647)
                 print s > (i % 40 == 0 ? "revoked" : "valid") } }'
: >empty
printf 'only\n' >one

for of in ribbon standard xor fuse; do
    try build -k "cascade:of=$of" --without valid -o f.bly revoked
    silent "$of: build"
    try query -c f.bly revoked
    out_is "$of: finds all that are revoked" 0 '1000\n'
    try query -c f.bly valid
    out_is "$of: and none of the others" 1 '0\n'
    try check f.bly
    status_is "$of: the file is sound" 0
    try build -k "cascade:of=$of" --without revoked -o g.bly valid
    try query -c g.bly valid
    out_is "$of: the other way round it finds all others" 0 '39000\n'
    try query -c g.bly revoked
    out_is "$of: and no other" 1 '0\n'
    try build -k "cascade:of=$of" --without revoked -j 1 -o h.bly valid
    check "$of: the same with one thread" cmp g.bly h.bly
done
try build -k cascade --without valid -o f.bly revoked
try build -k cascade -s 99 --without valid -o s.bly revoked
try query -c s.bly valid
out_is 'another seed is right too' 1 '0\n'
check 'it is smaller than a seventh of the list' \
    [ "$(wc -c <s.bly)" -lt "$(($(wc -c <revoked) / 7))" ]
# shellcheck disable=SC2002  # a pipe is what is tested
cat valid | try build -k cascade --without - -o p.bly revoked
silent 'the others from a pipe'
try query -c p.bly valid
out_is 'of which none is found' 1 '0\n'
try info --json s.bly
out_has 'its items are the members' 0 '"items": 1000'
try plan -k cascade:others=1e6 -n 1e4
out_has 'a plan for a number of others' 0 '^keys +10,000$'
try plan -k cascade:others=1e15 -n 1
out_has 'of more than the kind has rates for' 0 '^keys +1$'
try build -k cascade --without empty -o e.bly one
silent 'there may be no others'
try query -c e.bly one
out_is 'and all members are found' 0 '1\n'
try build -k cascade --without one -o e.bly empty
silent 'there may be no members'
try query -c e.bly one
out_is 'and none is found' 1 '0\n'
try build -k cascade -p 1e-4 -o m.bly revoked
refused 'members alone' 'give --without FILE, or take -k ribbon'
check 'are not built' [ ! -e m.bly ]

cat valid revoked >all
try build -k cascade --without all -o x.bly revoked
refused 'a key in both files' 'among the members and among the others, and 999 more'
printf 'new\nnewer\n' | cat valid - >news
printf 'newer\n' | cat revoked - >news2
try build -k cascade --without valid --without news -o x.bly revoked news2
refused 'names it and both lines' \
    "'newer' is among .* \\(line 1001 of 'news2', line 39002 of 'news'\\)"
cat news2 | try build -k cascade --without news -o x.bly
refused 'or the one that can be read again' "\\(line 39002 of 'news'\\)"
cat revoked revoked revoked >thrice
cat valid valid >double
try build --json -k cascade --without double -o t.bly thrice
out_has 'repeats are no members' 0 '"items": 1000,'
check 'and take no room' cmp t.bly f.bly
try build -k ribbon --without valid -o x.bly revoked
refused 'a kind that cannot' 'ribbon cannot keep keys out'
try build -k nosuch --without valid -o x.bly revoked
refused 'a kind that is none' 'nosuch'
try build -k cascade -l 2 --without valid -o x.bly revoked
refused '-l and --without' 'exclude'
try build -k cascade -l 1 -f 2 -o x.bly revoked
refused '-l alone' 'give --without FILE'
try build -k cascade:others=9 -o x.bly revoked
refused 'others that are not given' 'give --without FILE'
try build -k cascade --without nowhere -o x.bly revoked
refused 'a missing file' 'nowhere'
try build -k cascade --without - -o x.bly - <one
refused 'both from standard input' 'standard input'
check 'none of this writes a file' [ ! -e x.bly ]
keeps 'the others cannot be the output' 'valid' valid \
    build -k cascade --without valid -o valid revoked
keeps 'nothing can be added' "takes no more keys: .* 'add' are standard, " f.bly \
    add f.bly one

# ---- columns, and several files -----------------------------------------------
sed 's/^/x,/' revoked >revoked.csv
sed 's/^/x,/' valid >valid.csv
sed 's/^/x;/' valid >other.csv
try build -k cascade -f 2 -t , --without other.csv -o x.bly revoked.csv
refused 'others without such a column' "no line of 'other.csv' has a key"
{ cat valid.csv; head -n 3 other.csv; } >mixed.csv
try build -k cascade -f 2 -t , --without mixed.csv -o c.bly revoked.csv
note 'some without it' "note: 3 lines of 'mixed.csv' have no such column"
try query -c -f 2 -t , c.bly valid.csv
out_is 'none of the others is found' 1 '0\n'
try build --json -k cascade -f 2 -t , --without mixed.csv -o c.bly revoked.csv
check 'JSON tells how many others there were' sh -c \
    'grep -q "\"others\": 39000" out && grep -q "\"others_keyless\": 3" out'
try build -v -k cascade --without valid -o c.bly revoked
note '-v, too' '1,000 keys and 39,000 others in '
head -n 20000 valid >some
tail -n +20001 valid >rest
try build -k cascade --without some --without rest -o c.bly revoked
silent 'two files of others'
check 'are as one' cmp c.bly f.bly
try build -k cascade --without - --without - -o x.bly revoked <some
refused 'standard input twice' 'twice'
keeps 'the output is the second of them' 'rest' rest \
    build -k cascade --without some --without rest -o rest revoked
finish
