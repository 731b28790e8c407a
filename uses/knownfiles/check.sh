# check.sh - known files: the verdicts are those of sha1sum and grep, except for
# false positives at the filter's rate; no file is lost, and errors are reported.
. "${1:?}/lib.sh"

[ -x "$PROGRAM" ] || { skip knownfiles 'no OpenSSL (Debian: libssl-dev)'; finish; }
[ -d "$MACHINE/usr/share/doc" ] || { absent knownfiles 'no documents'; finish; }
writer=
trap '[ -z "$writer" ] || kill "$writer"' EXIT
trap 'exit 2' HUP INT TERM

# judge STATUS ARGUMENT...: runs the program, which must end with this status.
judge() {
    wanted=$1
    shift
    status=0
    "$PROGRAM" "$@" >verdicts 2>said || status=$?
    check "status $wanted: $*" test $status -eq "$wanted"
}

# row VERDICT NAME: there is one such row.
row() {
    check "$1: $2" test "$(grep -c "^$1,$2," verdicts)" -eq 1
}

# ---- The verdicts ------------------------------------------------------------

# A disk with documents and made-up files, of which the list has every second.
mkdir -p disk/documents disk/made
find "$MACHINE/usr/share/doc" -type f 2>find.err | sort |
    head -n "$(work 500 20000)" >files
awk '{ printf "%s%c%s%c", $0, 0, "disk/documents/" NR, 0 }' files |
    xargs -0 -n 2 cp
awk -v n="$(work 6000 100000)" 'BEGIN { for (i = 0; i < n; i++) {
    file = "disk/made/" i
    print "made file", i >file
    close(file) } }'
find disk -type f -exec sha1sum {} + | sort -k 2 >sums
cut -c 1-40 sums | sort -u >hashes
awk 'NR % 2' hashes >listed
awk 'NR % 2 == 0' hashes >strangers
grep -v -F -f listed sums | cut -c 43- | sort >unknown.exactly
"$BLOOMERY" build --as hex -k ribbon -p 0.02 -o bytes.bly listed
"$BLOOMERY" build -k fuse -p 0.02 -o lower.bly listed
"$BLOOMERY" build -k standard -p 0.02 --upper -o upper.bly listed
"$BLOOMERY" build -k dcso -p 0.02 --upper -o circl.bloom listed 2>note
for filter in bytes.bly lower.bly upper.bly circl.bloom; do
    judge 1 $filter disk
    cut -d , -f 2 verdicts | sed 1d >order
    check "$filter: rows in the order of names" sort -c order
    awk -F , 'NR > 1 { print $3 "  " $2 }' verdicts | sort -k 2 >sums.found
    check "$filter: a row for each file, with sha1sum's hash" cmp sums sums.found
    awk -F , '$1 == "unknown" { print $2 }' verdicts | sort >unknown.found
    comm -13 unknown.exactly unknown.found >wrong
    check "$filter: no known file is called unknown" test ! -s wrong
    # Equal files have one verdict, so hashes are counted, and not files.
    awk -F , '$1 == "known" { print $3 }' verdicts | sort -u |
        comm -12 - strangers >mistaken
    in_band "$filter: unknown files that are called known" \
        "$(wc -l <mistaken)" "$(wc -l <strangers)" "$(field $filter rate)"
done
"$PROGRAM" -j 1 circl.bloom disk >alone 2>said || true
check 'one thread gives the same rows' cmp verdicts alone
"$PROGRAM" circl.bloom disk/made disk/documents >parts 2>said || true
check 'and so do two folders' test "$(sort parts | sort -u - verdicts | wc -l)" \
    -eq "$(wc -l <verdicts)"
for hash in md5 sha256; do
    find disk/documents -type f -exec ${hash}sum {} + |
        "$BLOOMERY" build --as hex --blanks -f 1 -k fuse -p 1e-6 -o $hash.bly
    judge 0 -a $hash $hash.bly disk/documents
done
judge 1 -k lower circl.bloom disk
check 'a note if no more files are known than by chance' \
    grep -q 'note: no more files are known than by chance' said
