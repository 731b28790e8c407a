# query.sh - query's options and grep's exit statuses.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf 'ant\nbee\ncat\n' >keys
printf 'bee\ndog\ncat\nelk\n' >ask
printf 'dog\nelk\n' >none
try build -p 1e-9 -o f.bly keys
silent 'build'

try query f.bly ask
out_is 'lines in their order, status 0' 0 'bee\ncat\n'
try query f.bly none
out_is 'nothing found, status 1' 1 ''
try query -v f.bly ask
out_is '-v' 0 'dog\nelk\n'
try query --invert-match f.bly keys
out_is '--invert-match, nothing selected: status 1' 1 ''
try query -c f.bly ask
out_is '-c' 0 '2\n'
try query --count f.bly none
out_is '--count of none is 0 and status 1' 1 '0\n'
try query -c -v f.bly ask
out_is '-c -v' 0 '2\n'
try query -q f.bly ask
out_is '-q, found' 0 ''
try query --quiet f.bly none
out_is '--quiet, not found' 1 ''
try query -qv f.bly keys
out_is '-qv, none' 1 ''
try query -qv f.bly ask
out_is '-qv, some' 0 ''
try query -cq f.bly ask
out_is '-q beats -c' 0 ''
try query f.bly ask ask
out_is 'several files' 0 'bee\ncat\nbee\ncat\n'
try query --no-progress f.bly ask
out_is '--no-progress' 0 'bee\ncat\n'

# ---- a kind that hashes the keys themselves --------------------------------
seq 1 3000 >numbers
seq 2001 5000 >asked
seq 2001 3000 >both
try build -k rehash:by=murmur2,key=whole,m=90000 -n 3000 -o whole.bly numbers
silent 'build of whole keys'
try query whole.bly asked
found=$(comm -12 out both 2>/dev/null | wc -l)
more=$(($(wc -l <out) - 1000))
check "whole keys: all members are found" [ "$found" = 1000 ]
check "whole keys: $more strangers of 2000 are" [ "$more" -le 20 ]
try diff whole.bly asked
check 'whole keys: diff prints what query does not' \
    [ "$(wc -l <out)" = $((2000 - more)) ]

# ---- files that cannot be read ----------------------------------------------
mkdir folder
try query f.bly missing ask
if [ "$(cat status)" = 2 ] && [ "$(wc -l <err)" -eq 1 ] \
    && grep -q "^bloomery query: cannot read 'missing': .*: " err \
    && [ "$(cat out)" = "$(printf 'bee\ncat')" ]; then
    pass 'a missing file: reported, the others are asked, status 2'
else
    fail 'a missing file: reported, the others are asked, status 2' "$(details)"
fi
try query -c f.bly ask folder ask
if [ "$(cat status)" = 2 ] && [ "$(cat out)" = 4 ] \
    && grep -q "'folder' is a folder: " err; then
    pass 'a folder: reported, the others are asked, status 2'
else
    fail 'a folder: reported, the others are asked, status 2' "$(details)"
fi
try query -q f.bly ask missing
out_is '-q stops at the first line, before the missing file' 0 ''
try query -q f.bly missing none
status_is '-q: an error and nothing found is 2' 2

# ---- summary ----------------------------------------------------------------
try query -S f.bly ask
out_has '-S: keys queried' 0 '^keys queried +4$'
out_has '-S: perhaps there' 0 '^perhaps there +2$'
# Wilson's 95 % interval of 2 out of 4 is 15.0 % to 85.0 %,
out_has '-S: the share with its interval' 0 '^share +50 %.* 15 % to 85 %'
out_has '-S: planned rate' 0 '^planned rate '
# and of 0 out of 2 it is 0 % to 65.8 %.
try query --summary f.bly none
out_has '--summary, none there: status 1' 1 '^share +0 %.* 0 % to 65.8 %'
try query -S f.bly /dev/null
out_has '-S of no keys' 1 '^keys queried +0$'

# ---- through pipes ----------------------------------------------------------
# Each answer comes before the next question: nothing is held back.
mkfifo questions answers
timeout 60 "$BLOOMERY" query f.bly <questions >answers &
exec 3>questions 4<answers
answer=''
echo bee >&3
read -r answer <&4
if [ "$answer" = bee ]; then
    pass 'an answer does not wait for the end of the input'
else
    fail 'an answer does not wait for the end of the input' "got '$answer'"
