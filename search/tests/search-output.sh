# search-output.sh - output of `search` besides the matching lines: JSON, notes,
# statistics, refusals.
. "${1:?}/lib.sh"
. "$(dirname "$0")/shared/grep.sh"
rm t/deep/long
index_all

# ---- Notes -------------------------------------------------------------------

try search trigrams.blx lazy
out_is 'a line' 0 't/a:lazy dog_1\n'
try search --no-filename trigrams.blx lazy
out_is 'without names' 0 'lazy dog_1\n'
try search --json trigrams.blx lazy
out_is 'a line as JSON' 0 \
    '{"file":"t/a","number":2,"selected":true,"text":"lazy dog_1"}\n'
try search --json -B1 trigrams.blx lazy
out_is 'and one beside it' 0 '{"file":"t/a","number":1,"selected":false,"text":"The quick fox"}\n{"file":"t/a","number":2,"selected":true,"text":"lazy dog_1"}\n'
try search --json -l trigrams.blx lazy
out_is 'a name as JSON' 0 '{"file":"t/a"}\n'
try search --json -a -m 1 trigrams.blx 'QUICK.one'
out_is 'binary matches as JSON' 0 \
    '{"file":"t/deep/binary","number":1,"selected":true,"text":"a QUICK\\u0000one"}\n'
try search --json -c trigrams.blx 'lazy dog_1'
out_has 'counts as JSON' 0 '^{"file":"t/a","count":1}$'
try search -q trigrams.blx lazy
silent 'quietly'
try search -q trigrams.blx nowhere_at_all
out_is 'quietly, and there is none' 1 ''
try search -l trigrams.blx 'and quick'
out_is 'a file that is no text' 0 't/deep/binary\n'
try search trigrams.blx 'and quick'
note 'it has a match' "'t/deep/binary' is not text"
try search --stats trigrams.blx 'lazy dog_1'
check 'little is read' grep -Eq 'candidates: 1; files read: 1, of them without a match: 0' err
try search --stats trigrams.blx '[0-9]'
check 'no text is known' grep -q 'all files are read' err
# A file with a future time is never trusted as unchanged.
touch -d tomorrow t/a
try index -q -o packed.blx -r t
sed 's/^The/the/' t/a >ways/a && cat ways/a >t/a && touch -d tomorrow t/a
try search --trust packed.blx 'the quick'
out_is 'changed, with a time to come' 0 't/a:the quick fox\n'
printf 'The quick fox\nlazy dog_1\n' >t/a && touch -d 2020-01-01 t/a
gzip -k t/a t/deep/utf && mv t/a.gz t/deep/packed
try index -q -o packed.blx -r t
try search -l packed.blx 'lazy dog'
out_is 'compressed files' 0 't/a\nt/deep/packed\n'
try search -n packed.blx 'M.*ller'
out_is 'and its lines' 0 't/deep/utf:1:before “quoted” and café Müller\nt/deep/utf.gz:1:before “quoted” and café Müller\n'
try index -q -o plain.blx --no-decompress -r t
try search -l plain.blx 'lazy dog'
out_is 'unless it is taken as it is' 0 't/a\n'
rm t/deep/packed t/deep/utf.gz
try search -l --trust packed.blx 'lazy dog'
out_is 'a file that is gone, trusted' 0 't/a\n'
try search -l packed.blx 'lazy dog'
out_is 'a file that is gone' 0 't/a\n'
mv t/a a && mkfifo t/a
try search --trust packed.blx 'lazy dog'
refused 'a pipe in its place' "'t/a' is not a regular file: make the index again"
rm t/a && mv a t/a
try index -q -o t/own.blx -r t
try search -L t/own.blx ''
out_is 'the index is no file of it' 0 't/empty\n'
rm t/own.blx

# A line of more than 64 MiB; matches before it are found.
mkdir -p huge
{ echo 'a needle' && head -c 70000000 /dev/zero | tr '\0' x; } >huge/line
{ echo 'another needle' && head -c 70000000 /dev/zero; } >huge/zeros
try index -q -o huge.blx -r huge
check 'a line of 70 MB is told' grep -q "'huge/line' has a line of more" err
check 'once' test "$(wc -l <err)" = 1
try search -c huge.blx needle
check 'matches before it are found' \
    grep -q "'huge/line' has a line of more than 64 MiB" err
check 'zeros are lines' grep -qx 'huge/zeros:1' out
rm -r huge

