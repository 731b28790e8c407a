# key.sh - --key-file: all ranks hash with one secret, or none works.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 0; i < 9000; i++) print i }' >a
awk 'BEGIN { for (i = 8000; i < 12000; i++) print i }' >b
umask 077
printf 'jklmno0123456789' >key
mkdir other
cp a b other
printf 'fedcba9876543210' >other/key
cp other/key wrong

for RANKS in 2 3; do
    one build -k blocked -H siphash --key-file key -n 12000 -o one.bly a b
    for how in '' --partition; do
        # shellcheck disable=SC2086  # options
        try build $how -k blocked -H siphash --key-file key -n 12000 \
            -o many.bly a b
        silent "build $how with $RANKS ranks"
        check 'the filter is that of one process' cmp one.bly many.bly
        cp many.bly before
        # shellcheck disable=SC2086  # options
        alone 1 'cd other' build $how -k blocked -H siphash --key-file key \
            -n 12000 -o "$PWD/many.bly" a b
        refused "build $how, another key in one rank" 'not all ranks .* secret'
        is_still "build $how, another key in one rank" many.bly
    done
    try query --key-file key one.bly b
    check "query with $RANKS ranks finds every key" cmp b out
    try query one.bly b
    refused 'query without the key' 'with a secret'
    try query --key-file wrong one.bly b
    refused 'query with a wrong key' 'another secret'
    alone 1 'cd other' query --key-file key "$PWD/one.bly" b
    refused 'query, another key in one rank' 'another secret'
    try dedup --key-file key a b
    check "dedup with $RANKS ranks" sh -c 'awk "!seen[\$0]++" a b | cmp - out'
    alone 1 'cd other' dedup --key-file key a b
    refused 'dedup, another key in one rank' 'not all ranks .* secret'
done
chmod 644 key
try query -c --key-file key one.bly a
note 'a key that others may read is warned of once' 'chmod 600'
alone 1 'rm key' query --key-file key one.bly a
refused 'a key that is gone for one rank' "cannot read the secret in 'key'"

finish