fi
printf 'dog\ncat\nunfinished' >&3
read -r answer <&4
if [ "$answer" = cat ]; then
    pass 'nor for an unfinished line'
else
    fail 'nor for an unfinished line' "got '$answer'"
fi
exec 3>&- 4<&-
wait

awk 'BEGIN { for (i = 0; i < 200000; i++) print "ant" }' >ants
# If its reader goes away, the command dies of SIGPIPE or, if that is ignored,
# reports the error.
{ "$BLOOMERY" query f.bly ants 2>err; echo $? >status; } | head -n 1 >out
if [ "$(cat out)" = ant ] && [ ! -s err ] && [ "$(cat status)" = 141 ]; then
    pass 'a reader that goes away ends it quietly'
else
    fail 'a reader that goes away ends it quietly' "$(details)"
fi
(trap '' PIPE
 { "$BLOOMERY" query f.bly ants 2>err; echo $? >status; } | head -n 1 >out)
: >out
refused 'where SIGPIPE is ignored it is told' 'standard output: .*: let its reader'
# shellcheck disable=SC2002
cat f.bly | try query - ask
out_is 'the filter itself from a pipe' 0 'bee\ncat\n'
try query - ask - <f.bly
refused 'the filter and keys from one pipe' 'both'
try query f.bly </dev/null
out_is 'no input' 1 ''

# ---- no such column ----------------------------------------------------------
none='no line has column 9: check -f, -t and --csv$'
try query -f 9 f.bly ask
refused 'query: no line has the column' "$none"
try query -q -f 9 f.bly ask
refused 'query -q: no line has the column' "$none"
try query -v -f 9 f.bly ask
check 'query -v prints the lines' cmp -s out ask
check 'and says so too' grep -q "$none" err
try query -f 9 f.bly </dev/null
out_is 'an empty input lacks no column' 1 ''
printf 'bee\tbee\nbee\n' >some
try query -f 2 f.bly some
out_is 'one line has the column' 0 'bee\tbee\n'
try join -f 9 ask ask
refused 'join: no line of LINES has the column' "$none"
try join --list-field 9 -f 1 ask ask
refused 'join: no line of LIST has the column' \
    'no line of LIST has such a column: check --list-field and -t$'
try dedup -f 9 ask
check 'dedup: no line has the column' grep -q ": $none" err
status_is 'which is an error' 2
check 'and all lines are printed' cmp -s out ask
for job in 'add f.bly' 'diff f.bly' 'sketch -o no.bly' 'build -o no.bly'; do
    # shellcheck disable=SC2086  # words
    try $job -f 9 ask
    refused "$job: no line has the column" "$none"
done
try build -k counting -o counts.bly keys
try count -f 9 -m 1 counts.bly ask
refused 'count: no line has the column' "$none"
keeps 'remove: no line has the column' "$none" counts.bly \
    remove -f 9 counts.bly ask
try build -k bloomier:bits=8 -l 1 -o labels.bly <<'EOF'
7	bee
EOF
try get -f 9 labels.bly ask
refused 'get: no line has the column' "$none"

# ---- an output that is also an input -----------------------------------------
# itself NAME FILE ARGUMENTS...: refused if the output is appended to FILE,
# which does not change.
itself() {
    itself_name=$1
    itself_file=$2
    shift 2
    cp "$itself_file" before
    "$BLOOMERY" "$@" >>"$itself_file" 2>err
    echo $? >status
    : >out
    refused "$itself_name" "'$itself_file' is both the input and the output: send"
    check "$itself_name: it is as it was" cmp before "$itself_file"
}
cp ask kk
itself 'query' kk query f.bly kk
itself 'query -v, the second file' kk query -v f.bly keys kk
itself 'count' kk count counts.bly kk
itself 'get' kk get labels.bly kk
itself 'diff' kk diff f.bly kk
itself 'query: the filter' f.bly query f.bly kk
itself 'query -c: the filter' f.bly query -c f.bly kk
itself 'diff: the filter' f.bly diff f.bly kk
cp kk before
"$BLOOMERY" query f.bly <kk >>kk 2>err
echo $? >status
: >out
refused 'query: standard input' "'-' is both the input and the output"
check 'query: standard input is as it was' cmp before kk
"$BLOOMERY" query -c f.bly kk >>kk
check 'query -c reads no lines of its own' [ "$(tail -n 1 kk)" = 2 ]

finish
