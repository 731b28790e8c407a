# terminal.sh - output on a terminal: lines and progress do not mix, and
# progress fits in a line.
# shellcheck source=lib.sh
. "$1/lib.sh"

if ! script --version 2>/dev/null | grep -q util-linux; then
    skip 'terminal' 'no script of util-linux'
    finish
fi

# show FILE COLUMNS COMMAND: records in FILE what a terminal of that width shows
# while a shell runs the command. Each run takes seconds, so they run side by
# side.
show() {
    script -qec "stty cols $2; printf 'begin:'; $3" /dev/null </dev/null \
        | sed -e '1s/^.*begin://' | tr -d '\000' >"$1" &
}

# Lines so slow that progress is shown, even on the same terminal.
cat >slowly <<'EOF'
echo ant; sleep 1.5; echo bee; sleep 0.7; echo cat
EOF
# The last line is not CSV: a message.
cat >briefly <<'EOF'
echo ant; sleep 1.3; echo bee; sleep 0.3; echo '"cat"s'
EOF
cat >amply <<'EOF'
seq 200000; sleep 1.5; seq 300000; sleep 0.7; echo cat
EOF
printf 'ant\nbee\ncat\n' >keys
try build -n 10 -o f.bly keys
silent 'build'
try build -n 10 -o other.bly /dev/null
mkdir lines
printf '%s\n' 'dedup --window 100 -p 1e-9' 'dedup' 'query f.bly' \
    'diff other.bly' >commands
while read -r command; do
    show "lines/$command" 80 "sh slowly | '$BLOOMERY' $command"
done <commands
show build 30 "sh slowly | '$BLOOMERY' build -n 10 -o new.bly"
show query 30 "sh slowly | '$BLOOMERY' query -c f.bly"
show narrow 9 "sh slowly | '$BLOOMERY' build -n 10 -o narrow.bly"
show wide 100 "sh amply | '$BLOOMERY' build -n 500000 -o wide.bly"
show dedup 30 "sh slowly | '$BLOOMERY' dedup >elsewhere"
show none 30 "sh slowly | '$BLOOMERY' build --no-progress -n 10 -o none.bly"
show message 80 "sh briefly | NO_COLOR=1 '$BLOOMERY' build --csv -n 10 -o csv.bly"
wait

printf 'ant\r\nbee\r\ncat\r\n' >want
while read -r command; do
    check "$command: nothing but lines on their terminal" \
        cmp "lines/$command" want
done <commands

# progress FILE NAME: progress was shown, never wider than 29 characters.
progress() {
    tr '\r' '\n' <"$1" | tr -d '\033' | sed -n 's/\[K$//p' >shown
    if ! grep -q ' ' shown; then
        fail "$2" "no progress: $(od -An -c "$1" | head -c 200 | tr '\n' ' ')"
    elif grep -Eq '^.{30}' shown; then
        fail "$2" "too wide: $(tr '\n' '|' <shown)"
    else
        pass "$2"
    fi
}
progress build 'build shows progress that fits into the line'
tr '\r' '\n' <narrow | tr -d '\033' | sed -n 's/\(.\)\[K$/\1/p' | sort -u >shown
echo 'build:' >want
check 'a narrow terminal shows whole parts of the line only' cmp shown want
tr '\r' '\n' <wide | tr -d '\033' | sed -n 's/\[K$//p' >shown
check 'input is counted in bytes' \
    grep -Eq '^build: [0-9.]+ [kM]B, [0-9.]+ [kM]B/s$' shown
progress query 'query -c, which prints no lines'
progress dedup 'dedup, whose lines go elsewhere'
check 'with all its lines there' cmp keys elsewhere
check '--no-progress' [ -s none.bly -a ! -s none ]
tr '\r' '\n' <message | tr -d '\033' >shown
check 'a message erases progress' grep -q '^\[Kbloomery build: ' shown

finish
