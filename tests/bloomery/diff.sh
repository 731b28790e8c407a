# diff.sh - sketch and diff: the differences between two sets.
# shellcheck source=lib.sh
. "$1/lib.sh"

span() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++)
        print "key " i }'
}
span 0 20000 >old
{ span 5 20000; span 30000 30004; span 30002 30006; } >new
span 30000 30006 >lacking
span 0 5 >gone

# ---- by a sketch that can be listed -----------------------------------------
try sketch --differences 20 -o s.bly old
silent 'sketch --differences'
check 'is small' [ "$(wc -c <s.bly)" -le 1024 ]
try check s.bly
status_is 'is a filter' 0
try diff s.bly new
cp lacking want
check 'diff: what is lacking, once and in order' cmp out want
status_is 'diff: status 1' 1
try diff s.bly <new
check 'from standard input' cmp out want
cat new | "$BLOOMERY" diff s.bly - >out
check 'from a pipe' cmp out want
"$BLOOMERY" diff - new <s.bly >out
check 'the sketch from standard input' cmp out want
for jobs in 1 3; do
    try diff -j $jobs s.bly new
    check "with -j $jobs" cmp out want
done
cat old old new new >twice
try sketch --differences 20 -o t.bly old old
check 'repeated keys do not matter to the sketch' cmp s.bly t.bly
cat new new >twice
try diff s.bly twice
check 'nor to diff' cmp out want
try diff s.bly old
out_is 'no difference' 0 ''
try diff --both s.bly new
sed 's/^/> /' lacking >want
grep '^> ' out >got
check '--both: what is only here' cmp got want
check '--both: and hashes' [ "$(grep -Ec '^< [0-9a-f]{16}$' out)" = 5 ]
try diff --theirs s.bly new
check '--theirs: only those' [ "$(grep -Ec '^[0-9a-f]{16}$' out)" = 5 ]
try diff --estimate s.bly new
out_has '-e' 1 '^(9|1[0-3]) ± [0-9]+ keys differ$'
try diff --estimate s.bly old
out_is '-e of equal sets' 0 '0 keys differ\n'
try diff --json s.bly new
out_has '--json' 1 '"only_sketch": 5'
out_has '--json: here' 1 '"only_keys": 6'
"$BLOOMERY" diff --verbose s.bly new >out 2>err
check '-v' grep -q ': 5 keys are only in the sketch, 6 only here$' err

# ---- whole keys -------------------------------------------------------------
try sketch --differences 20 --whole 9 -o w.bly old
silent 'sketch --differences --whole'
try diff --theirs w.bly new
sort out >got
check 'the keys that only the sketch has' cmp got gone
try diff --both w.bly new
{ sed 's/^/< /' gone; sed 's/^/> /' lacking; } | sort >want
sort out >got
check '--both: as diff has them' cmp got want
keeps 'a key that is too long' 'has 9 bytes.* --whole 9' w.bly \
    sketch --differences 20 --whole 5 -o w.bly old
awk 'BEGIN { for (i = 0; i < 200000; i++) print "k" i; print "the longest" }' \
    >late
try sketch --differences 20 --whole 4 -o x.bly late
refused 'a key that is too long, later: the longest is told' '--whole 11,'
printf '%0300d\n' 0 >long
try sketch --differences 20 --whole 255 -o x.bly long
refused 'a key that no sketch carries' 'leave out --whole'
try diff w.bly late
refused 'diff: ask for' "request .*'bloomery sketch --differences 20 --whole 11'"
cat late long >longer
try diff w.bly longer
refused 'diff: ask for hashes' "request .*'bloomery sketch --differences 20', with hashes"
printf 'a\0b\nc\0' >nulls
printf 'a\0x\0' >other
try sketch -0 --differences 4 --whole 9 -o n.bly nulls
try diff -0 --both n.bly other
out_is '-0' 1 '< b\nc\0> x\0'
printf '1,x\n2,y\n3\n' >table
try sketch -f 2 -t , --differences 4 -o c.bly table
note 'sketch -f: lines without a key are told' '1 line has no such column'
printf 'y\nz\n' >column
try diff c.bly column
out_is 'sketch -f' 1 'z\n'

# ---- more than fit ----------------------------------------------------------
span 0 2000 >few
try diff s.bly few
refused 'too many differ' \
    "about 18,000 keys differ, .* for 20 .*: .*'bloomery sketch --differences [0-9]+'"
try diff --estimate s.bly few
out_has '-e of many' 1 '^18,000 ± [0-9,]+ keys differ$'
try sketch --differences 1 -o tiny.bly old
try diff tiny.bly few
refused 'reports an uncertain number with two digits' \
    "about [0-9]{2},000 keys differ, .* --differences [0-9]{2}000'"