"$BLOOMERY" build -k dcso -p 1e-6 -o old.bloom listed 2>note
judge 1 -k lower old.bloom disk
check 'unless the case is right' test "$(grep -c '^known' verdicts)" -ge \
    "$(wc -l <listed)"

# ---- Changed files -----------------------------------------------------------

cp -r disk/made now
(cd now && find . -type f | head -n 100 | sort >../touched)
find now -type f -exec sha1sum {} + >earlier
find now -type f -exec sha1sum -z {} + >earlier.0
sed 's|^\./||' touched | while read -r one; do
    echo more >>"now/$one"
done
for list in '-e earlier' '-0 -e earlier.0'; do
    # shellcheck disable=SC2086  # a list of words
    judge 1 $list bytes.bly now
    tr '\0\t' '\n,' <verdicts | grep ^changed |
        sed 's|.*now/\([0-9]*\).*|./\1|' | sort >changed
    check "$list: the files that were changed" cmp touched changed
done
judge 1 -e sums bytes.bly now
check 'a note if the list is of another folder' \
    grep -q 'note: the earlier list' said

# ---- Files that are not plain ------------------------------------------------

# At this rate, no file that is not in the list is called known.
"$BLOOMERY" build --as hex -k ribbon -p 1e-9 -o bytes.bly listed
mkdir -p odd/folder
newline=$(printf 'two\nlines')
tab=$(printf 'a\tb')
for name in "$newline" 'a,b' 'say "so"' "$tab" '\back' ' ' '-x'; do
    echo "$name" >"odd/folder/$name"
done
: >odd/empty
ln -s folder odd/link
ln -s odd/nothing odd/broken
ln -s .. odd/loop
mkfifo odd/pipe
find odd -type f -print0 | sort -z >names.0
judge 1 -0 bytes.bly odd
tr '\0\n' '\n\1' <verdicts | grep -v ^skipped | cut -f 4- | tr '\n\1' '\0\n' |
    sort -z >found.0
check '-0: every name, as it is' cmp names.0 found.0
find odd -type f -exec sha1sum {} + >earlier
judge 1 -e earlier bytes.bly odd
check 'names that sha1sum escapes are in the list' \
    test "$(grep -c ^changed verdicts)" -eq 0
for skipped in link broken loop pipe; do
    row skipped odd/$skipped
done
row unknown odd/empty
check 'CSV quotes names' grep -qx \
    'unknown,"odd/folder/say ""so""",[0-9a-f]*,9' verdicts
echo changed >"odd/folder/$newline"
judge 1 -e earlier bytes.bly odd
check 'and one of them has changed' test "$(grep -c ^changed verdicts)" -eq 1
if command -v python3 >found.python; then
    check 'another reader of CSV finds the same names' python3 -c '
import csv
rows = list(csv.reader(open("verdicts", newline="")))[1:]
names = {row[1] for row in rows if row[0] != "skipped"}
assert names == set(open("names.0").read().split("\0")[:-1]), names'
fi
judge 1 bytes.bly odd/link
check 'a link that is named is followed' test \
    "$(grep -c ^unknown verdicts)" -eq 7

# ---- Files that cannot be judged ---------------------------------------------

judge 2 bytes.bly odd none odd/broken
row error none
row error odd/broken
check 'why, on standard error' grep -qx 'knownfiles: none: No such file.*' said
check 'and all other files are judged' test "$(grep -c ^unknown verdicts)" -eq 8
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked
    echo locked >locked/file
    chmod 0 locked/file
    judge 2 bytes.bly locked
    row error locked/file
    chmod 0 locked
    judge 2 bytes.bly locked odd
    row error locked
    chmod 700 locked
else
    skip 'files that cannot be read' 'the superuser reads all'
fi
if [ -r /proc/self/status ]; then
    judge 2 bytes.bly /proc/self/status
    check 'a file with more bytes than its size' \
        grep -q 'status: it changed while it was read' said
fi
mkdir log
truncate -s "$(work 256M 5G)" log/large
judge 1 bytes.bly log
check 'a large file: the hash of sha1sum' test \
    "$(grep -o '[0-9a-f]\{40\}' verdicts)" = "$(sha1sum <log/large | cut -c 1-40)"
