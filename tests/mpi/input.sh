# input.sh - typical odd files: read like one process does, or refused.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf '\357\273\277one\ntwo\nthree\n' >bom
printf 'ONE\r\n Two \r\nfour\r\n' >dos
printf 'one\ntwo\n' >plain

# same RANKS NAME ARGUMENTS...: the same output and status as one process.
same() {
    RANKS=$1
    name=$2
    shift 2
    one "$@"
    mv out want
    mv status status.want
    try "$@"
    if cmp -s out want && cmp -s status status.want && [ ! -s err ]; then
        pass "$name, $RANKS ranks"
    else
        fail "$name, $RANKS ranks" "$(details)"
    fi
}
one build -p 1e-9 --as any -o k.bly plain
for ranks in 1 3 7; do
    same $ranks 'a byte order mark' query k.bly bom bom plain bom
    same $ranks 'a byte order mark, dedup' dedup bom plain bom
    same $ranks 'changed keys' query --crlf --trim -i k.bly dos bom
    same $ranks 'changed keys, dedup' dedup --crlf --trim -i bom dos bom
    same $ranks 'changed keys, dedup --count' dedup -c --crlf --trim -i bom dos
done
printf 'a  b\tc\n d e f\na b c\nx\n' >columns
for ranks in 1 3; do
    same $ranks 'several columns, apart by blanks' \
        query -v --blanks -f 3,1 k.bly columns columns
    same $ranks 'several columns without case' \
        query -v -i -t ' ' -f 3,2-2 k.bly columns columns
done
RANKS=3
try dedup --csv -f 1 plain
refused '--csv' "a part of CSV may begin within quotes: use 'bloomery'"
for options in '--header' '-f name'; do
    # shellcheck disable=SC2086  # options
    try dedup $options plain
    refused "$options" "only one part has the header: use 'bloomery'"
done
one build -n 10 --crlf --trim -i -o one.bly bom dos
try build -n 10 --crlf --trim -i -o all.bly bom dos
silent 'build'
check 'an equal filter' cmp -s one.bly all.bly
printf 'Straße\nÄ\n' >letters
one build -i --unicode -n 10 -o one.bly letters
if grep -q 'with ICU\|install ICU' err; then
    skip 'folded by Unicode' 'built without BLY_UNICODE'
else
    try build -i --unicode -n 10 -o all.bly letters
    silent 'build: folded by Unicode'
    check 'folded: the same filter' cmp -s one.bly all.bly
fi
try dedup dos plain
check 'CR LF is nothing to tell of' [ ! -s err ]
try build --as any -o no.bly dos
note 'CR LF is told of, once, where the filter states no form' 'CR LF.*--crlf'

awk 'BEGIN { for (i = 0; i < 9000; i++)
    print "{\"n\":[" i "],\"k\":\"\\u006b" i % 5000 "\"}" }' >log
one build -p 1e-9 --json-field k -o log.bly log
if grep -q BLY_JSON err; then
    skip 'members of JSON' 'built without BLY_JSON'
else
    for ranks in 1 3 7; do
        same $ranks 'members of JSON' query --json-field k log.bly log log
        same $ranks 'members of JSON, dedup' dedup --json-field k log log
    done
    RANKS=3
    echo '{"k"' >>log
    try query -c --json-field /k log.bly log log
    check 'lines that are no JSON are counted once' \
        test "$(grep -c 'note: 2 lines are not JSON objects' err)" -eq 1
    try build -n 5000 --json-field k -o log.bly log log
    check 'and by build' grep -q 'note: 2 lines are not JSON objects' err
    try dedup --json-field k log log
    check 'and by dedup' grep -q 'note: 2 lines are not JSON objects' err
fi
gzip -c plain >plain.gz
try dedup plain.gz
refused 'a compressed file' "'plain.gz' is compressed by gzip, .* ranks cannot"
try dedup k.bly
refused 'a filter for keys' "'k.bly' is a filter, not"
printf 'a\0b\n' >nul
printf 'one\rtwo\rthree' >mac
try dedup plain mac
refused 'lines that end with a CR alone' "'mac' end with a CR alone, so ranks"
printf 'k,n\n"one",1\n' >quoted.csv
try dedup -f 1 -t , quoted.csv
check 'columns in quotes without --csv' [ "$(cat status)" = 2 ]
check 'columns in quotes without --csv: nothing is printed' [ ! -s out ]
keeps 'NUL bytes' "'nul' is not text" all.bly build -n 10 -o all.bly plain nul
try dedup --text nul
out_is '--text' 0 'a\0b\n'
finish
