# index.sh - `index` and `which`: no file with the words is missed, compared
# with grep; blocks, compressed files, updates, and refusals.
. "${1:?}/lib.sh"

# ---- Some files --------------------------------------------------------------

mkdir -p t/deep 'ways'
printf 'The quick fox\nlazy dog_1\n' >t/a
printf 'nothing here\n' >t/b
: >t/empty
printf 'from 10.0.0.7:22 to aa:bb:cc:dd:ee:0f\nid 123e4567-e89b-12d3-a456-426614174000\n' >t/deep/log
printf 'before \342\200\234quoted\342\200\235 and caf\303\251 M\303\274ller\n' >t/deep/utf
printf 'a QUICK\0one\n' >t/deep/binary
printf 'no newline at the end' >'t/two words'
find t -exec touch -d '2020-01-01' {} +
sleep 0.1                       # what was changed just now is not relied on

for rule in trigrams words fields lines; do
    try index -o "$rule.blx" --by "$rule" -r t
    note "an index by $rule" '7 documents in .* read: '
done
try index -o kmers.blx --by kmers=5 -r t
check 'k-mers of files without sequences: each is told' \
    test "$(grep -c "begins with neither" err) of $(cat status)" = '6 of 2'
try index -o words.blx --by words -q -r t
silent 'quietly, over the old one'
try index -o words.blx --by words -q --json -r t
out_has 'a report in JSON' 0 '"documents": *7'

# which_is NAME INDEX NAMES WORDS...: exactly these documents. At a rate of a
# hundredth, one of the seven could be named wrongly; these are not.
which_is() {
    which_name=$1 which_index=$2 which_want=$3
    shift 3
    try which "$which_index" "$@"
    out_is "$which_name" "$([ -n "$which_want" ] && echo 0 || echo 1)" \
        "$which_want"
}
which_is 'a word' words.blx 't/a\nt/deep/binary\n' quick
which_is 'without regard to case' words.blx 't/a\nt/deep/binary\n' QuicK
which_is 'two words' words.blx 't/a\n' quick fox
which_is 'two words in one operand' words.blx 't/a\n' 'fox, Quick'
which_is 'either word' words.blx 't/a\nt/b\nt/deep/binary\n' --any quick here
which_is 'a part of a word is none' words.blx '' uick
which_is 'an underscore is a letter' words.blx 't/a\n' dog_1
which_is 'an address' words.blx 't/deep/log\n' 10.0.0.7
which_is 'another one of the same numbers' words.blx '' 0.0.7.10
which_is 'an address of a machine' words.blx 't/deep/log\n' AA:BB:CC:DD:EE:0F
which_is 'its bytes in another order' words.blx '' 0f:ee:dd:cc:bb:aa
which_is 'a UUID' words.blx 't/deep/log\n' \
    123E4567-E89B-12D3-A456-426614174000
which_is 'a UUID of the same parts' words.blx '' \
    123e4567-12d3-e89b-a456-426614174000
which_is 'within typographic quotes' words.blx 't/deep/utf\n' quoted
which_is 'with them' words.blx 't/deep/utf\n' \
    "$(printf '\342\200\234quoted\342\200\235')"
which_is 'letters beyond ASCII' words.blx 't/deep/utf\n' \
    "$(printf 'caf\303\251')"
which_is 'a name with a blank in it' words.blx 't/two words\n' newline
which_is 'a text' trigrams.blx 't/a\n' 'UICK FOX'
which_is 'a text with blanks' trigrams.blx 't/a\n' 'k fox'
which_is 'no text over the end of a line' trigrams.blx '' \
    "$(printf 'fox\nlaz')" nothing
which_is 'a field' fields.blx 't/deep/log\n' 10.0.0.7:22
which_is 'a field is as it stands there' fields.blx '' 10.0.0.7
which_is 'a line' lines.blx 't/b\n' 'nothing here'
which_is 'a line is a whole one' lines.blx '' nothing
try which -0 words.blx quick
out_is 'names that end with NUL' 0 't/a\0t/deep/binary\0'
try which --json words.blx newline
out_has 'JSON' 0 '"file": *"t/two words"'
try which --at-least 60% words.blx quick fox zebra
out_is 'at least a share' 0 't/a\n'
try which --at-least 0.7 words.blx quick fox zebra
out_is 'at least a larger one' 1 ''
try which --at-least 0.5 words.blx quick quick quick zebra nought
out_is 'a term counts once' 1 ''

