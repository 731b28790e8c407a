# several.sh - query -F: several filters at once.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf 'ant\nbee\ncat\n' >keys
printf 'cat\ndog\n' >more
printf 'bee\ndog\ncat\nelk\n' >ask
try build -n 1000 -p 1e-9 -o a.bly keys
silent 'build'
try build -n 1000 -p 1e-6 -k blocked -s 77 -o b.bly more
silent 'build of another kind, with another seed'

# ---- any, all, others -------------------------------------------------------
try query -F a.bly ask
out_is 'a single filter' 0 'bee\ncat\n'
try query -F a.bly -F b.bly ask
out_is 'in any of two' 0 'bee\ndog\ncat\n'
try query --filter b.bly ask --filter a.bly
out_is 'in the other order, with long names' 0 'bee\ndog\ncat\n'
try query -F a.bly -F b.bly --all ask
out_is 'in all' 0 'cat\n'
try query -F a.bly -F b.bly -v ask
out_is 'in none' 0 'elk\n'
try query -F a.bly -F b.bly --all -v ask
out_is 'not in all' 0 'bee\ndog\nelk\n'
try query -F a.bly -F b.bly -c ask
out_is '-c' 0 '3\n'
try query -F a.bly --all -c ask
out_is '--all of one' 0 '2\n'
try query -F a.bly -F b.bly --all -q keys
out_is '-q' 0 ''
printf 'elk\n' >none
try query -F a.bly -F b.bly none
out_is 'nothing there: status 1' 1 ''
try query -F a.bly -F b.bly --mark ask
out_is '--mark: a digit for each' 0 '10\tbee\n01\tdog\n11\tcat\n00\telk\n'
try query -F b.bly -F a.bly -F b.bly --mark --line-number --with-filename ask
out_is '--mark: in the order of -F' 0 \
    '010\task:1:bee\n101\task:2:dog\n111\task:3:cat\n000\task:4:elk\n'
try query -F a.bly -F b.bly --mark --all none ask
out_is '--mark --all' 0 '00\telk\n10\tbee\n01\tdog\n11\tcat\n00\telk\n'
try query -F a.bly -F b.bly --mark --all none
out_is '--mark --all, nothing in all: status 1' 1 '00\telk\n'
printf 'x\tbee\nnokey\n' >table
try query -F a.bly -F b.bly --mark -f 2 table
out_is '--mark: a line without a key' 0 '10\tx\tbee\n00\tnokey\n'
try query -F a.bly -F b.bly <ask
out_is 'standard input' 0 'bee\ndog\ncat\n'
try query -F - -F b.bly ask <a.bly
out_is 'a filter on standard input' 0 'bee\ndog\ncat\n'
try query -F a.bly -F b.bly --key dog --key elk
out_is '--key' 0 'dog\n'

# ---- numbers ----------------------------------------------------------------
try query -F a.bly -F b.bly -S ask
out_has '-S: the sum' 0 '^perhaps there +3, in any of 2 filters$'
out_has '-S: its share' 0 '^share +75 %'
check '-S: each filter' [ "$(grep -c '^perhaps there  2$' out)" -eq 2 ]
check '-S: their rates' [ "$(grep -c '^planned rate ' out)" -eq 2 ]
try query -F a.bly -F b.bly -S --all ask
out_has '-S --all' 0 '^perhaps there +1, in all of 2 filters$'
if command -v python3 >/dev/null 2>&1; then
    try query -F a.bly -F b.bly --json ask
    check '--json' python3 -c '
import json
v = json.load(open("out"))
assert v["keys"] == 4 and v["in"] == "any" and v["present"] == 3
assert v["share"] == 0.75 and v["keyless"] == 0
a, b = v["filters"]
assert a["file"] == "a.bly" and b["file"] == "b.bly"
assert a["present"] == b["present"] == 2 and a["share"] == 0.5
assert 0 < a["planned_rate"] <= 1e-9 < b["planned_rate"] <= 1e-6'
    try query -F a.bly --json ask
    check '--json of one is as without -F' python3 -c '
import json
v = json.load(open("out"))
assert v["file"] == "a.bly" and v["present"] == 2 and "filters" not in v'
else
    skip '--json' 'no python3'
fi

