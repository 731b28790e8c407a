# key.sh - --key-file: filters that are useless without the secret.
# shellcheck source=lib.sh
. "$1/lib.sh"

span() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) print i }'
}
span 0 1000 >keys
span 1000 1100 >more
span 5000 7000 >none
umask 077
printf 'jklmno0123456789' >raw
printf '6a6b6c6d6e6f30313233343536373839' >hex
printf '6A6B6C6D6E6F30313233343536373839\n' >line
printf 'fedcba9876543210' >wrong
without='with a secret: give the one .*--key-file'
another='another secret than'

# build FILE ARGUMENTS...: uses the key, at a rate too low to disturb tests.
build() {
    built=$1
    shift
    try build -H siphash --key-file raw -p 1e-9 -n 2000 -o "$built" "$@"
}

# only NAME FILE ARGUMENTS...: refused without the key and with a wrong one;
# FILE does not change.
only() {
    only_name=$1
    only_file=$2
    shift 2
    keeps "$only_name without the key" "$without" "$only_file" "$@"
    only_verb=$1
    shift
    keeps "$only_name with a wrong key" "$another" "$only_file" "$only_verb" \
        --key-file wrong "$@"
}

# ---- the file of the key ----------------------------------------------------
build f.bly keys
silent 'build'
for key in hex line; do
    try build -H siphash --key-file $key -p 1e-9 -n 2000 -o same.bly keys
    silent "build with the key in digits ($key)"
    check "$key is the same key" cmp f.bly same.bly
done
try build -H siphash --key-file wrong -p 1e-9 -n 2000 -o other.bly keys
silent 'build with another key'
check 'which makes another filter' sh -c '! cmp -s f.bly other.bly'
check 'the filter does not hold the key' sh -c '! grep -aq jklmno f.bly'
check 'nor its digits' \
    sh -c '! grep -aiq 6a6b6c6d6e6f f.bly'
: >empty
printf '0123456789abcde' >short
printf 'jklmno0123456789\n' >long
printf '6a6b6c6d6e6f3031323334353637383g' >letter
printf '6a6b6c6d6e6f30313233343536373839\n\n' >lines
head -c 100000 /dev/zero >large
for key in empty short long letter lines large; do
    keeps "a file that holds no key ($key)" "'$key' does not hold a secret.*urandom" \
        f.bly build -H siphash --key-file $key -o f.bly keys
done
keeps 'no such file of a key' "cannot read the secret in 'gone'" f.bly \
    build -H siphash --key-file gone -o f.bly keys
mkdir folder
keeps 'a folder' "cannot read the secret in 'folder'" f.bly \
    build -H siphash --key-file folder -o f.bly keys
cp raw open
chmod 644 open
try query -c --key-file open f.bly keys
note 'a key that others may read is warned of' "warning: .*'open'.*chmod 600"
check 'and used' [ "$(cat out)" = 1000 ]
keeps 'siphash without a key' 'siphash needs a secret' f.bly \
    build -H siphash -o f.bly keys
for hash in xxh3 identity; do
    keeps "a key and hash $hash" "$hash takes no secret" f.bly \
        build -H $hash --key-file raw -o f.bly keys
done
keeps 'a key and no hash' 'takes no secret' f.bly \
    build --key-file raw -o f.bly keys
keeps 'a seed beside the key' 'instead of a seed' f.bly \
    build -H siphash --key-file raw -s 7 -o f.bly keys

