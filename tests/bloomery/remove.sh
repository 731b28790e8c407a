# remove.sh - remove, count, resize.
# shellcheck source=lib.sh
. "$1/lib.sh"

span() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) print i }'
}
span 0 1000 >all
span 0 600 >low
span 600 1000 >high
span 5000 5010 >absent

# ---- remove -----------------------------------------------------------------
try build -k counting -n 1000 -p 1e-9 -o f.bly all
silent 'build a filter that removes'
try remove f.bly low
silent 'remove'
try query -c f.bly low
out_is 'removed keys are gone' 1 '0\n'
try query -c f.bly high
out_is 'and the others are there' 0 '400\n'
try check f.bly
status_is 'the file is sound' 0
cp f.bly before
try remove f.bly absent
status_is 'remove what is not there: status 1' 1
check 'a single note on stderr' grep -q 'note: 10 keys were not in the filter' err
check 'and the file is untouched' cmp -s before f.bly
cat high absent | try remove --json f.bly
status_is 'remove some that are there and some that are not' 1
check 'the report counts them' grep -q '"absent": *10' out
check 'and what is left' grep -q '"items": *0' out
printf 'a,b\nc,d\n' >columns
try build -k counting -n 10 -f 2 -t , -o c.bly columns
printf 'x,b\n' | try remove -f 2 -t , c.bly
silent 'remove a column'
printf 'b\nd\n' | try query c.bly
out_is 'takes out just that' 0 'd\n'

try build -k counting:rule=least -n 100 -o least.bly low
keeps 'remove where an add raises only the least counters' \
    'cannot remove keys, .*: make it with rule=every' least.bly \
    remove least.bly low

# ---- remove with a witness ---------------------------------------------------
span 0 10000 >every
span 9900 60000 >gone
try build -k cuckoo -n 10000 -o w.bly every
cp w.bly alone.bly
try remove w.bly --witness every gone
status_is 'some keys are not in the list: status 1' 1
check 'a note says how many' grep -q \
    'note: 50,000 keys were not removed, because the witness does not list' err
span 0 9900 >stay
try query -c w.bly stay
out_is 'all others are there' 0 '9900\n'
try remove alone.bly gone
try query -c alone.bly stay
check 'without a witness some are lost' [ "$(cat out)" -lt 9900 ]
try remove w.bly --witness stay stay
silent 'all keys are in the list'
try info --json w.bly
out_has 'and none is left' 0 '"items": 0'

printf 'a\na\nb\nc\n' >list
try build -k quotient -n 100 -o r.bly list
printf 'a\na\na\nb\nb\nd\n' | try remove --json --witness list r.bly
status_is 'a key is removed as often as the list has it' 1
check 'the report counts the others' grep -q '"unlisted": *3' out
check 'and all keys' grep -q '"keys": *6' out
try count r.bly list
out_is 'what is left' 0 '0\ta\n0\ta\n0\tb\n1\tc\n'
printf 'a\n' | try remove --witness list r.bly
check 'the list has a key that the filter lacks: a note' \
    grep -q 'note: 1 key was not in the filter' err
printf 'c\n' >two
try remove --witness two --witness list r.bly --key c
silent 'two lists and --key'
try build -k counting -n 100 -i -o r.bly list
printf 'x,A,1\ny,b,2\n' >table
try remove -t , -f 2 --witness table r.bly --key a --key c
status_is 'columns of the list, a key without' 1
try count r.bly list
out_is 'its case is changed, too' 0 '1\ta\n1\ta\n1\tb\n1\tc\n'
try remove -t , -f 2 --witness - r.bly table <table
silent 'the list from standard input'
try count r.bly list
out_is 'removes what it has' 0 '0\ta\n0\ta\n0\tb\n1\tc\n'
printf '7\n8\n' >numbers
try build -k egh:bits=8 -n 10 -o e.bly numbers
printf '7\n9\n' | try remove --witness numbers e.bly
status_is 'numbers' 1
try query e.bly numbers
out_is 'one is left' 0 '8\n'
try build -k invertible:key=8 -n 50 -o i.bly list
try remove --witness list i.bly list
silent 'whole keys'
cp r.bly before
try remove --witness /dev/null r.bly list
status_is 'an empty list: nothing is removed' 1
check 'and the file is untouched' cmp -s before r.bly
keeps 'a missing list' 'nowhere' r.bly remove --witness nowhere r.bly list
keeps 'a list without a file' 'needs a value' r.bly remove r.bly --witness
keeps 'the list is the filter' 'is both' r.bly remove --witness r.bly r.bly list
keeps 'the list is another filter' 'is a filter' r.bly \
    remove --witness e.bly r.bly list
