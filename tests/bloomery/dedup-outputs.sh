# dedup-outputs.sh - dedup --output-dir and --resume.
# shellcheck source=lib.sh
. "$1/lib.sh"

echo '{"text":"a"}' >one
try dedup --json-field text --by lines one
if [ "$(cat status)" = 2 ]; then      # built without BLY_JSON
    skip 'dedup --output-dir' 'built without BLY_JSON'
    finish
fi
mkdir -p in/deep
for i in 1 2 3 5; do
    seq 200 | awk -v i=$i '{
        print "{\"id\":" $1 ",\"text\":\"line " $1 * i "\\nother " $1 + i "\"}" }' \
        >in/$i.jsonl
done
: >in/4.jsonl
mv in/5.jsonl in/deep
files='in/1.jsonl in/2.jsonl in/3.jsonl in/4.jsonl ./in/deep/5.jsonl'
packs=true
gzip -k in/2.jsonl
printf x | gzip | try dedup
[ "$(cat status)" = 0 ] || packs=false
if $packs; then
    files='in/1.jsonl in/2.jsonl.gz in/3.jsonl in/4.jsonl ./in/deep/5.jsonl'
fi
if $packs && command -v zstd >zstd.log; then
    zstd -q in/3.jsonl
    files='in/1.jsonl in/2.jsonl.gz in/3.jsonl.zst in/4.jsonl ./in/deep/5.jsonl'
fi

# dedup OPTIONS...: all files, by lines.
dedup() {
    # shellcheck disable=SC2086  # several files
    try dedup --json-field text --by lines "$@" $files
}

# plain FOLDER: prints all outputs, as they are named.
plain() {
    for file in $files; do
        case $file in
        *.gz) gzip -dc "$1/$file" ;;
        *.zst) zstd -dc "$1/$file" ;;
        *) cat "$1/$file" ;;
        esac
    done
}

dedup
mv out want
dedup --output-dir out.d
plain out.d >got
check 'all outputs together are what is printed' cmp got want
check 'an empty input has an empty output' test -f out.d/in/4.jsonl
check 'nothing is printed' test ! -s out
for file in $files; do
    check "$file has an output" test -e "out.d/$file"
done
check 'and its journal is gone' test ! -e out.d/.bloomery-dedup
dedup --output-dir out.d
refused 'outputs that are there' "exists and is not empty: --resume goes on"
dedup --output-dir out.d --force
plain out.d >got
check '--force: they are replaced' cmp got want

# ---- again after an interruption --------------------------------------------
# journal: the journal of a run that fails at the fifth output.
journal() {
    rm -rf broken
    mkdir -p broken/in
    : >broken/in/deep
    dedup --output-dir broken
    refused 'a file in the place of a folder' "'broken/in/deep' is not a folder"
}

