# save.sh - writing: atomic, nothing left behind, no keys lost between two
# writers, errors of standard output.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 0; i < 20000; i++) print i }' >keys
mkdir box
try build -p 1e-6 -o box/f.bly keys
silent 'build'
check 'nothing but the filter is there' [ "$(ls -A box)" = f.bly ]
cp box/f.bly good.bly
try build -p 1e-6 -o box/f.bly keys
check 'equal builds make equal bytes' cmp good.bly box/f.bly
chmod 640 box/f.bly
try add box/f.bly keys
# shellcheck disable=SC2012
check 'permissions are kept' [ "$(ls -l box/f.bly | cut -c 1-10)" = '-rw-r-----' ]
ln -s f.bly box/link
try add box/link keys
check 'a symbolic link stays one' [ -L box/link ]
rm box/link
cp good.bly box/f.bly
try add box/f.bly /dev/null
silent 'adding nothing'
check 'adding nothing changes nothing' cmp good.bly box/f.bly
try add --verbose box/f.bly keys
note 'add --verbose' '^bloomery add: box/f.bly: 20,000 keys in '
try add --verbose --no-progress -0 box/f.bly keys
note 'add with long names' '^bloomery add: box/f.bly: 1 keys? in '
cp good.bly box/f.bly

# ---- an output that is also an input -----------------------------------------
cp keys kept
"$BLOOMERY" build -o kept <kept >out 2>err; echo $? >status
refused 'build: the output is standard input' "'kept' is both the output and"
"$BLOOMERY" build -o kept - <kept >out 2>err; echo $? >status
refused 'build: the output is standard input, named' "'kept' is both the output and"
check 'build: the keys are still there' cmp kept keys
"$BLOOMERY" add box/f.bly <box/f.bly >out 2>err; echo $? >status
refused 'add: the filter is standard input' 'is both the output and'
head -c 16 keys >secret
chmod 600 secret
try build -H siphash --key-file secret -o secret keys
refused 'build: the output is the secret' "'secret' is both the output and the file of the sec"
check 'build: the key is still there' [ "$(wc -c <secret)" -eq 16 ]

# ---- an output that is no filter ---------------------------------------------
printf 'a letter that nobody has twice\n' >letter
printf 'x' >tiny
for command in build 'build -n 9' 'build -k cascade --without other' \
    'sketch' 'sketch --differences 9'; do
    # shellcheck disable=SC2086  # a list of words
    keeps "$command: over a letter" "'letter' exists and is not a filter: .*--for" \
        letter $command -o letter keys
done
keeps 'build: over one byte' 'is not a filter: ' tiny build -o tiny keys
ln -s ../letter box/link
keeps 'build: over a letter that a link leads to' 'is not a filter: ' letter \
    build -o box/link keys
rm box/link
for command in unite intersect; do
    keeps "$command: over a letter" 'is not a filter: ' letter \
        $command -o letter good.bly good.bly
    cp letter forced
    try $command --force -o forced good.bly good.bly
    silent "$command --force"
done
try build -k quotient -o more.bly keys
keeps 'resize: over a letter' 'is not a filter: ' letter \
    resize -n 90000 -o letter more.bly
cp letter forced
try resize --force -n 90000 -o forced more.bly
silent 'resize --force'
cp letter forced
try build --force -p 1e-6 -o forced keys
silent 'build --force'
check 'build --force replaces it' cmp forced good.bly
cp letter forced
try sketch --force --differences 9 -o forced keys
silent 'sketch --force'
: >empty
try build -p 1e-6 -o empty keys
silent 'build: over an empty file'
{ head -c 3000 good.bly; printf 'XYZ'; } >damaged
try build -p 1e-6 -o damaged keys
silent 'build: over a damaged filter'

# ---- lines of which none has a key -------------------------------------------
for options in '-n 10' '-n 10 -k scalable' '-n 10 -k buffered --memory 64K' \
    '-k buffered' '-n 10 -k xor' '-n 10 -j 1' '-n 10 -k spatial:areas=3 -l 1'; do
    # shellcheck disable=SC2086  # a list of words
    keeps "build $options" 'no line has (column 9|all of these columns): check -f' good.bly \
        build $options -f 9 -o good.bly keys
done
keeps 'sketch --differences' 'no line has column 9: ' good.bly \
    sketch --differences 9 -f 9 -o good.bly keys
check 'nothing is left behind' [ -z "$(find . -name '*.tmp')" ]

