# dedup-units.sh - parts of documents, compared with dedup-units.py.
# shellcheck source=lib.sh
. "$1/lib.sh"
oracle() { python3 "$here/dedup-units.py" "$@"; }
here=$1

# printed NAME OUT: that was printed.
printed() {
    printf '%b' "$2" >want
    check "$1" cmp out want
}

echo '{"k":"a"}' >one
try dedup --json-field k --by lines one
if [ "$(cat status)" = 2 ]; then      # built without BLY_JSON
    refused 'without JSON: --json-field' 'BLY_JSON=OFF: build it with'
    finish
fi

# ---- what is removed --------------------------------------------------------
echo '{"text":"a"}' >one.jsonl
cat >some.jsonl <<'END'
{"id":1,"text":"To be\nor not to be\n\nthat is \"the\" question"}
{"id":2, "text":"Whether\n\nthat is \"the\" question\n\nnew caf\u00e9 \ud800 \u0001" , "x":[1,2]}
{"id":3,"text":"or not to be"}
{"id":4}
{"id":5,"text":""}
{"id":6,"text":"To be\nor not to be\n\nthat is \"the\" question"}
END
try dedup --json-field text --by paragraphs some.jsonl
cat >want <<'END'
{"id":1,"text":"To be\nor not to be\n\nthat is \"the\" question"}
{"id":2, "text":"Whether\n\nnew café \ud800 \u0001" , "x":[1,2]}
{"id":3,"text":"or not to be"}
{"id":4}
{"id":5,"text":""}
END
check 'paragraphs: the rest of a document stays as it was' cmp out want
told='paragraphs that occurred before: 3 of 8; documents printed: 5 of 6'
check 'and how many are repeated is told' grep -q "note: $told\$" err
try dedup --json-field text --by lines --annotate dup some.jsonl
check 'spans count characters' grep -q \
    '^{"id":2, .*"x":\[1,2\], "dup": \[\[9, 31, 1\]\]}$' out
try dedup --json-field text --by lines --annotate "$(printf '\377')" one.jsonl
check 'a name that is not UTF-8 is made valid' \
    grep -qx '{"text":"a", "\\ufffd": \[\]}' out
try dedup --json-field text --by lines --annotate dup some.jsonl
check 'a document without the member is printed as it is' \
    grep -qx '{"id":4}' out
try dedup --by ngrams=1 --overlap 100% one one
printed 'lines of text are documents, too' '{"k":"a"}\n'
printf 'one\ntwo\n\nthree\n\none\ntwo\n' >text
cp text nul && printf '\0' >>nul
try dedup -0 --by paragraphs nul
printed '-0: records are documents' 'one\ntwo\n\nthree\n\n\0'
printf 'a\nb\na' >nul
try dedup -0 --by lines nul
printed 'no newline is left that was not there' 'a\nb\0'
printf 'spam spam spam spam\0spam spam\0eggs\0' >nul
try dedup -0 --by ngrams=2 nul
printed 'n-grams that are repeated in a line alone are new' \
    'spam spam spam spam\0eggs\0'
printf '1234567\0001234567\n890123456789012345\0' >nul
try dedup -0 --by lines --remove documents --overlap 28% nul
printed '--overlap: the share itself is enough' '1234567\0'
python3 >lines - <<'END'
# words + - and - +, whose polynomials are the same at 0x9e3779b97f4a7c15
# modulo 2^64
signs = "0---+-0+++++0-+-+-0000-0-++-+--+0++000----+-0+0-+0-+++00+0--"
minus = {"0": "0", "+": "-", "-": "+"}
turns = "".join("-+"[bin(i).count("1") % 2] for i in range(16))
one = "".join(sign if turn == "+" else minus[sign]
              for sign in reversed(signs) for turn in turns)
print(*one)
print(*(minus[word] for word in one))
END
try dedup --by ngrams=960 lines
check 'n-grams cannot be chosen that are taken for each other' cmp out lines

# ---- against the description --------------------------------------------------
oracle make 1 "$(work 6000 500)" >corpus.jsonl
gzip -k corpus.jsonl
for by in lines paragraphs ngrams=1 ngrams=3 ngrams=13; do
    for remove in parts documents both none; do
        oracle want "$by" "$remove" 0.8 <corpus.jsonl >wanted
        try dedup --json-field text --by "$by" --remove "$remove" corpus.jsonl
        check "--by $by --remove $remove" oracle same out wanted
    done
    oracle want "$by" none 0.5 dup <corpus.jsonl >wanted
    try dedup --json-field text --by "$by" --overlap 0.5 --annotate dup \
        corpus.jsonl
    check "--by $by --annotate, half of it" oracle same out wanted
    oracle want "$by" both 0.3 <corpus.jsonl >wanted
    try dedup --json-field text --by "$by" --overlap 30% --remove both -M 1M \
        -j 3 corpus.jsonl.gz
    check "--by $by in little memory, compressed" oracle same out wanted
    try dedup --json-field text --by "$by" --overlap 30% --remove both \
        -a -p 1e-9 - <corpus.jsonl
    check "--by $by --approximate, at a tiny rate" oracle same out wanted
