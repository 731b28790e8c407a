# damage.sh - a damaged filter gives no answers, or reports that they are void.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 0; i < 20000; i++) print i }' >keys
awk 'BEGIN { for (i = 0; i < 20000; i++) print i % 8 "\t" i }' >labelled

# zero FILE FROM BYTES: overwrites a part of the file with zeros.
zero() {
    dd if=/dev/zero of="$1" bs=1 seek="$2" count="$3" conv=notrunc 2>/dev/null
}

try build -o f.bly keys
try build -k counting -o counts.bly keys
try build -k bloomier:bits=8 -l 1 -o labels.bly labelled
for file in f counts labels; do
    cp $file.bly $file.bad
    zero $file.bad 4000 4000
done

# ---- asking ------------------------------------------------------------------
damaged='bad: the payload is damaged .*: rebuild the filter'
while read -r command; do
    # shellcheck disable=SC2086  # a list of words
    try $command keys
    refused "$command" "$damaged"
done <<'EOF'
query f.bad
query -v f.bad
query -vc f.bad
query -q f.bad
query --json f.bad
query --verify f.bad
count counts.bad
count --json counts.bad
get labels.bad
diff f.bad
diff --json f.bad
EOF
try query -c - keys <f.bad
refused 'query of a file on standard input' 'stdin: the payload is damaged'
# shellcheck disable=SC2002
cat f.bad | try query -c - keys
refused 'query of a pipe' 'standard input: the payload is damaged'
try info f.bad
refused 'info' "$damaged"
try info --json f.bad
refused 'info --json' "$damaged"
try overlap f.bly f.bad
refused 'overlap' "$damaged"
try overlap f.bad f.bly
refused 'overlap, the first one' "$damaged"
try query -c --no-verify f.bad keys
check 'query --no-verify trusts it' [ "$(cat out)" -lt 20000 ]
try count --no-verify --json counts.bad keys
out_has 'count --no-verify' 0 '"keys": *20000'
try get --no-verify labels.bad keys
status_is 'get --no-verify' 0
try info --no-verify f.bad
out_has 'info --no-verify' 0 '^  kind +standard'

# ---- writing -----------------------------------------------------------------
keeps 'add' "$damaged" f.bad add f.bad keys
keeps 'remove' "$damaged" counts.bad remove counts.bad keys
keeps 'put' "$damaged" labels.bad put labels.bad labelled
cp f.bly old.bly
keeps 'unite' "$damaged" old.bly unite -o old.bly f.bly f.bad
keeps 'unite, the first one' "$damaged" old.bly unite -o old.bly f.bad f.bly
keeps 'intersect' "$damaged" old.bly intersect -o old.bly f.bly f.bad
try build -k quotient -o more.bly keys
cp more.bly more.bad
zero more.bad 4000 4000
keeps 'resize' "$damaged" more.bad resize -n 90000 more.bad
keeps 'resize to another file' "$damaged" old.bly \
    resize -n 90000 -o old.bly more.bad

# ---- page by page ------------------------------------------------------------
try build -k buffered -n 200000 -o pages.bly keys
cp pages.bly pages.bad
size=$(wc -c <pages.bly)
zero pages.bad $((size - 3000)) 2000
try query --paged -c pages.bad keys
refused 'query --paged: a page that is read' 'a page could not be read or is dam'
try query --paged --verify pages.bad keys
refused 'query --paged --verify' 'damaged'
try add -M 64K pages.bad keys
refused 'add to a damaged page' 'page .* is damaged: '
cp pages.bly pages.bad
zero pages.bad $((size - 3000)) 2000
head -n 1 keys >one
try query --paged -c pages.bad one
out_is 'query --paged: a page that is not' 0 '1\n'

# ---- larger than is verified first -------------------------------------------
# 57M keys take 68 MB, and 2.7 million lines verify all of it in passing.
try build -n 57M -o large.bly keys
cp large.bly large.bad
printf 'XYZ' | dd of=large.bad bs=1 seek=30000000 conv=notrunc 2>/dev/null
awk 'BEGIN { for (i = 0; i < 3000000; i++) print i % 9 }' >many
try query -c large.bly many
out_is 'much work: a large filter is fine' 0 '3000000\n'
void='large.bad: the payload is damaged .*: rebuild the filter; the printed ans'
for options in -c -vc --json -S '-c -j 1'; do
    # shellcheck disable=SC2086  # a list of words
    try query $options large.bad many
    refused "query $options: much work, and no number" "$void"
done
"$BLOOMERY" query large.bad many >/dev/null 2>err
echo $? >status
: >out
refused 'query: the lines are void' "$void"
# A damaged stream is reported before it ends.
mkfifo stream
{ timeout 60 "$BLOOMERY" query large.bad stream >/dev/null 2>err
  echo $? >status; } &
(cat many; while echo 7; do sleep 1; done) >stream 2>/dev/null
wait
: >out
refused 'query: a stream without end ends' "$void"
{ timeout 60 "$BLOOMERY" query large.bad stream >/dev/null 2>err
  echo $? >status; } &
(while echo 7; do sleep 1; done) >stream 2>/dev/null
wait
: >out
refused 'query: a slow stream ends too' "$void"
try query -c large.bly keys
note 'little work: a note' "'large.bly' was not verified, .*: use --verify"
try query -c --no-verify large.bly keys
out_is '--no-verify leaves it out' 0 '20000\n'
try query -c --verify large.bly keys
out_is '--verify does it first' 0 '20000\n'
try query --verify large.bad keys
refused '--verify of a damaged one' 'large.bad: the payload is damaged'

finish