# ---- k-mers ------------------------------------------------------------------

printf '>one\nACGTACC\nTTGA\n>two GGGGGGGGGG\nCCCNCCC\n' >seq.fa
try index -q -o seq.blx --by kmers=7 -p 0.1% seq.fa
silent 'a file of FASTA'
which_is 'over the end of a line' seq.blx 'seq.fa\n' TACCTTGA
which_is 'the other strand' seq.blx 'seq.fa\n' tcaaggta
which_is 'no header' seq.blx '' GGGGGGGG
which_is 'not over what is no base' seq.blx '' CCCCCCC

# ---- Blocks, and compressed files --------------------------------------------

mkdir logs
seq 1 20000 | sed 's/.*/entry number & of them/' >logs/plain
gzip -c logs/plain >logs/pressed
head -c 70000 /dev/zero | tr '\0' x >logs/long
echo ' end' >>logs/long
seq 20001 50000 >>logs/long
find logs -exec touch -d '2020-01-01' {} +
try index -q -o logs.blx --by words -b 64K -r logs
silent 'files of several blocks'
try which logs.blx 19999
check 'a block of each file' test "$(wc -l <out)" -eq 2
# The offset leads to the block, in decompressed text too.
for file in plain pressed; do
    at=$(sed -n "s/^logs.$file://p" out)
    gzip -cdf logs/$file | tail -c +$((at + 1)) | head -n 1 >line
    check "a block of '$file' begins with a line" \
        grep -q '^entry number [0-9]* of them$' line
    check "and has it: '$file'" sh -c \
        "gzip -cdf logs/$file | tail -c +$((at + 1)) | head -c 65536 |
             grep -qw 19999"
done
which_is 'a line that is longer than a block' logs.blx \
    'logs/long:0\n' end
try which --files-with-matches logs.blx entry
out_is 'each file once' 0 'logs/plain\nlogs/pressed\n'
gzip -c logs/plain | head -c 3000 >logs/cut
try index -q -o logs.blx --by words -r logs
refused 'a file that is cut' "'logs/cut' .*:"
try which --files-with-matches logs.blx 19999
uncovered 'a file that is cut'
out_is 'and the rest is there' 0 'logs/plain\nlogs/pressed\n'
try info logs.blx
out_has 'info: a file that is cut' 0 \
    '^  uncovered  1 file, which may have any key: logs/cut$'
try info --json logs.blx
check 'info: json, a file that is cut' grep -q '"logs/cut"' out
for i in $(seq 30); do cp logs/cut "logs/cut-$i"; done
try index -q -o logs.blx --update
try info logs.blx
out_has 'info: files that are cut' 0 '^  uncovered  31 files.*, and [0-9]* more$'
try info --json logs.blx
check 'info: json, all of them' test "$(grep -c '"logs/cut' out)" = 31
rm logs/cut*
try index -q -o logs.blx --update
try info logs.blx
check 'info: no file is cut' test "$(grep -c uncovered out)" = 0
try info --json logs.blx
out_has 'info: json, no file is cut' 0 '"uncovered": *\[\]'

# ---- Updates -----------------------------------------------------------------

cp words.blx same.blx
try index -o words.blx --update
note 'nothing has changed' '7 documents .* read: 0 bytes'
echo 'a zebra' >t/b
echo 'brand new' >t/new
rm t/a
try index -o words.blx --update
note 'a changed, a new and a deleted file' '7 documents .* read: 18 bytes; dropped.* PATHS: 1$'
which_is 'what is new' words.blx 't/new\n' brand
which_is 'what has changed' words.blx 't/b\n' zebra
which_is 'what it was before' words.blx '' nothing
which_is 'what is gone' words.blx '' fox
which_is 'what has stayed' words.blx 't/two words\n' newline
try index -o words.blx --update
note 'files written just now are read again' '7 documents .* read: '
# The result equals that of a new index.
find t -exec touch -d '2021-01-01' {} +
sleep 0.1
try index -q -o words.blx --update
try index -q -o anew.blx --by words -r t
check 'all of it, by updates and anew' cmp -s words.blx anew.blx
# Every change that keeps size and times changes the inode or ctime.
printf 'A zebra\n' >other
touch -r t/b other
mv other t/b
try index -o words.blx --update
note 'another file of the same size and time' 'read: 8 bytes'

