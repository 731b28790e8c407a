# cascade.sh - a revocation list that is right for every issued serial number.
# shellcheck source=lib.sh
. "$1/lib.sh"

# Serial numbers in hex, as a certificate authority counts them; every fortieth
# is revoked.
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
out_is 'finds none of them' 1 '0\n'
try info --json s.bly
out_has 'its items are the members' 0 '"items": 1000'
try plan -k cascade:others=1e6 -n 1e4
out_has 'a plan for a number of others' 0 '^keys +10,000$'
try plan -k cascade:others=1e15 -n 1
out_has 'a list larger than the kind has rates for' 0 '^keys +1$'
try build -k cascade --without empty -o e.bly one
silent 'there may be no others'
try query -c e.bly one
out_is 'and all members are found' 0 '1\n'
try build -k cascade --without one -o e.bly empty
silent 'there may be no members'
try query -c e.bly one
out_is 'and none is found' 1 '0\n'
try build -k cascade -p 1e-4 -o m.bly revoked
refused 'members alone' 'use --without FILE or --within ALL, or use -k ribbon'
check 'are not built' [ ! -e m.bly ]

cat valid revoked >all
try build -k cascade --without all -o x.bly revoked
refused 'a key in both files' 'both a member and one of the other keys, and 999 more'
printf 'new\nnewer\n' | cat valid - >news
printf 'newer\n' | cat revoked - >news2
try build -k cascade --without valid --without news -o x.bly revoked news2
refused 'names it and both lines' \
    "'newer' is both .* \\(line 1001 of 'news2', line 39002 of 'news'\\)"
cat news2 | try build -k cascade --without news -o x.bly
refused 'or the one that can be read again' "\\(line 39002 of 'news'\\)"
cat revoked revoked revoked >thrice
cat valid valid >double
try build --json -k cascade --without double -o t.bly thrice
out_has 'repeats are no members' 0 '"items": 1000,'
check 'and take no room' cmp t.bly f.bly
try build -k ribbon --without valid -o x.bly revoked
refused 'a kind that cannot' 'ribbon cannot exclude keys'
try build -k nosuch --without valid -o x.bly revoked
refused 'a kind that is none' 'nosuch'
try build -k cascade -l 1 -f 2 -o x.bly revoked
refused '-l alone' 'use --without FILE'
try build -k cascade:others=9 -o x.bly revoked
refused 'others that are not given' 'use --without FILE'
try build -k cascade --without nowhere -o x.bly revoked
refused 'a missing file' 'nowhere'
try build -k cascade --without - -o x.bly - <one
refused 'both from standard input' 'standard input'
check 'none of this writes a file' [ ! -e x.bly ]
keeps 'the others cannot be the output' 'valid' valid \
    build -k cascade --without valid -o valid revoked
keeps 'nothing can be added' "takes no more keys: .* 'add' are standard, " f.bly \
    add f.bly one

# ---- all other keys ----------------------------------------------------------
try build -k cascade --within all -o w.bly revoked
silent '--within'
check '--within: the file that --without makes' cmp w.bly f.bly
# shellcheck disable=SC2002
cat all | try build -k cascade --within - -o p.bly revoked
check '--within: from a pipe' cmp p.bly f.bly
try build -k cascade --within valid --within all --within all -o p.bly thrice
check '--within: several files, and repeats' cmp p.bly f.bly
try build -k cascade --within all -j 1 -o p.bly revoked
check '--within: with one thread' cmp p.bly f.bly
try build -k cascade --within all -o p.bly all
silent '--within: all may be members'
try query -c p.bly all
out_is '--within: and all are found then' 0 '40000\n'
try build -k cascade --within all -o p.bly empty
silent '--within: or none'
try query -c p.bly all
out_is '--within: and none is' 1 '0\n'
try build --json -k cascade --within all -o p.bly revoked
check '--within: JSON tells how many others there are' grep -q '"others": 39000' out
for hash in xxh64 murmur3 fnv1a; do
    try build -k cascade -H $hash --within all -o p.bly revoked
    silent "--within: -H $hash"
    try query -v -c p.bly all
    out_is "--within: -H $hash: right for all" 0 '39000\n'
done
seq 1 1000 >numbers
seq 1 10 1000 >tens
printf '007\n1\n' | cat - numbers >padded
try build -k cascade -H decimal --within padded -o p.bly tens
silent '--within: decimal numbers, however they are written'
try query -v -c p.bly numbers
out_is '--within: decimal: right for all' 0 '900\n'
# MurmurHash2 has known keys that collide for every seed.
printf 'key00000key00001\n' >twin
printf '\153\145\274\026\225\112\210\241\153\145\274\026\225\112\210\242\n' |
    cat - twin >twins
try build --text -k cascade -H murmur2 --within twins -o p.bly twins
silent '--within: two members of one hash'
try build --text -k cascade --within twins -o p.bly twin
silent '--within: keys whose hashes differ'
keeps '--within: a member and another of one hash' \
    'a member and another key have the same hash: choose another' f.bly \
    build --text -k cascade -H murmur2 --within twins -o f.bly twin
keeps '--within: a member that is not in it' \
    "the member '[0-9a-f]*' .line [0-9]* of 'revoked'. is not in .* --within, nor are 999 more: add" \
    f.bly build -k cascade --within valid -o f.bly revoked
# shellcheck disable=SC2002
cat one | keeps '--within: of a pipe' 'a member is not in .*: add .*files instead' \
    f.bly build -k cascade --within all -o f.bly
keeps '--within: one of many' "the member 'newer' .line 1001 of 'news2'. is not in the list of --within: add" \
    f.bly build -k cascade --within all -o f.bly news2
keeps '--within: a kind that cannot' 'ribbon cannot exclude keys: leave out --within' \
    f.bly build -k ribbon --within all -o f.bly revoked
keeps '--within: standard' 'cannot exclude keys: leave out --within' f.bly \
    build -k standard --within all -o f.bly revoked
keeps '--within: standard input twice' '--within names .* twice' f.bly \
    build -k cascade --within - --within - -o f.bly revoked <all
keeps '--within: standard input for both' 'KEYS and --within cannot both' f.bly \
    build -k cascade --within - -o f.bly - <all
keeps '--within: the list cannot be the output' "'all' is both the output" all \
    build -k cascade --within all -o all revoked
keeps '--within: a missing file' nowhere f.bly \
    build -k cascade --within nowhere -o f.bly revoked

# ---- columns, and several files ----------------------------------------------
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
try build --verbose -k cascade --without valid -o c.bly revoked
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
