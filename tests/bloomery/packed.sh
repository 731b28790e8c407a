# packed.sh - a kind whose files are packed: every command accepts them.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 0; i < 20000; i++) print i }' >keys
awk 'BEGIN { for (i = 15000; i < 25000; i++) print i }' >others
try build -n 30000 -k standard -p 1% -o plain.bly keys
silent 'build a plain one'
try build -n 30000 -k compressed -p 1% -o a.bly keys
silent 'build'
size=$(wc -c <a.bly)
check 'it is smaller than a plain one' \
    [ "$size" -lt $(($(wc -c <plain.bly) * 85 / 100)) ]
"$BLOOMERY" build -n 30000 -k compressed -p 1% -o - keys >piped.bly
check 'a pipe gets the same bytes' cmp a.bly piped.bly

try query -c a.bly keys
out_is 'query' 0 '20000\n'
# shellcheck disable=SC2002
cat a.bly | try query -c - keys
out_is 'query of a pipe' 0 '20000\n'
try check a.bly
out_is 'check' 0 'a.bly: ok\n'
try info a.bly
out_has 'info: the kind' 0 '^  kind +compressed$'
out_has 'info: what it takes packed' 0 '^  packed +about [0-9,]+ bytes .*sent$'
try info --json a.bly
out_has 'info --json: near the size of the file' 0 \
    "\"packed\": *($((size - 1))|$size|$((size + 1)))[,}]?"
try plan -k compressed -n 30000 -p 1%
out_has 'plan: in memory' 0 '^size +37[0-9],[0-9]{3} bytes'
out_has 'plan: packed' 0 '^packed +30,[0-9]{3} bytes .* 8\.0[0-9] bits per key'
try plan --json -k compressed -n 30000
out_has 'plan --json' 0 '"packed": *30[0-9]{3}'

cp a.bly b.bly
try add b.bly others
silent 'add'
try query -c b.bly others
out_is 'add: they are there' 0 '10000\n'
try build -n 30000 -k compressed -p 1% -o c.bly others
try unite -o u.bly a.bly c.bly
silent 'unite'
check 'unite: the bytes of adding both' sh -c '
    tail -c +129 u.bly >x; tail -c +129 b.bly >y; cmp x y'
try overlap a.bly c.bly
out_has 'overlap' 0 'both'

printf 'XYZ' | dd of=a.bly bs=1 seek=$((size - 40)) conv=notrunc 2>/dev/null
try query a.bly keys
refused 'query: damage' 'a\.bly: the payload is damaged'
head -c $((size - 1)) piped.bly >short.bly
try check short.bly
refused 'check: one byte short' 'short\.bly'
finish