# A file among PATHS that is gone.
mkdir p
for file in one two three; do echo "$file" >p/$file; done
find p -exec touch -d '2020-01-01' {} +
sleep 0.1
try index -q -o p.blx --by words p/one p/two p/three
rm p/two
keeps 'PATHS of which one is gone' \
    "'p/two' does not exist: restore it, or give the PATHS that are left" \
    p.blx index -o p.blx --update
keeps 'a path that never was' "'p/four' does not exist: restore it" \
    p.blx index -o p.blx --update p/one p/four
try index -o p.blx --update p/one p/three
note 'the PATHS that are left' '2 documents .* read: 0 .*not in PATHS: 1$'
which_is 'a path that has left' p.blx '' two
which_is 'a path that stays' p.blx 'p/three\n' three
rm p/three
printf 'p/one\0p/three\0' | "$BLOOMERY" index -q -o p.blx --update \
    --files0-from - >out 2>err
echo $? >status
refused 'a list of files of which one is gone' \
    "'p/three' does not exist: the index does not cover it"
which_is 'what is left of the list' p.blx 'p/one\n' one

# The index is not one of its own files.
try index -q -o t/own.blx --by words -r t
try index -o t/own.blx --by words -r t
note 'the index is no file of it' '^bloomery index: 7 documents'
rm t/own.blx

# Compressed files of zeros, which are read to their end at once.
mkdir nothing
for way in gzip bzip2 xz zstd lz4; do
    if command -v "$way" >/dev/null; then
        "$way" -c <t/empty >"nothing/$way"
    fi
done
: >nothing/plain
try index -o nothing.blx -r nothing
note 'compressed files of nothing' "$(ls nothing | wc -l) documents .* read: 0"

# ---- Against grep, on a real tree --------------------------------------------

cp -r "$(dirname "$1")/.." tree 2>/dev/null || :
rm -rf tree/build tree/.git
for rule in words trigrams; do
    try index -q -o tree.blx --by $rule -b 8K -r tree
    silent "a tree by $rule"
    missed=0 named=0 asked=0
    find tree/tests tree/src -name '*.c' | sort | head -n 40 |
        xargs cat | tr -cs 'A-Za-z0-9_' '\n' | awk 'length > 3' |
        awk -v n="$(work 200 30)" '{ line[NR] = $0 } END {
            for (i = 1; i <= n; i++) print line[int(NR * i / (n + 1)) + 1] }' \
        >asked
    while read -r word; do
        grep -rlwi -e "$word" tree | sort >there
        "$BLOOMERY" which --files-with-matches tree.blx "$word" >out 2>err || :
        missed=$((missed + $(sort out | comm -23 there - | wc -l)))
        named=$((named + $(wc -l <out) - $(wc -l <there)))
        asked=$((asked + 1))
    done <asked
    check "words were asked for: $rule" test "$asked" -ge 30
    check "no file is left out: $rule" test "$missed" -eq 0
done

# ---- Interrupted runs keep the old index -------------------------------------

cp tree.blx old.blx
names=$(ls)
find tree -name '*.c' -exec touch {} +
# cramped NAME ARGUMENTS...: too little space for the file.
cramped() {
    cramped_name=$1
    shift
    (trap '' XFSZ && ulimit -f 16 && exec "$BLOOMERY" "$@") >out 2>err
    echo $? >status
    refused "no room for $cramped_name" 'too large|no space|write'
    check "the old one is there: $cramped_name" cmp -s old.blx tree.blx
}
cramped 'an index' index -q -o tree.blx --by words -r tree
cramped 'an update' index -q -o tree.blx --update
for wait in 0 0.02 0.05 0.1 0.2; do
    "$BLOOMERY" index -q -o tree.blx --update >/dev/null 2>&1 &
    killed=$!
    sleep "$wait"
    kill -9 "$killed" 2>/dev/null
    wait "$killed" 2>/dev/null
    try which tree.blx bly_index_open
    status_is "killed after $wait s: an index is there" 0
done
check 'nothing else is left behind' test "$(ls)" = "$names"

# ---- Refusals ----------------------------------------------------------------

keeps 'no such rule' "not a rule: give" seq.blx index -o seq.blx --by letters t/b
keeps 'k-mers that are too long' 'length of 1 to 31' seq.blx \
    index -o seq.blx --by kmers=32 t/b
