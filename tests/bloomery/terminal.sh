# terminal.sh - what a terminal shows: lines and progress do not mix, and
# progress fits into a line.
# shellcheck source=lib.sh
. "$1/lib.sh"

if ! script --version 2>/dev/null | grep -q util-linux; then
    skip 'terminal' 'no script of util-linux'
    finish
fi

# shown COLUMNS COMMAND: what a terminal of so many columns shows while a shell
# runs the command, without what is sent before the command begins.
shown() {
    script -qec "stty cols $1; printf 'begin:'; $2" /dev/null </dev/null \
        | sed -e '1s/^.*begin://' | tr -d '\000' >seen
}

# Lines so slowly that progress would be shown, on the file `slow` or stdout.
cat >slowly <<'EOF'
echo ant; sleep 1.5; echo bee; sleep 0.7; echo cat
EOF
printf 'ant\nbee\ncat\n' >keys
try build -n 10 -o f.bly keys
silent 'build'

printf 'ant\r\nbee\r\ncat\r\n' >want
for command in 'dedup --window 100 -p 1e-9' 'dedup --exact' 'query f.bly' \
    'diff other.bly'; do
    try build -n 10 -o other.bly /dev/null
    shown 80 "sh slowly | '$BLOOMERY' $command"
    check "$command: nothing but lines on their terminal" cmp seen want
done

# progress NAME: there was some, and none of it is wider than 29 characters.
progress() {
    tr '\r' '\n' <seen | tr -d '\033' | sed -n 's/\[K$//p' >lines
    if ! grep -q ' ' lines; then
        fail "$1" "no progress: $(od -An -c seen | head -c 200 | tr '\n' ' ')"
    elif grep -Eq '^.{30}' lines; then
        fail "$1" "too wide: $(tr '\n' '|' <lines)"
    else
        pass "$1"
    fi
}
shown 30 "sh slowly | '$BLOOMERY' build -n 10 -o new.bly"
progress 'build shows progress, cut to the width'
shown 30 "sh slowly | '$BLOOMERY' query -c f.bly"
progress 'query -c, which prints no lines'
shown 30 "sh slowly | '$BLOOMERY' dedup >elsewhere"
progress 'dedup, whose lines go elsewhere'
check 'with all its lines there' cmp keys elsewhere
shown 30 "sh slowly | '$BLOOMERY' build --no-progress -n 10 -o new.bly"
check '--no-progress' [ ! -s seen ]

# A message takes the place of the progress that is shown.
cat >briefly <<'EOF'
echo ant; sleep 1.3; echo bee; sleep 0.3; echo '"cat"s'
EOF
shown 80 "sh briefly | NO_COLOR=1 '$BLOOMERY' build --csv -n 10 -o new.bly"
tr '\r' '\n' <seen | tr -d '\033' >lines
check 'a message erases progress' grep -q '^\[Kbloomery build: ' lines

finish
