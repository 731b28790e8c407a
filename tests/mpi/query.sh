# query.sh - many ranks print what one process prints.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 0; i < 9000; i += 3) print "key" i "\t" i }' >keys
awk 'BEGIN { for (i = 0; i < 9000; i++) print "key" i "\t" i; print "bare" }' >a
printf 'key3\t3\nkey4\t4\nkey6\t6' >b
: >c
printf '\nkey9\t9' >d

for kind in standard blocked split; do
    one build -k $kind -p 0.1% -f 1 -o $kind.bly keys
done
one build -k buffered -M 1M -f 1 -p 0.1% -o buffered.bly keys
one build -k xor -f 1 -o xor.bly keys

# same NAME ARGUMENTS...: the same output and status as one process.
same() {
    same_name=$1
    shift
    one query "$@"
    mv out want
    mv status status.want
    try query "$@"
    if cmp -s out want && cmp -s status status.want && [ ! -s err ]; then
        pass "$same_name with $RANKS ranks"
    else
        fail "$same_name with $RANKS ranks" "$(details)"
    fi
}

for RANKS in $(work '1 2 3 4 5 7 8 16' '1 5 16'); do
    same 'lines in their order, blocked' -f 1 blocked.bly a b c d b
done
for RANKS in $(work '3 8' 3); do
    for kind in standard split buffered xor; do
        same "lines in their order, $kind" -f 1 $kind.bly a b c d b
    done
done
RANKS=4
same '-v, with lines that have no key' -v -f 2 blocked.bly a b
same '-c' -c -f 1 blocked.bly a b c d
same '-c -v' -cv -f 1 standard.bly a b c d
same 'a line without its end' -f 1 split.bly b
same 'nothing found' blocked.bly d
same 'nothing to ask' blocked.bly c
same '-q, found' -q -f 1 blocked.bly a
same '-q, not found' -q -f 2 blocked.bly c d
tr '\n' '\0' <a >zero
same '-0' -0 -f 1 blocked.bly zero
same '-t' -t y -f 2 blocked.bly a

# Everything except times.
one query --json -f 1 blocked.bly a b
grep -v second out >want
try query --json -f 1 blocked.bly a b
grep -v -e second -e ranks -e sent_bytes out >got
check '--json tells the same' cmp want got
check 'and what was sent' grep -q '"sent_bytes": [1-9]' out
one query -S -f 1 standard.bly a b
grep -v '^time' out >want
try query -S -f 1 standard.bly a b
grep -v -e '^time' -e '^sent' out >got
check '-S tells the same' cmp want got
check 'and that nothing was sent, for a filter without local keys' \
    grep -q '^sent  *0 bytes by 4 ranks' out

# ---- failure ----------------------------------------------------------------
# ---- damage ------------------------------------------------------------------
RANKS=2
for kind in blocked xor; do
    cp $kind.bly $kind.bad
    printf 'XYZ' | dd of=$kind.bad bs=1 seek=1000 conv=notrunc 2>/dev/null
    try query -c -f 1 $kind.bad a
    refused "a damaged filter: $kind" 'bad: the payload is damaged'
    try query -c -f 1 --no-verify $kind.bad a
    status_is "and --no-verify: $kind" 0
done
one build -n 57M -k blocked -o large.bly a
try query -c large.bly a
note 'a large filter and little work' 'was not verified, .*: use --verify'
try query -c --no-verify large.bly a
out_is 'and --no-verify' 0 '9001\n'
printf 'XYZ' | dd of=large.bly bs=1 seek=30000000 conv=notrunc 2>/dev/null
try query -c --verify large.bly a
refused 'a large one that is damaged' 'large\.bly: the payload is damaged'

# -------------------------------------------------------------------------------
try query blocked.bly a missing
refused 'a file that is not there' "cannot read 'missing'"
try query missing.bly a
refused 'a filter that is not there' 'missing\.bly'
try query a b
refused 'not a filter' 'not a Bloomery filter'
try query blocked.bly
refused 'no files of keys' 'standard input'
try query - a
refused 'a filter from standard input' 'must be a file'
mkfifo pipe
try query pipe a
refused 'a filter from a pipe' "'pipe' is not a regular file"
try query
refused 'no filter' 'FILE'
one build -o rehash.bly -k rehash:by=xxh64,key=whole b
try query rehash.bly a
refused 'a filter of whole keys' "query it with 'bloomery query'"
try query -c -S blocked.bly a
refused 'a summary and -c' 'summary'
mkdir other
cp a other/a
one build -o other/blocked.bly -k blocked b
alone 1 'cd other' query blocked.bly a
refused 'a filter that is another for one rank' 'same filter'
alone 1 'mv a b' query blocked.bly a
refused 'a file that is gone for one rank' "cannot read 'a'"

finish
