# jobs.sh - -j: any number of threads gives the same filter and the same lines
# in the same order. The input has several chunks of a mebibyte.
# shellcheck source=lib.sh
. "$1/lib.sh"
lines=$(work 400000 100000)
found=$((lines + (lines + 2) / 3))

awk -v n="$lines" 'BEGIN {
    for (i = 0; i < n; i++) print "key number " i
}' >keys
awk -v n="$lines" 'BEGIN {
    for (i = 0; i < n; i++) print "key number " (i % 3 == 0 ? i : i + n)
}' >mixed
printf 'no newline at the end' >last

try build -j 1 -p 1e-6 -o one.bly keys
silent 'build with one thread'
for jobs in $(work '2 3 8' 3); do
    try build -j $jobs -p 1e-6 -o many.bly keys
    silent "build -j $jobs"
    check "build -j $jobs: the same bytes" cmp one.bly many.bly
done

# Some kinds take adds from all threads at once, given enough keys; others from
# one.
shared=$("$BLOOMERY" kinds --json |
    awk -F '"' '/^    "name"/ { name = $4 } /^ *"share"/ { print name }')
check 'kinds that can share' [ "$(echo "$shared" | wc -l)" -ge 6 ]
for kind in $shared counting quotient scalable; do
    "$BLOOMERY" build -j 1 -n 900000 -k "$kind" -o one.bly keys
    try build -j 8 -n 900000 -k "$kind" -o many.bly keys
    silent "build $kind -j 8"
    check "build $kind -j 8: the same bytes" cmp one.bly many.bly
    "$BLOOMERY" add -j 1 one.bly mixed
    try add -j 8 many.bly mixed
    silent "add $kind -j 8"
    check "add $kind -j 8: the same bytes" cmp one.bly many.bly
    try query -j 2 -c many.bly keys mixed
    out_is "$kind: every key is found" 0 "$((2 * lines))\n"
done
"$BLOOMERY" build -j 1 -k blocked -p 1e-6 -o one.bly keys
"$BLOOMERY" query -j 1 one.bly mixed last keys >in-order
"$BLOOMERY" query -j 1 -v one.bly mixed last keys >others
check 'query: a third of the mixed keys, and all' \
    [ "$(wc -l <in-order)" -ge "$found" ]
for jobs in $(work '2 5 16' 5); do
    try query -j $jobs one.bly mixed last keys
    check "query -j $jobs: the same lines in the same order" cmp out in-order
    try query -j $jobs -v one.bly mixed last keys
    check "query -j $jobs -v: the same" cmp out others
    try query -j $jobs -c one.bly mixed last keys
    check "query -j $jobs -c" [ "$(cat out)" = "$(wc -l <in-order)" ]
done
cat mixed last keys >all
"$BLOOMERY" query -j 1 one.bly all >in-order
# shellcheck disable=SC2002  # a pipe is wanted
cat all | "$BLOOMERY" query -j 4 one.bly >out
check 'query -j 4 of a pipe: the same' cmp out in-order
# shellcheck disable=SC2002  # a pipe is wanted
cat keys | "$BLOOMERY" build -j 4 -k blocked -n "$lines" -p 1e-6 -o many.bly
check 'build -j 4 of a pipe: the same bytes' cmp one.bly many.bly

# A line of five chunks among short ones.
{
    cat keys
    head -c 5000000 /dev/zero | tr '\0' x
    echo
    cat keys
} >long
try build -j 4 -p 1e-6 -o long.bly long
silent 'build -j 4 with a long line'
try query -j 4 long.bly long
check 'query -j 4 with a long line: every byte' cmp out long

try query -j 4 -q one.bly all
status_is 'query -j 4 -q' 0
try query -j 4 one.bly mixed missing keys
status_is 'query -j 4: a missing file is an error' 2
check 'query -j 4: the other files are asked' \
    [ "$(wc -l <out)" -ge "$found" ]
keeps 'build -j 4: a missing file' "cannot read 'missing'" one.bly \
    build -j 4 -n 1000 -o one.bly keys missing
for jobs in 0 -1 many ''; do
    try query -j "$jobs" one.bly keys
    refused "-j '$jobs'" "'$jobs'"
done
