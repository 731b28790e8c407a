# dedup-count.sh - how often each line occurs; compared with sort and uniq.
# shellcheck source=lib.sh
. "$1/lib.sh"
# shellcheck source=shared/dedup.sh
. "$1/shared/dedup.sh"

# ---- counts -----------------------------------------------------------------
sort many | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print n "\t" $0 }' |
    sort >counts
for memory in 1M 128M; do
    try dedup --count -M $memory many
    cut -f 2- out >lines-out
    check "-c -M $memory: first occurrences in order" cmp lines-out many-once
    sort out >sorted
    check "-c -M $memory: the counts of uniq -c" cmp sorted counts
    try dedup --only-repeated -M $memory many
    awk 'NR == FNR { n[$0]++; next } n[$0] > 1' many many-once >want
    check "-d -M $memory" cmp out want
    try dedup --only-unique -M $memory many
    awk 'NR == FNR { n[$0]++; next } n[$0] == 1' many many-once >want
    check "-u -M $memory" cmp out want
done
# A few keys larger than the memory, among others in all parts.
for letter in a b c d; do
    head -c 400000 /dev/zero | tr '\0' $letter
    echo
done >giants
cat giants many giants >mixed
first mixed >want
try dedup -c -M 1M mixed
cut -f 2- out >lines-out
check '-c -M: keys larger than their share of the memory' cmp lines-out want
check '-c -M: and they are counted' [ "$(grep -c '^2.aaaa' out)" = 1 ]

# A pipe is held in memory until it no longer fits.
for memory in 1M 128M; do
    passes=one
    [ $memory != 1M ] || passes=three
    for option in -c -d -u; do
        try dedup $option many
        mv out want
        # shellcheck disable=SC2002
        cat many | try dedup $option --verbose -M $memory
        check "$option -M $memory: of a pipe" cmp out want
        note "$option -M $memory: of a pipe, in so many passes" "$passes pass"
    done
    try dedup -c mixed
    mv out want
    # shellcheck disable=SC2002
    cat mixed | try dedup -c -M $memory
    check "-c -M $memory: of a pipe, with large keys" cmp out want
done
printf 'b\0a\n\0\0b\0\0a' | try dedup -c0
check '-c0: of a pipe' sh -c \
    'printf "2\tb\0001\ta\n\0002\t\0001\ta\0" | cmp - out'
# shellcheck disable=SC2002
cat unended | try dedup -c - few
out_is '-c: of a pipe without its last end, and a file' 0 \
    '2\tb\n1\ta\n3\tant\n2\tbee\n1\tcat\n'
: | try dedup -c
out_is '-c: of an empty pipe' 0 ''
printf 'name\nb\nb\n' | try dedup -c --header
out_is '-c --header: of a pipe' 0 'count\tname\n2\tb\n'
printf 'Ant\nbee\nANT\n' | try dedup -ci
out_is '-ci: of a pipe' 0 '2\tAnt\n1\tbee\n'

try dedup -cd few
out_is '-cd' 0 '3\tant\n2\tbee\n'
try dedup -cu few
out_is '-cu' 0 '1\tcat\n'
try dedup -du few
out_is '-du: none can be both' 0 ''
try dedup -c unended
out_is '-c: a last line without its end' 0 '2\tb\n1\ta\n'
try dedup -c -f 2 -t , table
check '-c -f: a line without the column counts for itself' \
    sh -c 'printf "2\t1,x,p\n1\t2,y,p\n1\t4\n1\t4\n" | cmp - out'

finish