keeps 'nothing to read' 'there are no files to read: name files' seq.blx index -o seq.blx
keeps 'standard input' 'cannot be read again' seq.blx index -o seq.blx -
keeps 'no index to update' 'not an index|no index' t/b index -o t/b --update
try index -q -o none/x.blx t/b
refused 'a folder that is not there' 'none'
try index -o list.blx --update
refused 'an index that is not there' 'No such file'
try index -q -o list.blx t
refused_status=$(cat status)
check 'a folder without -r is refused' test "$refused_status" = 2
check 'and -r is named' grep -q 'use -r' err
mkfifo pipe
try index -q -o list.blx pipe t/b
check 'a pipe is refused' grep -q "'pipe' is not a regular file" err
which_is 'and the rest is there again' list.blx 't/b\n' zebra
printf 't/b\0t/new\0' >list
try index -q -o list.blx --files0-from list
silent 'a list of files'
try index -q -o list.blx --update
refused 'an update of a list' 'list of files: use'
try index -q -o list.blx --update --files0-from list
silent 'an update of a list that is given'
try index -q -o words2.blx --by words t/b t/b ./t/b
try which words2.blx zebra
out_is 'each name once' 0 './t/b\nt/b\n'
cp words2.blx ways/
cd ways || exit 1
try index -q -o words2.blx --update
refused 'an update from another folder' 'run the command there'
cd ..
try which words.blx
refused 'no words' 'takes an INDEX'
try which words.blx ' .'
refused 'no word in it' 'no letter, digit or _: give a word'
try which trigrams.blx ab
refused 'too short for trigrams' 'no three bytes in a line: give'
try which --at-least 0 words.blx a
refused 'a share that all have' 'would name every document: give a share above 0'
try which t/b zebra
refused 'no index' 'index'
try add words.blx t/b
refused 'an index is no filter' "an index of many files.*'bloomery which'"
try info words.blx
out_has 'info: how it was made' 0 '^  by         words$'
try build -o keys.bly t/b
try which keys.bly zebra
refused 'a filter' 'index'
# ---- Earlier bugs -----------

# The index keeps its PATHS, whatever has changed.
mkdir three
printf 'needle one\n' >three/a
printf 'two\n' >three/b
printf 'three\n' >three/c
find three -exec touch -d '2020-01-01' {} +
sleep 0.1
"$BLOOMERY" index -q -o three.blx --by words three/a three/b three/c
printf 'four\n' >three/c
for time in first second; do
    sleep 0.1
    try index -q -o three.blx --update
    silent "an update of three files, the $time"
done
which_is 'all of them are there' three.blx 'three/a\n' needle
which_is 'and what changed' three.blx 'three/c\n' four

# Words and addresses beside non-ASCII characters.
printf '\342\200\23410.0.0.7\342\200\235 and 10.0.0.8\302\240refused \342\200\234w\303\266rd\342\200\235 \345\234\26010.0.0.9\346\230\257\n' \
    >three/a
"$BLOOMERY" index -q -o three.blx --by words three/a three/b
for word in 10.0.0.7 10.0.0.8 10.0.0.9 refused "$(printf 'w\303\266rd')"; do
    which_is "beside other writing: $word" three.blx 'three/a\n' "$word"
done

# Documents dropped from a large group are forgotten.
mkdir many
awk 'BEGIN { for (i = 100; i < 300; i++)
    print "text number", i, "and more" >("many/f" i) }'
find many -exec touch -d '2020-01-01' {} +
sleep 0.1
"$BLOOMERY" index -q -o many.blx -r many
echo 'text numb 777 and more stuff' >many/f107
touch -d '2020-01-02' many/f107
rm many/f109
sleep 0.1
"$BLOOMERY" index -q -o many.blx --update
try index --json -o many.blx --update
out_has 'nothing is read again' 0 '"read": 0'

# A file that is not an index is not overwritten.
echo precious >app.log
try index -q -o app.log -r t
refused 'over a file of another kind' 'is not an index: .* --force'
check 'it is there' grep -qx precious app.log
try index -q --force -o app.log -r t
silent 'unless it is to be'
try index -q -o app.log -r t
silent 'and an index is'
# An update makes the first index; it does not drop a temporarily missing
# folder.
rm app.log
try index -q -o app.log --update -r many
silent 'the first of many updates'
cp app.log old.blx
mv many gone
try index -q -o app.log --update
refused 'a folder that is gone' "'many' does not exist: restore it, or"
check 'the index is as it was' cmp old.blx app.log
mv gone many

# ---- A plan ------------------------------------------------------------------

"$BLOOMERY" index -q -o made.blx -r tree
for option in '' --json; do
    # shellcheck disable=SC2086  # none, or one
    try index --plan $option -o plan.blx -r tree
    check "a plan writes nothing $option" test ! -e plan.blx