keeps 'keys and list from standard input' 'both' r.bly \
    remove --witness - r.bly <list
keeps 'two lists from standard input' 'twice' r.bly \
    remove --witness - --witness - r.bly list <list
keeps 'no line of the list has the column' \
    'no line of the witness has such a column' r.bly \
    remove -t , -f 2 --witness list r.bly table

# ---- count ------------------------------------------------------------------
printf 'a\nb\na\nc\na\nb\n' >letters
try build -k counting -n 100 -p 1e-9 -o n.bly letters
silent 'build with repeats'
printf 'c\na\nz\nb\n' | try count n.bly
out_is 'count' 0 '1\tc\n3\ta\n0\tz\n2\tb\n'
printf 'c\na\nz\nb' | try count -m 2 n.bly
out_is 'count only the frequent; the last line without its end' 0 '3\ta\n2\tb'
printf 'c\na\nz\nb' | try count --at-least 4 n.bly
out_is 'count of none so often: status 1' 1 ''
printf 'c\na\nz\nb' | try count -m 2 --json n.bly
check 'how many came so often as JSON' grep -q '"at_least": *2' out
printf 'y\nz\n' | try count n.bly
out_is 'count of none that is there: status 1' 1 '0\ty\n0\tz\n'
printf 'a\n' | try remove n.bly
printf 'a\n' | try count n.bly
out_is 'removed once: one less' 0 '2\ta\n'
awk 'BEGIN { for (i = 0; i < 20; i++) print "many" }' | try add n.bly
printf 'many\n' | try count --at-least 1000 n.bly
out_is 'unbounded counts are not left out' 0 '?\tmany\n'
printf 'many\n' | try count n.bly
out_is 'counters at their end know no bound' 0 '?\tmany\n'
try count --json n.bly letters
check 'a count as JSON' grep -q '"sum": *11' out
check 'jobs make no difference' sh -c \
    '"$0" count -j 1 f.bly all >one; "$0" count -j 4 f.bly all >four;
     cmp one four' "$BLOOMERY"

# ---- resize -----------------------------------------------------------------
try build -k quotient -n 1000 -p 1e-6 -o q.bly all
silent 'build one that can be resized'
try resize --verbose -n 4000 q.bly
note 'resize' 'about 1,[0-9]* ± .* keys, planned for 4,[0-9]*: '
try query -c q.bly all
out_is 'all keys are there' 0 '1000\n'
span 1000 4000 | try add q.bly
silent 'and there is room for more'
span 4000 9000 >more
keeps 'a full filter says so' \
    "full, because all its slots are in use; nothing was saved: make room with 'bloomery \
resize'$" q.bly \
    add q.bly more
for kind in quotient cuckoo dleft; do
    try build -k $kind -n 100 -o none.bly more
    refused "$kind: build for too few keys" \
        'full[^_]*; nothing was saved: use a larger -n$'
done
try build -k compaction -n 1000 -o c.bly all
keeps 'a full one that cannot be resized' \
    'nothing was saved: build a new filter with a larger -n$' c.bly add c.bly more
try resize -n 8000 -o r.bly q.bly
silent 'resize into another file'
try query -c r.bly all
out_is 'which holds the same' 0 '1000\n'

