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
try query --invert f.bly keys
out_is '--invert, nothing selected: status 1' 1 ''
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
out_has '-S: keys asked' 0 '^keys asked +4$'
out_has '-S: perhaps there' 0 '^perhaps there +2$'
# Wilson's 95 % interval of 2 out of 4 is 15.0 % to 85.0 %,
out_has '-S: the share with its interval' 0 '^share +50 %.* 15 % to 85 %'
out_has '-S: planned rate' 0 '^planned rate '
# and of 0 out of 2 it is 0 % to 65.8 %.
try query --summary f.bly none
out_has '--summary, none there: status 1' 1 '^share +0 %.* 0 % to 65.8 %'
try query -S f.bly /dev/null
out_has '-S of no keys' 1 '^keys asked +0$'

# ---- through pipes ----------------------------------------------------------
# An answer comes before the next question: nothing is held back.
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
# A reader that goes away: the command dies of SIGPIPE, or, where that is
# ignored, says what went wrong.
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

finish