# ---- a disk that is full ----------------------------------------------------
# A file-size limit stands in for a full disk.
limited() {
    (ulimit -f 8 && "$BLOOMERY" "$@" >out 2>err; echo $? >status)
}
limited build -p 1e-6 -o box/f.bly keys
refused 'build: no room for the file' 'box/f\.bly'
check 'build: the old file is as it was' cmp good.bly box/f.bly
check 'build: nothing is left behind' [ "$(ls -A box)" = f.bly ]
limited build -p 1e-6 -o box/new.bly keys
refused 'build: no room for a new file' 'box/new\.bly'
check 'build: no new file' [ "$(ls -A box)" = f.bly ]
limited add box/f.bly keys
refused 'add: no room for the file' 'box/f\.bly'
check 'add: the old file is as it was' cmp good.bly box/f.bly
check 'add: nothing is left behind' [ "$(ls -A box)" = f.bly ]
for command in unite intersect; do
    limited $command -o box/f.bly box/f.bly good.bly
    refused "$command: no room for the file" 'box/f\.bly'
    check "$command: the old file is as it was" cmp good.bly box/f.bly
    check "$command: nothing is left behind" [ "$(ls -A box)" = f.bly ]
done

# ---- standard output --------------------------------------------------------
"$BLOOMERY" build -p 1e-6 -o - keys >piped.bly
check 'build -o - writes the same bytes' cmp good.bly piped.bly
if [ -c /dev/full ]; then
    full() {
        "$BLOOMERY" "$@" >/dev/full 2>err
        echo $? >status
        : >out
        refused "$1 to a full disk" 'standard output: .*: free some space'
    }
    full query good.bly keys
    full query -c good.bly keys
    full query --json good.bly keys
    full info good.bly
    full check good.bly
    full plan -n 10
    full kinds
    full overlap good.bly good.bly
    full build -n 30000 -o - keys
    full unite -o - good.bly good.bly
    full help
    full --version
    try build -n 30000 -o /dev/full keys
    refused 'build -o /dev/full' '/dev/full'
else
    skip 'full disk on standard output' 'no /dev/full'
fi
"$BLOOMERY" query good.bly keys >&- 2>err
echo $? >status
: >out
refused 'query with stdout closed' 'standard output: '
"$BLOOMERY" add box/f.bly keys >&- 2>err
echo $? >status
check 'add with stdout closed does not harm the filter' \
    "$BLOOMERY" check box/f.bly

# ---- two at once ------------------------------------------------------------
try build -n 200000 -p 1e-6 -o box/f.bly /dev/null
round=0
while [ $round -lt 5 ]; do
    for part in a b c; do
        awk -v p="$part$round." 'BEGIN { for (i = 0; i < 9000; i++) print p i }' \
            >part.$part
        "$BLOOMERY" add box/f.bly part.$part &
    done
    wait
    cat part.a part.b part.c >>parts
    round=$((round + 1))
done
try query -v -c box/f.bly parts
out_is 'adds at the same time lose no key' 1 '0\n'
try info box/f.bly
out_has 'and all are counted' 0 '^  keys +135,000 added'

# A build waits for its keys while another starts: the second must wait.
mkfifo slow
timeout 60 "$BLOOMERY" add box/f.bly slow &
exec 3>slow
echo first >&3
sleep 1
echo second >other
timeout 60 "$BLOOMERY" add box/f.bly other 3>&- &
sleep 1
echo third >&3
exec 3>&-
wait
printf 'first\nsecond\nthird\n' >three
try query -c box/f.bly three
out_is 'a slow add and a quick one lose no key' 0 '3\n'
check 'the filter is sound' "$BLOOMERY" check box/f.bly
check 'and alone' [ "$(ls -A box)" = f.bly ]

# A filter built while `add` runs is kept, and `add` reports that.
printf 'first\nsecond\n' >two
for options in '-n 9' '-k buffered -n 9 --memory 64K'; do
    # shellcheck disable=SC2086  # a list of words
    try build $options -o box/f.bly /dev/null
    (timeout 60 "$BLOOMERY" add box/f.bly slow >slow.out 2>slow.err
     echo $? >slow.status) &
    exec 3>slow
    # shellcheck disable=SC2086
    try build $options -o box/f.bly two 3>&-
    echo third >&3
    exec 3>&-
    wait
    try query -c box/f.bly two
    out_is "build $options: not undone by a slow add" 0 '2\n'
    cp slow.out out
    cp slow.err err
    cp slow.status status
    refused 'add: its file was replaced' \
        "'box/f.bly' was replaced or removed while this command ran"
done
check 'and it is sound' "$BLOOMERY" check box/f.bly

finish