# ---- mistakes ---------------------------------------------------------------
try build -n 100 -o s.bly letters
try remove
refused 'remove without a file' 'FILE to remove from is missing'
keeps 'remove from a kind that cannot' \
    "of kind standard, which cannot remove keys: .* are counting, " s.bly \
    remove s.bly letters
try count s.bly letters
refused 'count of a kind that does not' "does not count: the kinds that can 'count' are counting, .*layered"
keeps 'resize of a kind that cannot' \
    "cannot be resized: the kinds that can 'resize' are dleft, cuckoo, quotient, golomb, expandable$" \
    s.bly resize -n 1000 s.bly
try build -k cuckoo -n 1000 -o u.bly letters
keeps 'resize of a kind that can only grow, to fewer' ': give a larger number' u.bly \
    resize -n 10 u.bly
try resize q.bly
refused 'resize without a size' '-n'
keeps 'fold of a kind that cannot' "cannot be folded: the kinds that can 'fold'" \
    u.bly resize --fold 2 u.bly
try build -k standard:m=1001 -n 100 -o odd.bly letters
keeps 'fold by a number that does not divide the bits' \
    'give a number that divides it' odd.bly resize --fold 2 odd.bly
try resize --fold 7 odd.bly
silent 'fold by a number that does'
try build -k standard:m=64k -n 100 -o thousands.bly letters
try build -k standard:m=64000 -n 100 -o digits.bly letters
check 'options of kinds take units' cmp thousands.bly digits.bly
try build -k fuse -o frozen.bly letters
keeps 'add to a kind that cannot: core kinds alone are named' \
    "the core kinds that can 'add' are standard, .*'bloomery kinds --all'" \
    frozen.bly add frozen.bly letters
try build -k standard:m=65536 -n 1000 -o large.bly letters
try build -k standard:m=16384,k=45 -n 250 -o want.bly letters
keeps 'fold by what does not divide' 'give a number that divides it' large.bly \
    resize --fold 3 large.bly
try resize --fold 4 -o small.bly large.bly
silent 'fold'
try query small.bly letters
check 'folded, all members are found' cmp -s out letters
check 'folded, a fourth of the bits' [ "$(wc -c <small.bly)" = 2176 ]
check 'folded, the filter is what fewer bits make of the keys' sh -c '
    tail -c 2048 small.bly >a && tail -c 2048 want.bly >b && cmp -s a b'
try count - </dev/null
refused 'count with everything from stdin' 'both'
try count - - <n.bly
refused 'count with everything from stdin, said twice' 'both'
try count - letters - <n.bly
refused 'count with a filter and some keys from stdin' 'both'
try count - letters <n.bly
status_is 'count with the filter alone from stdin' 0
keeps 'remove with a missing file of keys' 'nowhere' f.bly \
    remove f.bly nowhere
# ---- whole keys: a filter that keeps more of a key than its hash -------------
awk 'BEGIN { for (i = 0; i < 9000; i++) print 10000 + i }' >nine
awk 'BEGIN { for (i = 0; i < 8990; i++) print 10000 + i }' >eight
try build -k invertible:key=8 -n 50 -o w.bly nine
silent 'build with whole keys'
try diff --estimate w.bly nine
out_is 'they are all there' 0 '0 keys differ\n'
printf '5000\n' | try add w.bly
silent 'add a whole key'
try diff --theirs w.bly nine
out_is 'it is there, whole' 1 '5000\n'
printf '5000\n' | try remove w.bly
silent 'remove a whole key'
try diff --theirs w.bly nine
out_is 'it is gone' 0 ''
try remove w.bly nine
silent 'remove all'
try info --json w.bly
out_has 'none is left' 0 '"items": 0'
printf '77\n' | try remove w.bly
status_is 'remove one that is not there' 1
try add -j 3 w.bly eight
try diff --theirs -j 3 w.bly nine
out_is 'add with threads' 1 ''
printf '1\n123456789\n' >long
keeps 'a key that is too long' "line 2 of 'long': '123456789' is refused: " \
    w.bly add w.bly long

finish
