# dedup-similar.sh - similar documents, compared with dedup-similar.py.
#
# The hashes depend on a secret, so runs miss different pairs, each with a
# probability of at most 1%. A small example must come out right in one of five
# runs, and fails with a probability of 1e-10. Where a large run is compared
# with an exact answer, dedup-similar.py computes a bound of the chance of a
# failure, which must be below 1e-9. Where the output must be exact, all similar
# pairs of the corpus have a similarity of 0.8 or more and --similar is 50%. The
# 35 bands of 3 hashes then miss a pair with a probability of at most
# (1 - 0.8^3)^35 = 1.3e-11, and there are fewer than 1000 such pairs.
# shellcheck source=lib.sh
. "$1/lib.sh"
oracle() { python3 "$here/dedup-similar.py" "$@"; }
here=$1

echo '{"k":"a"}' >one
try dedup --json-field k --similar 80% one
if [ "$(cat status)" = 2 ]; then      # built without BLY_JSON
    refused 'without JSON: --json-field' 'BLY_JSON=OFF: build it with'
    finish
fi

# ---- what is similar --------------------------------------------------------
# prints NAME OUT ARGUMENTS...: dedup with the arguments prints OUT, in one of
# five runs.
prints() {
    name=$1
    printf '%b' "$2" >want
    shift 2
    for _ in 1 2 3 4 5; do
        try dedup "$@"
        cmp -s out want && break
    done
    check "$name" cmp out want
}

printf 'a b c d e f\na b c  d\te f\na b c d e g\n' >lines
prints 'blanks do not matter among enough words' \
    'a b c d e f\na b c d e g\n' --similar 100% lines
printf 'a b c d\na b  c d\na b c d\nb\n\n\n \n' >lines
prints 'fewer words are one element, and so is an empty document' \
    'a b c d\na b  c d\nb\n\n \n' --similar 1e-1 lines
printf 'a\nb\nc\nd\0d\nc\n\nb\na\na\0a\nb\nc\n\0' >nul
prints 'sets of lines, in any order; the share itself is enough' \
    'a\nb\nc\nd\0' -0 --by lines --similar 75% nul
prints 'and less is not' \
    'a\nb\nc\nd\0a\nb\nc\n\0' -0 --by lines --similar 76% nul
printf 'a\nb\n\nc\n\nd\0a\nb\n\nc\n\ne\0a\n\nb\n\nc\n\nd\0' >nul
prints 'sets of paragraphs' \
    'a\nb\n\nc\n\nd\0a\n\nb\n\nc\n\nd\0' -0 --by paragraphs --similar 50% nul
printf 'a b c d e f g h\nb c d e f g h i\nc d e f g h i j\n' >lines
prints 'a document that is similar only to a removed one stays' \
    'a b c d e f g h\nc d e f g h i j\n' --similar 60% lines

# ---- a corpus with similarities from 0.2 to 1 -------------------------------
oracle make 1 "$(work 20000 8000)" 0.2 >corpus.jsonl
oracle pairs ngrams=5 <corpus.jsonl >pairs
for share in 0.5 0.6 0.7 0.8 0.9; do
    try dedup --json-field text --similar $share corpus.jsonl
    check "--similar $share: right, and nearly complete" \
        oracle exact $share corpus.jsonl pairs out
    check 'the bands are told' grep -q "note: $(oracle shape $share 0.99 128 |
        sed 's/\(.*\) \(.*\)/\1 bands of \2 hashes miss 0/')" err
    try dedup --json-field text --similar $share -a corpus.jsonl
    check "--similar $share --approximate: as many as expected" \
        oracle filter $share corpus.jsonl pairs out
    check 'the bands are told' grep -q "note: $(oracle shape $share 0.5 256 |
        sed 's/\(.*\) \(.*\)/\1 bands of \2 hashes remove 10%/')" err
done
try dedup --json-field text --similar 0.7 --annotate near corpus.jsonl
check '--annotate tells the most similar document' \
    oracle notes 0.7 corpus.jsonl pairs out near
printf '00112233445566778899aabbccddeeff\n' >key
for jobs in 1 3; do
    try dedup --json-field text --similar 0.7 -a --key-file key -j $jobs \
        corpus.jsonl
    mv out out.$jobs
done
check '--approximate: the threads change nothing' cmp out.1 out.3
check 'and the secret decides alone' [ -s out.1 ]
try dedup --json-field text --similar 0.8 -a -p 20% corpus.jsonl
check '--approximate: how many were removed by mistake is told' \
    grep -q 'up to about [0-9,]* documents that are not similar' err

