# dedup.sh - first occurrences, by a filter and by a window; compared with awk.
# shellcheck source=lib.sh
. "$1/lib.sh"
# shellcheck source=shared/dedup.sh
. "$1/shared/dedup.sh"
# With the same secret, filters and lost lines are the same in each run.
(umask 077; printf '0123456789abcdef' >secret)

# ---- whatever the way -------------------------------------------------------
try dedup few
out_is 'each line once, in order' 0 'ant\nbee\ncat\n'
try dedup <few
out_is 'from standard input' 0 'ant\nbee\ncat\n'
try dedup - few <few
out_is '- is standard input' 0 'ant\nbee\ncat\n'
try dedup empty
out_is 'no lines' 0 ''
try dedup few unended
out_is 'a last line without its end gets one' 0 'ant\nbee\ncat\nb\na\n'
try dedup unended few
out_is 'also before another file' 0 'b\na\nant\nbee\ncat\n'
try dedup gaps
out_is 'an empty line is a line' 0 'a\n\nb\n'
try dedup -0 nulls
out_is '-0' 0 'a\0b\0c\0'
try dedup -f 2 -t , table
printf '1,x,p\n2,y,p\n4\n4\n' >want
check '-f: by a column; lines without it stay' cmp out want
note '-f: and are counted' '2 lines have no such column and were treated as'

try dedup many
check 'by default no line is lost' cmp out many-once

# ---- by a filter ------------------------------------------------------------
# shellcheck disable=SC2086
try dedup --key-file secret -a $sure many
check 'as awk, at a tiny rate' cmp out many-once
for jobs in 1 2 5; do
    # shellcheck disable=SC2086
    try dedup --key-file secret -a $sure -j $jobs many
    check "equal with -j $jobs" cmp out many-once
    try dedup --key-file secret -a -k blocked -n "$many" -j $jobs many
    cp out blocked-$jobs
done
check '-k: all numbers of threads give the same' \
    sh -c 'cmp blocked-1 blocked-2 && cmp blocked-1 blocked-5'
seq 500000 >numbers
try dedup -a -M 1M -o kept numbers
refused '-M: a filter that takes more' 'takes .*, more than --memory: give more'
check '-M: and the output is not made' test ! -e kept
try dedup -a -M 8M numbers
status_is '-M: a filter that fits' 0
try dedup --key-file secret --approximate -p 1% many
note 'it says how many lines may be lost' \
    'note: up to about [0-9,.]* new lines may have been dropped .*leave out'
lost=$(($(wc -l <many-once) - $(wc -l <out)))
# Two thirds of the lines are different; at most 1 % of these may be lost, plus
# five standard deviations.
check '-p 1%: no more than that are dropped' awk -v lost="$lost" -v n="$many" \
    'BEGIN { most = n * 2 / 300; exit !(lost <= most + 5 * sqrt(most)) }'
check '-p 1%: what is printed is in order and once' \
    awk 'NR == FNR { place[$0] = NR; next }
         !($0 in place) || place[$0] <= last { exit 1 }
         { last = place[$0] }' many-once out
try dedup --key-file secret -a few
check '--approximate: a few lines' \
    [ "$(tr '\n' ' ' <out)" = 'ant bee cat ' ]
note '--approximate: of which hardly one is lost' 'a new line may have been dropped, with a probability of 0\.3 %'
try dedup --key-file secret -a --verbose many
check '-v: status' [ "$(cat status)" = 0 ]
check '-v: one line with the numbers' \
    grep -Eq '^bloomery dedup: [13]00,000 lines in .*at most 0.1 % of the new' err
try dedup --key-file secret -a -k blocked -n 1000 many
check 'an overfull filter is told' \
    grep -Eq '1,000 that the filter was planned for: .*larger -n' err
status_is 'and is an error, for lines were lost' 2
head -n 1500 many-once >more
try dedup --key-file secret -a -k blocked -n 1000 more
check 'reports a filter less than twice as full' \
    grep -q 'planned for 1,000: .*larger -n' err
status_is 'and is no error' 0
try dedup --key-file secret -a -k cuckoo -n 1000 many
status_is 'a filter that is full is an error' 2
check 'and it says so' grep -q 'full' err
try dedup --key-file secret -a -k ribbon many
refused 'a kind that is built at once' 'kind ribbon cannot add lines: '
{ cat many-once; cat many-once; } >twice
for kind in cuckoo quotient counting; do
    try dedup --key-file secret --approximate -p 1e-8 -k $kind -n "$many" twice
    check "-k $kind: repeats do not fill it" cmp out many-once
done
try dedup --key-file secret --approximate -k standard -n 10 many
check 'a filter that is far too small says that most was lost' \
    grep -q 'note: most new lines were dropped' err
try dedup --key-file secret --approximate -k aging -n 10 many
refused 'a kind that forgets' 'use --window N'
try dedup --key-file secret -a -k nokind many
refused 'no such kind' 'nokind'
try dedup --key-file secret -a -k blocked many
refused 'a kind that does not grow, without -n' ': .*: '

# ---- a window ---------------------------------------------------------------
# 1000 different lines, repeated: a window of 1000 knows all of them.
awk 'BEGIN { for (i = 0; i < 20000; i++) print "line " i % 1000 }' >round
try dedup --key-file secret --window 1000 -p 1e-6 round
check '--window: the last N different lines are remembered' \
    [ "$(wc -l <out)" -le 1000 ]
awk 'BEGIN { for (i = 0; i < 200000; i++) print i; print 0 }' >long
try dedup --key-file secret -w 1000 -p 1e-6 long
check '--window: old lines are forgotten' [ "$(tail -n 1 out)" = 0 ]
mkfifo questions answers
timeout 60 "$BLOOMERY" dedup -w 100 <questions >answers &
exec 3>questions 4<answers
printf 'bee\nbee\n' >&3
read -r answer <&4
printf 'ant\nunfinished' >&3
read -r second <&4
exec 3>&- 4<&-
wait
check 'a line does not wait for the next' [ "$answer $second" = 'bee ant' ]

finish
