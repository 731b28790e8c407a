# paged.sh - filters built, changed and queried in their file: the same bytes
# and answers as in memory, written atomically, repaired after a kill.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 0; i < 30000; i++) print i }' >keys
awk 'BEGIN { for (i = 30000; i < 50000; i++) print i }' >more
awk 'BEGIN { for (i = 20000; i < 90000; i++) print i }' >asked
mkdir box

# ---- the same as in memory --------------------------------------------------
try build -k buffered -n 50000 -o whole.bly keys
silent 'build in memory'
try build -k buffered -n 50000 --memory 100k -o box/f.bly keys
silent 'build in the file'
check 'both are the same' cmp whole.bly box/f.bly
check 'nothing but the filter is there' [ "$(ls -A box)" = f.bly ]
try add whole.bly more
try add -M 100k box/f.bly more
silent 'add in the file'
check 'both are the same after add' cmp whole.bly box/f.bly
"$BLOOMERY" query whole.bly asked >want.lines
try query --paged box/f.bly asked
check 'query --paged finds the same' cmp want.lines out
try query --paged -c box/f.bly keys more
out_is 'query --paged misses none' 0 '50000\n'
try check box/f.bly
out_is 'check' 0 'box/f.bly: ok\n'
try build -k buffered:page=65536 -n 50000 -M 4096 -o big.bly keys more
silent 'large pages, little memory'
try query --paged -c big.bly keys more
out_is 'large pages miss none' 0 '50000\n'
try add --verbose -M 1M box/f.bly more
note 'add --verbose' '^bloomery add: box/f.bly: 20,000 keys in '

# ---- whole or not at all ----------------------------------------------------
cp whole.bly box/f.bly
chmod 640 box/f.bly
ln -s f.bly box/link
try build -k buffered -n 50000 -M 1M -o box/link keys
silent 'build over a link'
check 'a symbolic link stays one' [ -L box/link ]
# shellcheck disable=SC2012
check 'permissions are kept' [ "$(ls -l box/f.bly | cut -c 1-10)" = '-rw-r-----' ]
rm box/link
cp box/f.bly good.bly
try build -k buffered -n 50000 -M 1M -o box/f.bly keys no-such-file
refused 'a file of keys is missing' 'no-such-file'
check 'the old filter is as it was' cmp good.bly box/f.bly
check 'nothing is left behind' [ "$(ls -A box)" = f.bly ]
(ulimit -f 8 && "$BLOOMERY" build -k buffered -n 50000 -M 1M -o box/f.bly \
    keys >out 2>err; echo $? >status)
refused 'no room for the file' 'box/f\.bly'
check 'the old filter is as it was' cmp good.bly box/f.bly
check 'nothing is left behind' [ "$(ls -A box)" = f.bly ]

# ---- what does not go -------------------------------------------------------
try build -k standard -n 10 -M 1M -o box/s.bly keys
refused 'no pages' 'consist of pages'
try build -k buffered -n 10 -M 100 -o box/s.bly keys
refused 'too little memory' '--memory is too small'
try build -k buffered -n 100 --memory 900T -o x.bly keys
refused 'more memory than there is' 'memory'
check 'nothing is left behind' [ "$(ls -A box)" = f.bly ]
try build -n 10000 -o plain.bly keys
try add -M 1M plain.bly more
refused 'add to one without pages' 'leave out --memory'
try query --paged plain.bly keys
refused 'query --paged of one without pages' 'page by page'

# ---- a writer that is killed ------------------------------------------------
mkfifo pipe
"$BLOOMERY" add -M 5000 box/f.bly pipe &
writer=$!
exec 3>pipe
cat more more more more >&3
for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$BLOOMERY" check -q box/f.bly >/dev/null 2>&1 || break
    sleep 0.1
done
try query --paged box/f.bly keys
refused 'query while it is written' 'open for writing'
kill -9 $writer
wait $writer 2>/dev/null
exec 3>&-
cp box/f.bly torn.bly
try query box/f.bly keys
refused 'query of one that was not closed' 'open for writing'
try check box/f.bly
status_is 'check finds it open' 2
check 'check says how to mend it' grep -q 'repair the file with' err
try add box/f.bly /dev/null
note 'add mends it' 'was repaired'
try check box/f.bly
out_is 'mended' 0 'box/f.bly: ok\n'
try query -c box/f.bly keys
out_is 'nothing is lost' 0 '30000\n'

finish