# ---- a corpus whose similar pairs are all found -----------------------------
# sure NAME: no pair is one that may be missed.
sure() {
    check "$1: no similarity is near the share" \
        awk '$3 / $4 < 0.8 && $3 / $4 >= 0.5 { exit 1 }' pairs
}

oracle make 2 1000 0.95 >sure.jsonl
oracle pairs ngrams=5 <sure.jsonl >pairs
sure n-grams
oracle want 0.5 0 sure.jsonl pairs >wanted
gzip -k sure.jsonl
for how in '-j 1' '-j 3' '-M 1M'; do
    # shellcheck disable=SC2086
    try dedup --json-field text --similar 50% $how sure.jsonl
    check "$how" cmp out wanted
done
try dedup --json-field text --similar 50% sure.jsonl.gz
check 'compressed' cmp out wanted
try dedup --json-field text --similar 50% <sure.jsonl
check 'from a pipe' cmp out wanted
try dedup --json-field text --similar 50% -o file --json sure.jsonl
check '--json' python3 -c '
import json
told = json.load(open("out"))
assert told["printed"] == sum(1 for _ in open("wanted"))
assert told["printed"] + told["similar"] == told["lines"] == 1000
assert told["bands"] == 35 and told["rows"] == 3
assert 0 < told["missed"] < 0.01 and told["compared"] >= told["similar"]
assert told["dropped"] == 0'
head -n 300 sure.jsonl >first.jsonl
tail -n +301 sure.jsonl >then.jsonl
oracle want 0.5 300 sure.jsonl pairs >wanted
try dedup --json-field text --similar 50% --known first.jsonl then.jsonl
check '--known' cmp out wanted
try dedup --json-field text --similar 50% -a -p 1e-9 then.jsonl
mv out alone
try dedup --json-field text --similar 50% -a -p 1e-9 --known first.jsonl \
    then.jsonl
check '--known --approximate: more is removed' \
    [ "$(wc -l <out)" -lt "$(wc -l <alone)" ]
for by in lines paragraphs ngrams=1; do
    oracle pairs $by <first.jsonl >pairs
    sure "--by $by"
    oracle want 0.5 0 first.jsonl pairs >wanted
    try dedup --json-field text --similar 50% --by $by first.jsonl
    check "--by $by" cmp out wanted
done

# ---- memory -----------------------------------------------------------------
seq 1 20000 >numbers
try dedup --similar 80% -M 1M -o file2 numbers
refused '-M that is too small' 'after [0-9,]* documents, the tables of 16 bands'
try dedup --similar 80% -M 1M -a -o file2 numbers
refused '-M that is too small for a filter' 'the filter takes'

# ---- wrong ------------------------------------------------------------------
for share in 0 0% -1 1.1 101% nan NaN inf x ''; do
    try dedup --similar "$share" lines
    refused "--similar '$share'" 'give'
done
for how in '' -a; do
    try dedup $how --similar 0.1% lines
    refused "a share that no bands find, $how" 'too small'
done
for with in '--overlap 0.5' '--remove both' '--remove parts' '-w 9' -c -d -u \
    -i '-k standard' '-f 1'; do
    # shellcheck disable=SC2086
    try dedup --similar 80% $with -a lines
    refused "--similar with $with" 'similar|approximate'
done
try dedup --similar 80% --by lines lines
refused 'lines have no lines' 'give --json-field NAME, or -0'
try dedup --similar 80% --by ngrams=0 lines
refused 'n-grams of no words' 'give the number of words'
try dedup --similar 80% --annotate x lines
refused '--annotate without JSON' 'give the member with the text'
try dedup --similar 80% -a --annotate x --json-field text sure.jsonl
refused '--annotate with a filter' 'leave out --approximate'
try dedup --similar 80% --annotate id --json-field text -o file2 sure.jsonl
refused '--annotate with the name of a member' "a member 'id' already"
try dedup --similar 80% --json-field text --known one -o file2 sure.jsonl
refused '--known without the member' "no document in 'one'"
gzip -c sure.jsonl | head -c 5000 >cut.jsonl.gz
for how in -j1 -a; do
    try dedup $how --json-field text --similar 80% -o file2 cut.jsonl.gz
    refused "a file that is cut short, $how" 'cut.jsonl.gz'
done
TMPDIR=/nowhere try dedup --json-field text --similar 80% -o file2 \
    corpus.jsonl
refused 'no place for a temporary file' 'set TMPDIR to a folder that exists'
finish