# As if it had been interrupted in the third file.
resumed() {
    journal
    head -n 3 broken/.bloomery-dedup >journal
    [ $# -eq 0 ] || printf '%s' "$1" >>journal
    cp journal out.d/.bloomery-dedup
    rm -f out.d/in/3* out.d/in/4* out.d/in/deep/*
    echo "as it was" >out.d/in/1.jsonl
    dedup --output-dir out.d --resume
}
resumed
check '--resume: what is complete stays' grep -q '^as it was$' out.d/in/1.jsonl
plain out.d | sed 1d >got
sed '1,200d' want >rest
check '--resume: the others are as without an interruption' cmp got rest
check '--resume: then the journal is gone' test ! -e out.d/.bloomery-dedup
resumed '123 45'
plain out.d | sed 1d >got
check '--resume: a line that was cut does not matter' cmp got rest
dedup --output-dir out.d --resume
refused '--resume of what is complete' \
    "all outputs are in 'out.d', and nothing is left to resume"
plain out.d | sed 1d >got
check 'which changes nothing' cmp got rest
journal
cp broken/.bloomery-dedup out.d
try dedup -r --json-field text out.d
check '-r: a journal is not read' test "$(grep -c '^bloomery' out)" = 0
try dedup --json-field text --by paragraphs --output-dir out.d --resume in/1.jsonl
refused 'other options' "outputs in 'out.d' were made with --by lines: give the same"
try dedup --json-field text --by lines --trust-json --remove both --overlap 0.5 \
    --output-dir out.d --resume in/1.jsonl
refused 'each that differs' \
    'were made with --overlap 0.8, without --remove both, without --trust-json: '
try dedup --json-field text --by lines --output-dir out.d --resume in/1.jsonl
refused 'other files' 'give the same files in the same order'
echo 'bloomery dedup 1 --by lines' >broken/.bloomery-dedup
dedup --output-dir broken --resume
refused 'the journal of another version' 'not a journal of this version'
echo '{"text":"new"}' >>in/1.jsonl
dedup --output-dir out.d --resume
refused 'a file that has changed' "'in/1.jsonl' has changed since"
dedup --output-dir fresh --resume
refused 'nothing to go on with' 'nothing was begun in this folder'

# ---- two runs at once -------------------------------------------------------
mkfifo slow
"$BLOOMERY" dedup --json-field text --by lines --output-dir both slow \
    2>first.err &
first=$!
exec 5>slow
tries=0
until [ -s both/.bloomery-dedup ] || [ $tries -ge 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
try dedup --json-field text --by lines --output-dir both --force in/2.jsonl
refused 'a folder to which another run writes' "another run writes to 'both'"
echo '{"text":"a"}' >&5
exec 5>&-
wait $first
check 'the first run ends well' grep -q '"a"' both/slow

# ---- an interruption while an input grows -----------------------------------
# begin FOLDER OPTIONS...: starts to read grows.jsonl and a pipe, descriptor 5.
begin() {
    folder=$1
    shift
    "$BLOOMERY" dedup --json-field text --by lines -a --key-file key \
        --output-dir "$folder" "$@" grows.jsonl slow 2>begun.err &
    begun=$!
    exec 5>slow
}

# until_is COMMAND...: waits until it succeeds, for ten seconds at most.
until_is() {
    tries=0
    until "$@" 2>until.log || [ $tries -ge 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
}
journal_of() { test "$(sed -n '$=' grow/.bloomery-dedup)" = "$1"; }
whole_journal() { ! grep -q '^out$' grow/.bloomery-dedup; }
again() {
    try dedup --json-field text --by lines -a --key-file key --output-dir grow \
        --resume grows.jsonl slow
}

printf '0123456789abcdef' >key
chmod 600 key
echo '{"text":"a"}' >grows.jsonl
begin grow
until_is [ -s grow/.bloomery-dedup ]
echo '{"text":"late"}' >>grows.jsonl
echo '{"text":"b"}' >&5
until_is [ -e grow/grows.jsonl ]
kill -9 $begun
wait $begun 2>killed.log
exec 5>&-
check 'an input that grew is not in the journal' journal_of 1
rm slow
echo '{"text":"late"}' >slow
again
status_is '--resume after it' 0
check 'what was added is in one output' \
    test "$(cat grow/grows.jsonl grow/slow | grep -c late)" = 1
rm slow
mkfifo slow
begin grow --force
echo '{"text":"b"}' >&5
until_is journal_of 2
kill -9 $begun
wait $begun 2>killed.log
exec 5>&-
printf 'out' >>grow/.bloomery-dedup
begin grow --resume
until_is whole_journal
until_is journal_of 2
sleep 0.01
echo '{"text":"later"}' >>grows.jsonl
echo '{"text":"c"}' >&5
exec 5>&-
wait $begun
check 'an input that is complete, and grows while it is read again' \
    grep -q "'grows.jsonl' changed while it was read" begun.err
rm slow
echo '{"text":"later"}' >slow
again
refused 'and after that' "'grows.jsonl' has changed since it was read"

# ---- outputs that are gone --------------------------------------------------
for i in 1 2 3; do
    echo "{\"text\":\"$i\"}" >$i.jsonl
done
mkdir -p sub gone
: >gone/sub                     # the last output cannot be written
echo '{"text":"b"}' >sub/b.jsonl
three() { try dedup --json-field text --by lines --output-dir gone "$@" \
    1.jsonl 2.jsonl 3.jsonl sub/b.jsonl; }
three
for i in 1 2 3; do
    for mark in 1 2 3; do
        echo "as it was" >gone/$mark.jsonl
    done
    rm gone/$i.jsonl
    three --resume
    refused "output $i is gone" "'gone/sub' is not a folder"
    check "and is written again" cmp gone/$i.jsonl $i.jsonl
    check 'the journal is in order' \
        test "$(sed -n 's/.* //p' gone/.bloomery-dedup | tail -n 3 |
            tr '\n' ' ')" = '1.jsonl 2.jsonl 3.jsonl '
    [ $i = 1 ] || check 'an output before it stays' \
        grep -q '^as it was$' gone/1.jsonl
done

# ---- files that are no text -------------------------------------------------
mkdir tree
echo '{"text":"a"}' >tree/1
printf '\0' >tree/2
echo '{"text":"a b"}' >tree/3
: >tree/4
printf '\0' >tree/5
mkdir -p tree/sub skip/tree
echo '{"text":"b"}' >tree/sub/b
: >skip/tree/sub
for again in '' --resume; do
    # shellcheck disable=SC2086  # an option or none
    try dedup --json-field text --by lines --output-dir skip $again -r tree
    refused "-r with files that are skipped, '$again'" 'is not a folder'
    check "which have no outputs, '$again'" [ ! -e skip/tree/2 ]
    check "nor at the end, '$again'" [ ! -e skip/tree/5 ]
    check "an empty file has one, '$again'" [ -e skip/tree/4 ]
    check "the journal has all five, '$again'" \
        test "$(sed -n '$=' skip/.bloomery-dedup)" = 6
    check 'the journal says which' \
        test "$(grep -c '^skipped ' skip/.bloomery-dedup)" = 2
    echo 'as it was' >skip/tree/3
done
check '--resume: outputs behind one that is skipped stay' \
    grep -q '^as it was$' skip/tree/3
echo '{"text":"c"}' >tree/2
try dedup --json-field text --by lines --output-dir skip --resume -r tree
refused 'a file that has become text' 'has changed since it was read'

# ---- other inputs, and other hashes -----------------------------------------
# These runs fail at the second output, whose folder is a file, and so leave
# their journal.
mkdir -p sub two keyed folder/a.jsonl
: >two/sub
: >keyed/sub
printf '{"text":"a"}\n' >a.jsonl
printf '{"text":"b"}\n' >sub/b.jsonl
printf '{"text":"k"}\n' >known.jsonl
by='dedup --json-field text --by lines --output-dir two'
# shellcheck disable=SC2086  # words
try $by --known known.jsonl a.jsonl sub/b.jsonl
# shellcheck disable=SC2086
try $by --resume --known known.jsonl sub/b.jsonl a.jsonl
refused 'another order of inputs' 'in the same order'
# shellcheck disable=SC2086
try $by --resume --known sub/b.jsonl a.jsonl sub/b.jsonl
refused 'another known file' 'were made with --known known.jsonl: '
# shellcheck disable=SC2086
try $by --resume a.jsonl sub/b.jsonl
refused 'no known file' 'were made with --known known.jsonl: '
printf '{"text":"other"}\n' >known.jsonl
# shellcheck disable=SC2086
try $by --resume --known known.jsonl a.jsonl sub/b.jsonl
refused 'a known file that changed' \
    'were made with another content of --known known.jsonl: '
for how in '--similar 80%' '--by lines -a' '--by lines -w 9'; do
    # shellcheck disable=SC2086
    try dedup --json-field text $how --output-dir two --resume a.jsonl
    refused "--resume $how" 'needs the hashes of the earlier run'
done
printf '0123456789abcdef' >key
printf '0123456789abcdeF' >other.key
chmod 600 key other.key
by='dedup --json-field text --by lines -a --output-dir keyed'
# shellcheck disable=SC2086
try $by --key-file key a.jsonl sub/b.jsonl
check 'the journal does not have the secret' \
    test "$(grep -c 0123456789abcdef keyed/.bloomery-dedup)" = 0
# shellcheck disable=SC2086
try $by --key-file other.key --resume a.jsonl sub/b.jsonl
refused 'another secret' 'were made with another content of --key-file: '
for other in '--items 1000' '--kind scalable:of=standard' \
    '--memory 2097152'; do
    # shellcheck disable=SC2086  # an option and its value
    try $by --key-file key --resume $other a.jsonl sub/b.jsonl
    refused "another filter, $other" "were made without $other: "
done
# shellcheck disable=SC2086
try $by --key-file key -p 0.1001% --resume a.jsonl sub/b.jsonl
refused 'another rate' 'were made with --rate 0.001: '
rm keyed/sub
# shellcheck disable=SC2086
try $by --key-file key --resume a.jsonl sub/b.jsonl
status_is '--resume -a with the key' 0
check 'and the last output is there' test -e keyed/sub/b.jsonl

# ---- what cannot have outputs -----------------------------------------------
dedup --output-dir in
refused 'inputs in the folder of outputs' 'in the folder of the outputs'
cp in/1.jsonl here.jsonl
try dedup --json-field text --by lines --output-dir . here.jsonl
refused 'an output that is its input' 'is both the input and the output'
mkdir link.d
echo '{"text":"z"}' >link.d/here.jsonl
ln -s link.d link
cp link.d/here.jsonl linked
try dedup --json-field text --by lines --output-dir link --force here.jsonl \
    link.d/here.jsonl
refused 'an output that is another input' 'is both the input and the output'
check 'which stays' cmp link.d/here.jsonl linked
try dedup --json-field text --by lines --output-dir link --force \
    --known link.d/here.jsonl here.jsonl
refused 'an output that is a known file' 'is both the input and the output'
try dedup --json-field text --by lines --output-dir folder a.jsonl
refused 'a folder in the place of an output' "'folder/a.jsonl' is a folder"
try dedup --json-field text --by lines --output-dir /dev/null a.jsonl
refused 'a device as the folder' "'/dev/null' is not a folder: give another"
for how in '--by lines' '--by ngrams=2 -a' '--similar 80%'; do
    rm -rf out2
    # shellcheck disable=SC2086
    try dedup --json-field txet $how --output-dir out2 a.jsonl sub/b.jsonl
    refused "$how: no document has the member" \
        "no line has member 'txet': .*: the members are text"
    check "$how: and no output is left" test -z "$(find out2 -type f)"
done
try dedup --json-field text --by lines --output-dir out2 <here.jsonl
refused 'standard input' 'has no name for an output'
try dedup --json-field text --by lines --output-dir out2 in/../here.jsonl
refused 'a path upwards' "without '..'"
try dedup --json-field text --by lines --output-dir out2 here.jsonl ./here.jsonl
refused 'two inputs of one name' "two inputs would have the output 'here.jsonl'"
for path in in//1.jsonl in/./1.jsonl in/.//./1.jsonl; do
    try dedup --json-field text --by lines --output-dir out2 in/1.jsonl \
        in/2.jsonl $path
    refused "two spellings of one name, $path" 'two inputs would have the output'
done
xz -k here.jsonl 2>zstd.log && {
    try dedup --json-field text --by lines --output-dir out2 here.jsonl.xz
    refused 'a format that is not written' 'written as .gz and .zst only'
}
try dedup --output-dir out2 here.jsonl
refused 'without --by' 'needs'
dedup --resume
refused '--resume alone' 'needs'
dedup --output-dir out2 -o x
refused 'with --output' 'cannot be used together'

# A file that cannot be read ends the command, and its output is not there.
printf 'no end' | gzip >cut.gz
gzip -c want >whole.gz
head -c 100 whole.gz >cut.gz
if $packs; then
    for how in '' -a; do
        # shellcheck disable=SC2086  # an option or none
        try dedup $how --json-field text --by lines --output-dir cut$how here.jsonl \
            cut.gz in/4.jsonl
        status_is "a damaged file, '$how': status 2" 2
        check "its own output is not, '$how'" test ! -e cut$how/cut.gz
        check "nor is one behind it, '$how'" test ! -e cut$how/in/4.jsonl
    done
fi

# ---- n-grams, similar documents, known ones ---------------------------------
for by in '--by ngrams=2' '--similar 0.9 --by lines' \
    '--by lines --known in/deep/5.jsonl'; do
    # shellcheck disable=SC2086  # options
    try dedup --json-field text $by in/1.jsonl in/2.jsonl
    mv out want
    rm -rf each
    # shellcheck disable=SC2086
    try dedup --json-field text $by --output-dir each in/1.jsonl in/2.jsonl
    cat each/in/1.jsonl each/in/2.jsonl >got
    check "$by: the same documents" cmp got want
done

finish