done
planned=$(sed -n 's/.*"index_bytes": *\([0-9]*\).*/\1/p' out)
made=$(wc -c <made.blx)
check "a plan of $planned bytes, $made are made" \
    test "${planned:-0}" -gt $((made * 8 / 10)) -a \
    "${planned:-0}" -lt $((made * 11 / 10))
try index --plan -o plan.blx -r tree
out_has 'a plan is told' 0 '^index      about .* % of the text'
try index --plan -o plan.blx -r none
check 'a plan says what is not there' grep -q "'none': No such file" err
check 'and that it is not of all' test "$(cat status)" = 2

# ---- Files known to git ------------------------------------------------------

if command -v git >/dev/null; then
    mkdir -p repo/sub
    printf 'zebra\n' | tee repo/kept repo/new repo/made.o repo/sub/kept \
        repo/gone >repo/sub/hidden
    printf '*.o\n/sub/hidden\n' >repo/.gitignore
    (cd repo && git init -q . && git add .gitignore kept sub/kept gone &&
        git config core.fsmonitor 'touch ran; false') 2>git.err
    rm repo/gone
    ln -s kept repo/link
    find repo -exec touch -h -d '2020-01-01' {} +
    sleep 0.1
    try index -q -o git.blx --git repo
    silent 'files that git knows or would add'
    try which git.blx zebra
    out_is 'and nothing else' 0 'repo/kept\nrepo/new\nrepo/sub/kept\n'
    check 'no program of the folder is run' test ! -e repo/ran
    printf 'zebra\n' | tee repo/more >repo/more.o
    if "$BLOOMERY" --help | grep -q '^ *search '; then
        try search -l git.blx zebra
        out_is 'a new file is searched, an excluded one is not' 0 \
            'repo/kept\nrepo/more\nrepo/new\nrepo/sub/kept\n'
    fi
    try index -q -o git.blx --update
    silent 'an update asks git again'
    try which git.blx zebra
    out_is 'the files found' 0 \
        'repo/kept\nrepo/more\nrepo/new\nrepo/sub/kept\n'
    cp git.blx old.blx
    (GIT_CEILING_DIRECTORIES=$PWD && export GIT_CEILING_DIRECTORIES &&
        "$BLOOMERY" index -q -o git.blx --git tree) >out 2>err
    echo $? >status
    check "a folder of no repository, after git's own words" \
        grep -q "^bloomery index: git cannot list .* leave --git out" err
    check 'it is refused' test "$(cat status)" = 2
    check 'the old index is there' cmp old.blx git.blx
    (PATH=/nowhere && export PATH && "$BLOOMERY" index -q -o git.blx --git repo
        ) >out 2>err
    echo $? >status
    refused 'no git' 'cannot run git: .* install it, or leave --git out'
else
    skip 'what git knows' 'git is not there'
fi

# ---- Many documents, little memory -------------------------------------------

# An index of a million documents in less memory than they take, and queries
# that map little more than the index.
if [ "$(work million none)" = million ]; then
    awk 'BEGIN {
        for (i = 0; i < 1000000; i++)
            printf "number%07d and word%03d here\n", i, i % 997
    }' >million
    (ulimit -v 400000 && exec "$BLOOMERY" index -o million.blx --by words \
        -b 32 --memory 16M million) >out 2>err
    echo $? >status
    note 'an index of a million documents' '1,000,000 documents'
    (ulimit -v 300000 && exec "$BLOOMERY" which million.blx number0765432) \
        >out 2>err
    echo $? >status
    check 'names one of a million' grep -qx "million:$((765432 * 31))" out
    check 'and not many others' test "$(wc -l <out)" -lt 12000
    if "$BLOOMERY" --help | grep -q '^ *search '; then
        (ulimit -v 500000 && exec "$BLOOMERY" search -n million.blx \
            'number0?765432 and') >out 2>err
        echo $? >status
        out_is 'and its line found' 0 \
            'million:765433:number0765432 and word733 here\n'
    fi
fi

# Damage is detected everywhere.
size=$(wc -c <words2.blx)
for at in 9 40 100 $((size - 3)); do
    cp words2.blx hurt.blx
    printf 'Z' | dd of=hurt.blx bs=1 seek="$at" conv=notrunc 2>/dev/null
    try which hurt.blx zebra
    refused "damage at $at" ':'
done
