# different.sh - if repeated keys leave a filter unchanged, it is planned for
# the different keys, and never for too few.
# shellcheck source=lib.sh
. "$1/lib.sh"

# capacity ARGUMENTS...: prints the capacity of a filter built this way.
capacity() {
    try build --json -o x.bly "$@"
    sed -n 's/.*"capacity": \([0-9]*\).*/\1/p' out
}

# Kinds without removal, which are planned for different keys; `-v` reports
# their number.
once='standard partitioned blocked split compaction floom scalable compressed
      buffered'
# Kinds that store every repeat of a key.
each='counting variable dleft deletable quotient approximator spatial invertible
      stable twin aging layered attenuated'

printf 'ant\n' >ant

# ---- repeats ----------------------------------------------------------------
lines=$(work 2000000 200000)
awk -v n="$lines" 'BEGIN {
    srand(11)
    for (i = 0; i < n; i++) print "key " int(rand() * n / 56)
}' >many
awk '!seen[$0]++' many >first
keys=$(wc -l <first)
for kind in $once; do
    planned=$(capacity -k $kind many)
    check "$kind: planned for the different keys, and little more" \
        [ "$planned" -ge "$keys" -a "$planned" -le $((keys * 11 / 10)) ]
    check "$kind: without a warning" [ ! -s err ]
    check "$kind: the rate is kept" awk '
        /"planned_rate"/ { planned = $2 + 0 }
        /"rate"/ { rate = $2 + 0 }
        END { exit !(rate > 0 && rate <= planned * 1.001) }' out
    try build -k $kind -n "$planned" -o n.bly many
    check "$kind: the file that -n makes" cmp x.bly n.bly
    try query -v x.bly first
    out_is "$kind: no key is missing" 1 ''
    try build -k $kind -n "$planned" -o one.bly first
    try info --json one.bly
    grep '"fill"' out >fill
    try info --json x.bly
    check "$kind: repeats leave no trace" sh -c 'grep "\"fill\"" out | cmp - fill'
done
try build --verbose -o x.bly many
check '-v tells what came, what is different, and the plan' grep -Eq \
    '^bloomery build: [0-9,]* keys were counted, of which about [0-9,]* are different: planned for [0-9,]*$' err
try build --json -o x.bly many
check '--json tells how many are different' awk -v n="$keys" '
    /"different"/ { about = $2 + 0 }
    END { exit !(about > n * 0.95 && about < n * 1.05) }' out
try build --json -n 10 -o x.bly ant
check '--json: not where nothing was counted' \
    sh -c 'grep -q capacity out && ! grep -q different out'
for kind in $each; do
    check "$kind: planned for all lines" \
        [ "$(capacity -k $kind many)" = "$lines" ]
done
head -n 100 first | cat - first >again
check 'cuckoo, which has a place for each copy: planned for all lines' \
    [ "$(capacity -k cuckoo again)" = $((keys + 100)) ]
for times in 2 3 4; do
    i=0
    while [ $((i += 1)) -le $times ]; do
        cat first
    done >again
    try build -k cuckoo -o c.bly again
    silent "cuckoo: a plan that has room for keys that come $times times"
    try count c.bly first
    check "cuckoo: all of them, $times times at least" \
        awk -v n=$times '$1 < n { bad = 1 } END { exit bad || NR == 0 }' out
done
# Four copies fill most slots of quotient; five do not fit.
cat first first first first >four
check 'quotient: planned for all lines, with room for them' \
    [ "$(capacity -k quotient:repeats=yes four)" = $((4 * keys)) ]
try build -k quotient -o q.bly four
silent 'quotient: found room for them without being asked to'
try build -k quotient:repeats=yes -n $((4 * keys)) -o q.bly - <four
silent 'quotient: a plan for so many adds has room for four of each key'
cat again again again >often
keeps 'cuckoo: keys that come too often' \
    'too often for kind cuckoo.*bloomery dedup.*-k quotient' c.bly \
    build -k cuckoo -o c.bly often
try build -k quotient -o c.bly often
silent 'which quotient counts'
for jobs in 1 2 5; do
    try build -j $jobs -o jobs$jobs.bly many
done
check 'equal with any number of threads' \
    sh -c 'cmp jobs1.bly jobs2.bly && cmp jobs1.bly jobs5.bly'
tr '\n' '\0' <many >zero
check 'lines that end with NUL' [ "$(capacity -0 zero)" = \
    "$(capacity many)" ]
check 'standard input' [ "$(capacity <many)" = "$(capacity many)" ]
awk '{ print NR "," $0 }' many >table
check 'a column' [ "$(capacity -f 2 -t , table)" = "$(capacity many)" ]

# ---- numbers that are hard to tell ------------------------------------------
check 'a single line' [ "$(capacity ant)" = 1 ]
printf 'ant\nbee\n' >two
check 'two lines' [ "$(capacity two)" = 2 ]
printf 'ant\nbee\nant\nbee\nant\nbee\n' >six
planned=$(capacity six)
check 'two keys, three times' [ "$planned" -ge 2 -a "$planned" -le 3 ]
awk 'BEGIN { for (i = 0; i < 200000; i++) print "the same" }' >same
planned=$(capacity same)
check 'a single key, many times' [ "$planned" -ge 1 -a "$planned" -le 2 ]
for n in 10 100 1000 10000 20000 50000 "$(work 1000000 100000)"; do
    awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) print i }' >count
    planned=$(capacity count)
    # Five standard deviations above an estimate that may err by as many.
    check "$n different ones: planned for them, or all but" \
        [ "$planned" -le "$n" -a "$planned" -gt $((n * 99 / 100)) ]
    cat count count >twice
    for hash in xxh3 murmur2 fnv1a decimal identity; do
        planned=$(capacity -H $hash twice)
        check "$n numbers twice, -H $hash" \
            [ "$planned" -ge "$n" -a "$planned" -le $((n * 11 / 10 + 1)) ]
    done
done

# If keys exceed the hashes held in memory, they are read again.
yes 'a key' | head -n 8400000 >yes
printf 'other\n' >>yes
planned=$(capacity yes)
check 'millions of lines' [ "$planned" -ge 2 -a "$planned" -le 3 ]
try build -n "$planned" -o n.bly yes
check 'millions of lines: the file that -n makes' cmp x.bly n.bly
printf '7\n7\napple\n' >fruit
try build -H decimal -o x.bly fruit
refused 'a word among numbers' "line 3 of 'fruit': 'apple'"

finish