check 'and its size' grep -q ",$(wc -c <log/large)\$" verdicts
while :; do echo line; done >>log/large &
writer=$!
judge 2 bytes.bly log
kill "$writer"
writer=
row error log/large
check 'a file that grows ends, and is not judged' \
    grep -q 'large: it changed while it was read' said

# ---- Sizes -------------------------------------------------------------------

# CIRCL's filter has 418,299,668 hashes at 10^-4, in 956 MiB.
for kind in dcso ribbon; do
    "$BLOOMERY" plan --json -k $kind -n 418299668 -p 1e-4 |
        sed -n 's/^ *"bytes": \([0-9]*\),*$/\1/p' >$kind.bytes
done
figure "CIRCL's filter as dcso and ribbon" \
    "$(cat dcso.bytes) and $(cat ribbon.bytes) bytes"
check 'the plan has the 956 MiB' test \
    $((($(cat dcso.bytes) + 524288) >> 20)) -eq 956
awk -v n="$(work 100000 3000000)" 'BEGIN { for (i = 0; i < n; i++)
    printf "%08X%032X\n", i * 7919 % 4294967296, i }' >many
"$BLOOMERY" build -k dcso -p 1e-4 -o many.bloom many 2>note
"$BLOOMERY" build --as hex -k ribbon -p 1e-4 -o many.bly many
figure "$(wc -l <many) hashes as dcso and ribbon" \
    "$(wc -c <many.bloom) and $(wc -c <many.bly) bytes"
for pair in "$(cat ribbon.bytes) $(cat dcso.bytes)" \
    "$(wc -c <many.bly) $(wc -c <many.bloom)"; do
    check 'ribbon takes less than three quarters' \
        test "$((4 * ${pair% *}))" -lt "$((3 * ${pair#* }))"
done
if command -v sqlite3 >found.sqlite; then
    { echo 'CREATE TABLE FILE (sha256 TEXT, sha1 TEXT, md5 TEXT);'
      awk -v q="'" '{ print "INSERT INTO FILE(sha1) VALUES (" q toupper($0) q ");" }' \
          listed listed; } | sqlite3 rds.db
    sqlite3 rds.db 'SELECT sha1 FROM FILE' |
        "$BLOOMERY" build --as hex -k ribbon -p 0.02 -o rds.bly
    check 'the column of the RDS gives a filter of the hashes' test \
        "$("$BLOOMERY" query -c rds.bly listed)" -eq "$(wc -l <listed)"
else
    skip 'hashes of the RDS' 'no sqlite3'
fi

# ---- Errors ------------------------------------------------------------------

refused 'no folder' '^knownfiles: usage: ' "$PROGRAM" bytes.bly
refused 'no such hash' '^knownfiles: usage: ' "$PROGRAM" -a crc bytes.bly odd
refused 'no number of threads' 'usage: ' "$PROGRAM" -j 2x bytes.bly odd
refused 'no filter' 'none: ' "$PROGRAM" none odd
refused 'a list as a filter' 'sums: ' "$PROGRAM" sums odd
refused 'a form that is known' 'it records the form' \
    "$PROGRAM" -k lower bytes.bly odd
seq 9 | "$BLOOMERY" build -n 9 --as int64 -o numbers.bly
refused 'a filter of numbers' 'numbers.bly: its keys are not hashes' \
    "$PROGRAM" numbers.bly odd
refused 'no earlier list' 'none: No such file' \
    "$PROGRAM" -e none bytes.bly odd
refused 'a list of other hashes' 'line 1 of the earlier list' \
    "$PROGRAM" -a md5 -e sums bytes.bly odd
head -c 16 /dev/zero >secret
chmod 600 secret
"$BLOOMERY" build -H siphash --key-file secret -o secret.bly listed
refused 'a filter with a secret' 'secret.bly: .*secret' \
    "$PROGRAM" secret.bly odd
if [ -w /dev/full ]; then
    status=0
    "$PROGRAM" bytes.bly odd >/dev/full 2>said || status=$?
    check 'a full disk is an error' test $status -eq 2
fi
finish