try diff --estimate tiny.bly few
out_has 'and of its error' 1 '^[0-9]{2},000 ± [0-9],[0-9]00 keys differ$'
try sketch --differences 25000 -o large.bly old
try diff --both large.bly few
check 'a sketch for that many tells all' [ "$(wc -l <out)" = 18000 ]
try add s.bly lacking
silent 'keys can be added to a sketch'
try diff s.bly new
out_is 'and are then not lacking' 1 ''

# ---- by a filter ------------------------------------------------------------
for kind in standard blocked fuse; do
    try sketch -k $kind -p 1% -o f.bly old
    silent "sketch -k $kind"
    span 20000 30000 >others
    cat old others old others >mixed
    try diff f.bly mixed
    status_is "$kind: status" 1
    check "$kind: nothing that the owner has, each once" sh -c \
        'grep -Fvxf others out; test $? = 1 && test -z "$(sort out | uniq -d)"'
    check "$kind: nearly all" [ "$(wc -l <out)" -gt 9800 ]
    try diff f.bly old
    out_is "$kind: no difference" 0 ''
done
for kind in compressed layered; do
    try sketch -k $kind -o f.bly old
    try diff --estimate f.bly new
    out_has "$kind: -e" 1 '^([4-9]|1[0-9]) ± [0-9]+ keys differ$'
done
seq 1000 1999 >numbers
seq 1010 2004 >others
try sketch -k egh -n 1000 -o f.bly numbers
try diff --estimate f.bly others
out_has 'egh: -e' 1 '^[0-9]+ ± [0-9]+ keys differ$'
try sketch -n 30000 -o p.bly <old
silent 'sketch: a filter from standard input'
try diff --estimate p.bly new
out_has 'a filter: -e' 1 '^(9|1[0-3]) ± [0-9]+ keys differ$'
try diff --json p.bly <new
out_has 'a filter: --json' 1 '"only_sketch": null'
try diff --both p.bly new
refused 'a filter: --both' 'only its owner has: .*sketch --differences'
try build -k aging -n 100 -o aging.bly new
try diff aging.bly new
refused 'a filter that forgets' 'may forget keys.*another kind'
try sketch -k fuse -o fuse.bly old
try diff --estimate fuse.bly new
refused 'a filter that cannot be compared' 'cannot be compared: .*-d'

# ---- overfull ---------------------------------------------------------------
try sketch -n 10 --overfill -o sat.bly old
try diff sat.bly lacking
refused 'by a saturated filter' 'overfull.*100 %.*sketch -n'
try diff --estimate sat.bly lacking
refused 'by a saturated filter: -e' 'overfull.*100 %.*sketch -n'
try sketch -n 10 -o ten.bly gone
try diff --estimate ten.bly old
refused 'by one that the keys here saturate: -e' 'cannot be estimated.*sketch -n'
try sketch --overfill -n 7000 -o more.bly old
try diff more.bly new
check 'by an overfull filter: a warning' \
    grep -Eq "warning: 'more.bly' is overfull.*, not 1 %: " err
check 'and the rest as ever' [ "$(cat status)" != 2 ]

# ---- one --------------------------------------------------------------------
span 19999 20001 >shifted
span 0 19999 | cat - shifted | tail -n +2 >one
try sketch --differences 20 -o s.bly old
"$BLOOMERY" diff --verbose s.bly one >out 2>err
check 'the singular is used for one key' grep -q ': 1 key is only in the sketch, 1 only here$' err

# ---- damaged ----------------------------------------------------------------
for sketch in s p; do
    { head -c 200 $sketch.bly; head -c 100 /dev/zero
      tail -c +301 $sketch.bly; } >bad.bly
    try diff bad.bly new
    refused "a damaged sketch: $sketch" 'damaged|checksum'
    try overlap $sketch.bly bad.bly
    refused "compare with it: $sketch" 'damaged|checksum'
done

# ---- what is wrong ----------------------------------------------------------
try diff
refused 'no sketch' 'SKETCH is missing|FILE .* missing'
try diff s.bly missing
refused 'no such keys' "'missing'"
old_tmp=${TMPDIR-}
export TMPDIR=/nonexistent
cat new | "$BLOOMERY" diff s.bly - >out 2>err
echo $? >status
refused 'no folder for a copy' 'set TMPDIR to a folder that exists$'
if [ -n "$old_tmp" ]; then TMPDIR=$old_tmp; else unset TMPDIR; fi
for differences in 1e18 1e14; do
    try sketch --differences $differences -o x.bly old
    refused "-d $differences" ': use fewer differences$'
done
if (ulimit -v 4000000 && "$BLOOMERY" --version) >/dev/null 2>&1; then
    (ulimit -v 4000000 && try sketch --differences 1e9 -o x.bly old)
    refused '-d 1e9' 'out of memory: .*: use fewer differences$'
else
    skip '-d 1e9' 'memory cannot be limited'
fi
try sketch -k invertible:m=40 -n 10 -o x.bly old old
refused '-k invertible' 'use --differences N'
try sketch --differences 5 --whole 256 -o x.bly old
refused 'too long for a whole key' '255'
check 'nothing was written' [ ! -e x.bly ]

finish