# ---- asking -----------------------------------------------------------------
try query --key-file raw -c f.bly keys
out_is 'query finds every key' 0 '1000\n'
try query --key-file raw -c f.bly none
out_is 'and nothing else' 1 '0\n'
only 'query' f.bly query f.bly keys
try query --key-file raw -c - keys <f.bly
out_is 'query of a filter from a pipe' 0 '1000\n'
try info --key-file raw f.bly
out_has 'info tells the hash' 0 '^  hash  *siphash'
try info --key-file raw --json f.bly
out_has 'and as JSON' 0 '"hash": "siphash"'
out_has 'the secret has a mark' 0 '"mark": [0-9]+,'
try info f.bly
note 'info without the secret' "hashed with a secret: use --key-file"
out_has 'shows the header' 0 '^  keys  *1,000 added, planned for 2,000$'
out_has 'and the mark' 0 '^  hash  *siphash, mark of the secret [0-9a-f]{16}$'
try info --json f.bly
out_has 'as JSON too' 0 '"hash": "siphash"'
keeps 'info with another secret' "$another" f.bly info --key-file wrong f.bly
head -c 3000 f.bly >short.bly
try info short.bly
refused 'info of a file that is cut short' 'cut short'
try build -p 1e-9 -o plain.bly keys
keeps 'a key for a filter that has none' 'without a secret' plain.bly \
    query --key-file raw plain.bly keys
try plan -n 1000 -k standard -H siphash --key-file raw
out_has 'plan' 0 '^kind  *standard'
try plan -n 1000 -k standard -H siphash
refused 'plan without the key' 'siphash needs a secret'

# ---- check needs no secret ---------------------------------------------------
try check f.bly
out_is 'check needs no key' 0 'f.bly: ok\n'
# shellcheck disable=SC2002  # a pipe is what is tested
cat f.bly | try check -
out_is 'nor in a pipe' 0 '-: ok\n'
try check --key-file raw f.bly
out_is 'check with the secret' 0 'f.bly: ok\n'
try check --key-file wrong f.bly
refused 'check with another' "$another"
try check --key-file raw plain.bly
refused 'check with one for a filter that has none' 'without a secret'
head -c 3000 f.bly >cut.bly
try check cut.bly
refused 'check of one that is cut short' 'cut short'
{ head -c 2000 f.bly; printf x; tail -c +2002 f.bly; } >bad.bly
check 'a byte was changed' sh -c '! cmp -s f.bly bad.bly'
try check bad.bly
refused 'check of one that is damaged' 'damaged'
# shellcheck disable=SC2002  # a pipe is what is tested
cat bad.bly | try check -
refused 'and in a pipe' 'damaged'

# ---- changing ---------------------------------------------------------------
only 'add' f.bly add f.bly more
try add --key-file raw f.bly more
silent 'add'
try query --key-file raw -c f.bly keys more
out_is 'added keys are found' 0 '1100\n'
build c.bly -k counting keys
only 'remove' c.bly remove c.bly keys
try remove --key-file raw c.bly keys
silent 'remove'
try query --key-file raw -c c.bly keys
out_is 'removed keys are not found' 1 '0\n'
try add --key-file raw c.bly keys keys
silent 'add to a filter that counts'
try count --key-file raw -m 2 c.bly keys
check 'count counts every key' sh -c 'grep -c "^2	" out | grep -qx 1000'
only 'count' c.bly count c.bly keys
awk '{ print $1 % 7 "\t" $1 }' keys >labelled
build l.bly -k bloomier:bits=4 -l 1 labelled
silent 'build with labels'
try get --key-file raw l.bly keys
check 'get tells every label' cmp labelled out
only 'get' l.bly get l.bly keys
awk '{ print ($1 + 1) % 7 "\t" $1 }' keys >moved
only 'put' l.bly put l.bly moved
try put --key-file raw l.bly moved
silent 'put'
try get --key-file raw l.bly keys
check 'the labels are new' cmp moved out
build r.bly -k quotient keys
only 'resize' r.bly resize -n 4000 r.bly
try resize --key-file raw -n 4000 r.bly
silent 'resize'
try query --key-file raw -c r.bly keys
out_is 'and every key is there' 0 '1000\n'
for kind in fuse gcs scalable; do
    build k.bly -k $kind keys
    silent "build of kind $kind"
    try query --key-file raw -c k.bly keys
    out_is "which finds every key ($kind)" 0 '1000\n'
    only "query of kind $kind" k.bly query k.bly keys
    try check k.bly
    out_is "check of kind $kind" 0 'k.bly: ok\n'