done
try dedup --json-field text --by ngrams=5 -M 1M -o file --json corpus.jsonl
check '--json' python3 -c '
import json
told = json.load(open("out"))
assert told["lines"] == sum(1 for _ in open("corpus.jsonl"))
assert told["printed"] == sum(1 for _ in open("file"))
assert 0 < told["repeated"] < told["parts"] and "dropped" not in told'
try dedup --json-field text --by paragraphs -a -p 20% corpus.jsonl
check 'the paragraphs that may be lost are told' \
    grep -q 'up to about [0-9,]* new paragraphs may have been dropped' err

# ---- what is known --------------------------------------------------------------
head -n 300 corpus.jsonl >first.jsonl
tail -n +301 corpus.jsonl >then.jsonl
for how in '-M 1M' '-a -p 1e-9'; do
    # shellcheck disable=SC2086
    try dedup $how --json-field text --by ngrams=3 --annotate d corpus.jsonl
    tail -n +301 out >wanted
    # shellcheck disable=SC2086
    try dedup $how --json-field text --by ngrams=3 --annotate d \
        --known first.jsonl then.jsonl
    check "--known $how: as if it came before" cmp out wanted
done
try dedup --json-field text --by lines --known first.jsonl <then.jsonl
mv out wanted
try dedup --json-field text --by lines --known first.jsonl then.jsonl
check '--known: the others from a pipe' cmp out wanted
try dedup --json-field id --by lines --known one some.jsonl
refused '--known without the member' "no document in 'one', which --known names, has a text to compare in member 'id' \\(check "
try dedup --json-field id --by lines --known some.jsonl --known one some.jsonl
refused '--known of which one lacks the member' "no document in 'one'"
try dedup --json-field text --by ngrams=100 --known some.jsonl corpus.jsonl
refused '--known of short lines' 'has a line of so many words to compare'
gzip -c first.jsonl | head -c 1000 >cut.jsonl.gz
for how in -j1 -a; do
    try dedup $how --json-field text --by lines --known cut.jsonl.gz then.jsonl
    refused "--known that is cut short, $how" 'cut.jsonl.gz'
done
try dedup --json-field txt --by lines some.jsonl -o file4
refused 'no document has the member' 'no line has member'
try dedup --json-field id --by lines --known none some.jsonl
refused '--known that is missing' "cannot read 'none'"
try dedup --json-field id --by lines --known - some.jsonl
refused '--known from a pipe' 'name a file'
try dedup --known one some.jsonl
refused '--known needs --by' 'by'

# ---- wrong ---------------------------------------------------------------------
try dedup --by sentences --json-field text some.jsonl
refused 'an unknown unit' 'give lines, paragraphs or ngrams=N'
for n in 0 x 1x 1001 -1 ''; do
    try dedup --by ngrams=$n some.jsonl
    refused "ngrams=$n" 'give the number of words, 1 to 1000'
done
try dedup --by lines --remove all --json-field text some.jsonl
refused 'an unknown --remove' 'give parts, documents, both or none'
try dedup --by lines --remove both --annotate x --json-field text some.jsonl
refused '--annotate with --remove' 'leave one of them out'
try dedup --by lines --annotate '' --json-field text some.jsonl
refused "--annotate ''" 'names no member'
try dedup --by ngrams=2 --annotate x some.jsonl
refused '--annotate without JSON' 'give the member with the text'
try dedup --by paragraphs some.jsonl
refused 'lines have no paragraphs' 'give --json-field NAME, or -0'
try dedup --by lines --annotate x --json-field text -o file2 some.jsonl
refused '--annotate with the name of a member' "a member 'x' already"
tr '\n' '\0' <some.jsonl >some.nul
try dedup -0 --by lines --annotate x --json-field text -o file2 some.nul
refused '-0: likewise' "a member 'x' already"
try dedup --by lines --overlap 0 --json-field text some.jsonl
refused '--overlap 0' 'give a share above 0'
try dedup --by lines --json-field text -i some.jsonl
refused 'texts are not changed' 'ignore-case'
try dedup --remove both some.jsonl
refused '--remove needs --by' 'by'
finish