try search --include 'a*' --include '*.blx' -l trigrams.blx lazy
out_is 'only files of these names' 0 't/a\n'
try search --include '*.c' -l trigrams.blx lazy
out_is 'no file of this name' 1 ''
try search --exclude '[a-m]' -l trigrams.blx 'quick|QUICK'
check 'not of this name' grep -vqx t/a out
printf '\037\213x' >t/broken.gz
try search -l trigrams.blx 'lazy dog'
check 'reports a file that cannot be decompressed' grep -q "'t/broken.gz'" err
try search -s -l trigrams.blx 'lazy dog'
check 'or not' test ! -s err
check 'but it shows' test "$(cat status)" = 2
rm t/broken.gz

# Damaged rows hide no match.
size=$(wc -c <trigrams.blx)
for at in 200 $((size / 8)) $((size / 4)) $((size / 3)); do
    cp trigrams.blx hurt.blx
    head -c 3000 /dev/zero |
        dd of=hurt.blx bs=1 seek="$at" conv=notrunc 2>/dev/null
    for pattern in quick 'lazy dog' lines_next; do
        wanted F -e "$pattern"
        "$BLOOMERY" search -F hurt.blx -e "$pattern" >out 2>err
        if [ $? -eq 2 ]; then
            check "damage at $at: $pattern" grep -q 'is damaged' err
        else
            check "damage at $at, unseen: $pattern" cmp want out
        fi
    done
    try check hurt.blx
    refused "damage at $at is found" 'is damaged, or cut short'
    cp hurt.blx before.blx
    find t -name select.c -exec touch {} +
    try index -q -o hurt.blx --update
    refused "and not taken over, at $at" 'is damaged, or cut short'
    check "the file is as it was, at $at" cmp before.blx hurt.blx
done
try check trigrams.blx
out_is 'an index that is whole' 0 'trigrams.blx: ok\n'

# ---- Refusals ----------------------------------------------------------------

try search trigrams.blx
refused 'no pattern' 'takes an INDEX and a PATTERN'
try search -e a trigrams.blx b
refused 'a pattern too many' 'takes only an INDEX'
try search trigrams.blx 'a(b'
refused 'a pattern that is wrong' "'a\(b' is invalid at byte 3: .*use -F"
try search trigrams.blx -e 'a' -e 'b)'
refused 'a wrong pattern of two' "'b\)' is invalid"
try search -m -1 trigrams.blx a
refused 'a negative number of lines' 'a number of lines: give one'
try search t/a a
refused 'no index' 'index'
try search none.blx a
refused 'no file' 'No such file'
try index -q -o lines.blx --by lines -r t
try search lines.blx a
refused 'an index of another kind' 'by lines, .*: make one by trigrams or words'
cp trigrams.blx ways/
cd ways || exit 1
try search trigrams.blx a
refused 'another folder' 'run the command there'
try search --from .. -l trigrams.blx 'lazy'
out_is 'another folder that is named' 0 't/a\n'
try search --from nowhere -l trigrams.blx 'lazy'
refused 'a folder that is not there' "cannot enter 'nowhere'"
try index -q -o all.blx -r "$PWD/../t"
cd ..
try search -l ways/all.blx lazy
out_is 'absolute names, from anywhere' 0 "$PWD/ways/../t/a\n"
(cd t && "$BLOOMERY" index -q -o ../ways/all.blx --update) || exit 2
printf 't/a\0' >list
try index -q -o list.blx --files0-from list
try search list.blx lazy
out_is 'a list of files' 0 't/a:lazy dog_1\n'
sed 's/lazy/busy/' t/a >ways/a && cat ways/a >t/a
try search list.blx busy
out_is 'a changed file among them' 0 't/a:busy dog_1\n'
printf 'The quick fox\nlazy dog_1\n' >t/a
try search --trust list.blx lazy
out_is 'which trust does without' 0 't/a:lazy dog_1\n'
awk 'BEGIN { for (i = 0; i < 60; i++) printf "a"; print "b" }' >t/hard
try index -q -o hard.blx t/hard
echo aaac >t/easy
try index -q -o hard.blx t/hard t/easy
try search -j1 hard.blx '(a|aa)+c|^(a+)+$'
check 'other files are searched all the same' grep -qx 't/easy:aaac' out
check 'and it is an error' test "$(cat status)" = 2
try search hard.blx '^(a|aa)+$'
refused 'a pattern that never ends' 'too complex for the pattern .*: simplify the pattern'

finish