done
try build -k cascade -H siphash --key-file raw --without none -o w.bly keys
silent 'build --without'
try query --key-file raw w.bly keys none
check 'finds the keys and none of the others' cmp keys out

# ---- in the file ------------------------------------------------------------
build p.bly -k buffered keys
try build -H siphash --key-file raw -p 1e-9 -n 2000 -k buffered -M 64k \
    -o q.bly keys
silent 'build in the file'
check 'makes the same filter' cmp p.bly q.bly
only 'add in the file' q.bly add -M 64k q.bly more
try add -M 64k --key-file raw q.bly more
silent 'add in the file with the key'
try query --paged --key-file raw -c q.bly keys more
out_is 'query --paged finds every key' 0 '1100\n'
only 'query --paged' q.bly query --paged q.bly keys

# ---- two filters ------------------------------------------------------------
build a.bly keys
build b.bly more
for verb in unite intersect; do
    only "$verb" a.bly $verb -o a.bly a.bly b.bly
    keeps "$verb of two keys" "$another" a.bly $verb --key-file raw \
        -o a.bly a.bly other.bly
    keeps "$verb with the other one's key" "$another" a.bly $verb \
        --key-file wrong -o a.bly a.bly other.bly
done
try unite --key-file raw -o u.bly a.bly b.bly
silent 'unite'
try query --key-file raw -c u.bly keys more
out_is 'every key of both is there' 0 '1100\n'
try intersect --key-file raw -o i.bly u.bly b.bly
silent 'intersect'
try query --key-file raw -c i.bly keys more
out_is 'keys of both are found' 0 '100\n'
only 'overlap' a.bly overlap a.bly u.bly
try overlap --key-file raw a.bly u.bly
out_has 'overlap' 0 '^in both  *[0-9,]+'
try overlap --key-file raw a.bly other.bly
refused 'overlap of two keys' "$another"

# ---- sketches ---------------------------------------------------------------
for how in '--differences 200' '--differences 200 --whole 8' '-p 1e-9 -n 2000'; do
    # shellcheck disable=SC2086  # options
    try sketch $how -H siphash --key-file raw -o s.bly keys
    silent "sketch $how"
    try diff --key-file raw s.bly keys more
    check "diff by sketch $how: status" [ "$(cat status)" = 1 ]
    check "diff by sketch $how: what is lacking" cmp out more
    only "diff by sketch $how" s.bly diff s.bly keys
done
try sketch --differences 20 -H siphash -o t.bly keys
refused 'sketch without the key' 'siphash needs a secret'

# ---- lines ------------------------------------------------------------------
for how in '-a -p 1e-9' '-w 5000'; do
    # shellcheck disable=SC2086  # options
    try dedup $how --key-file raw keys more keys
    check "dedup $how: each line once" sh -c 'cat keys more | cmp - out'
done
try dedup -a --key-file short keys
refused 'dedup with no key' 'does not hold a secret'
# With few bits per line, lines are dropped: the same ones only for the same
# secret.
awk 'BEGIN { for (i = 0; i < 2000; i++) print i }' >numbers
for secret in raw wrong; do
    try dedup -a -p 0.2 --key-file $secret numbers
    cp out dropped.$secret
    try dedup -a -p 0.2 --key-file $secret numbers
    check "dedup -a with secret '$secret' drops the same lines" \
        cmp out dropped.$secret
done
check 'dedup -a with another secret drops other lines' \
    sh -c '! cmp -s dropped.raw dropped.wrong'
for how in '-a -p 0.2' '-w 2000 -p 0.2'; do
    # shellcheck disable=SC2086  # options
    try dedup $how numbers
    cp out dropped.first
    # shellcheck disable=SC2086
    try dedup $how numbers
    check "dedup $how without a secret drops other lines in each run" \
        sh -c '! cmp -s out dropped.first'
done

finish