# ---- all kinds, many lines, many threads ------------------------------------
awk 'BEGIN { for (i = 0; i < 90000; i++) print "number " i }' >big
for n in 2 3 5 7; do
    awk -v n=$n '$2 % n == 0' big >part
    case $n in 2) kind=blocked ;; 3) kind=cuckoo ;; 5) kind=xor ;; *) kind=buffered
    esac
    try build -k $kind -s $n -p 1e-6 -n 90000 -o $n.bly part
    silent "build $kind"
done
awk '{ print ($2 % 2 == 0) ($2 % 3 == 0) ($2 % 5 == 0) ($2 % 7 == 0) "\t" $0 }' \
    big >want
for jobs in 1 4; do
    try query -j $jobs -F 2.bly -F 3.bly -F 5.bly -F 7.bly --mark big
    # At 1e-6, 0.36 of 360,000 answers are wrong on average.
    check "--mark of four kinds, -j $jobs" \
        [ "$(cmp -l out want | wc -l)" -le 5 ]
done
try build -k buffered -n 90000 -p 1e-6 -o more.bly more
try query --paged -F 7.bly -F more.bly --mark big
awk '{ print ($2 % 7 == 0) "0\t" $0 }' big >want
check '--paged, both page by page' [ "$(cmp -l out want | wc -l)" -le 4 ]
try query --paged -F a.bly -F 7.bly ask
refused '--paged with one that has no pages' 'a.bly.*: '

# ---- secrets ----------------------------------------------------------------
umask 077
printf 'jklmno0123456789' >raw
try build -H siphash --key-file raw -n 1000 -p 1e-9 -o s.bly more
silent 'build with a secret'
try build -H siphash --key-file raw -n 1000 -p 1e-9 -o t.bly keys
try query --key-file raw -F t.bly -F s.bly --mark ask
out_is 'the secret is for all of them' 0 \
    '10\tbee\n01\tdog\n11\tcat\n00\telk\n'
try query --key-file raw -F a.bly -F s.bly ask
refused 'a filter without the secret' 'a.bly: .* without a secret, but one was given'
try query -F a.bly -F s.bly ask
refused 'a filter with the secret' 'with a secret: give the one .*--key-file'

# ---- damage -----------------------------------------------------------------
cp 3.bly bad.bly
dd if=/dev/zero of=bad.bly bs=1 seek=4000 count=4000 conv=notrunc 2>/dev/null
for options in '' -v -c --mark --all --json; do
    # shellcheck disable=SC2086  # a list of words
    try query $options -F a.bly -F bad.bly ask
    refused "a damaged filter $options" 'bad.bly: the payload is damaged'
done
# Two filters verified in the background: 57M keys take 68 MB.
try build -n 57M -o large.bly keys
cp large.bly large.bad
printf 'XYZ' | dd of=large.bad bs=1 seek=30000000 conv=notrunc 2>/dev/null
awk 'BEGIN { for (i = 0; i < 6000000; i++) print i % 9 }' >many
try query -F large.bly -F large.bad -c many
refused 'a damaged one of two large filters' 'large.bad: the payload is damaged .*: rebuild the filter; the printed answers are'
try query -F large.bly -F large.bly -c many
out_is 'two large ones that are not' 1 '0\n'
try query -F large.bly -F a.bly -F large.bly -q keys
if [ "$(cat status)" = 0 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 2 ] \
    && [ "$(grep -c "'large.bly' was not verified" err)" -eq 2 ]; then
    pass 'a note for each that was not verified'
else
    fail 'a note for each that was not verified' "$(details)"
fi
rm -f large.bly large.bad many

# ---- wrong uses -------------------------------------------------------------
try query -F a.bly -F none.bly ask
refused 'a filter that is missing' 'none.bly: .*No such file'
try query -F a.bly b.bly
refused 'a filter for keys' "'b.bly' is a filter, not a file of keys: "
try query -F - -F - ask <a.bly
refused 'two filters on standard input' 'only one filter can be read from standard'
try query -F - <a.bly
refused 'a filter and keys on standard input' 'cannot both'
cp b.bly before
"$BLOOMERY" query -F a.bly -F b.bly ask >>b.bly 2>err
echo $? >status
: >out
refused 'a filter as output' "'b.bly' is both the input and the output"
check 'it is as it was' cmp b.bly before

finish
