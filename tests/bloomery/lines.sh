# lines.sh - -o FILE of dedup and join, which is written atomically; and --json.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf 'ant\nbee\nant\ncat\nbee\nant\n' >few
printf 'bee\ncat\ndog\n' >list
printf 'ant\nbee\ncat\n' >once
printf 'bee\ncat\nbee\n' >both
mkdir box
seq 1 200000 >many

# each COMMAND's operands, and what it prints for them
dedup='dedup few'
join='join few list'
for command in "$dedup" "$join"; do
    name=${command%% *}
    wanted=once
    [ "$name" = dedup ] || wanted=both
    # shellcheck disable=SC2086  # a command and its operands
    try $command -o box/new
    silent "$name -o"
    check "$name -o: the lines" cmp box/new $wanted
    check "$name -o: and nothing beside them" [ "$(ls -A box)" = new ]
    # shellcheck disable=SC2086
    keeps "$name -o: what is there stays" \
        "'box/new' exists and is not empty: .* --force" box/new \
        $command -o box/new
    echo old >box/new
    chmod 640 box/new
    # shellcheck disable=SC2086
    try $command --force -o box/new
    silent "$name -o --force"
    check "$name -o --force: replaced" cmp box/new $wanted
    check "$name -o --force: with its permissions" \
        sh -c 'ls -l box/new | grep -q "^-rw-r-----"'
    chmod 6755 box/new
    # shellcheck disable=SC2086
    try $command --force -o box/new
    check "$name -o: bits of programs are not kept" \
        sh -c 'ls -l box/new | grep -q "^-rwxr-xr-x"'
    if chown 12345:12345 box/new 2>/dev/null; then
        # shellcheck disable=SC2086
        try $command --force -o box/new
        check "$name -o --force: and its owner and group" \
            sh -c 'ls -ln box/new | grep -q " 12345  *12345 "'
    else
        skip "$name -o --force: its owner" 'only root may give files away'
    fi
    rm box/new
    : >box/new
    # shellcheck disable=SC2086
    try $command -o box/new
    check "$name -o: an empty file may be replaced" cmp box/new $wanted
    rm box/new
    cp $wanted box/target
    ln -s target box/link
    # shellcheck disable=SC2086
    try $command --force -o box/link
    check "$name -o: where a link leads" \
        sh -c "[ -h box/link ] && cmp box/target $wanted"
    rm box/target
    # shellcheck disable=SC2086
    try $command -o box/link
    check "$name -o: where a link leads, though nothing is there" \
        sh -c "[ -h box/link ] && cmp box/target $wanted"
    rm box/*
    long=box/$(printf '%0255d' 0)
    if (: >"$long") 2>/dev/null; then
        # shellcheck disable=SC2086
        try $command -o "$long"
        check "$name -o: a name that is as long as can be" cmp "$long" $wanted
    else
        skip "$name -o: a long name" 'the file system refuses it'
    fi
    rm -f "$long"
    # shellcheck disable=SC2086
    keeps "$name -o: not the input" "'few' is both the output and a file of keys" \
        few $command --force -o few
    # shellcheck disable=SC2086
    try $command -o box
    refused "$name -o: a folder" "'box' is a folder: name a file in it"
    # shellcheck disable=SC2086
    try $command -o nowhere/new
    refused "$name -o: no such folder" 'nowhere.*: create the folder'
    exec 8>box/gone
    rm box/gone
    # shellcheck disable=SC2086
    try $command --force -o /dev/fd/8
    exec 8>&-
    refused "$name -o: a file that has been removed" "cannot write '/dev/fd/8': "
    # shellcheck disable=SC2086
    try $command -o ''
    refused "$name -o: no name" "-o '' names no file"
    # shellcheck disable=SC2086
    try $command -o -
    check "$name -o -" cmp out $wanted
    # shellcheck disable=SC2086
    try $command -o /dev/null
    silent "$name -o: a device"
    # shellcheck disable=SC2086
    try $command --json -o -
    refused "$name --json -o -" 'cannot both write'
done
check 'and the folder is empty' [ -z "$(ls -A box)" ]

# ---- failures while lines are written ----------------------------------------
echo old >box/new
for command in "dedup many" "join many many" "dedup -a many"; do
    # shellcheck disable=SC2086,SC3045
    (ulimit -f 8 && exec "$BLOOMERY" $command --force -o box/new) >out 2>err
    echo $? >status
    grep -v 'note: ' err >told
    mv told err
    refused "${command%% *} -o: a full disk" "cannot write 'box/new': .*: free some space"
    check "${command%% *} -o: the old file is as it was" [ "$(cat box/new)" = old ]
    check "${command%% *} -o: nothing is left behind" [ "$(ls -A box)" = new ]
done
keeps 'dedup -o: a missing file' "'missing'" box/new \
    dedup --force -o box/new few missing
try dedup -w 9 --force -o box/new few missing
status_is 'dedup --window -o: a missing file' 2
check 'dedup --window -o: the old file is as it was' [ "$(cat box/new)" = old ]
keeps 'dedup -o: bad input' 'is not text' box/new \
    dedup --force -o box/new /dev/zero
check 'nothing is left behind' [ "$(ls -A box)" = new ]
if [ -w /dev/full ]; then
    try dedup -o /dev/full few
    refused 'a full device' "cannot write '/dev/full': .*: free some space"
fi
mkfifo pipe
cp box/new was
for signal in HUP TERM KILL; do
    "$BLOOMERY" dedup --force -o box/new pipe >out 2>err &
    writer=$!
    exec 3>pipe
    seq 1 100000 >&3
    kill -$signal $writer 2>/dev/null
    exec 3>&-
    wait $writer 2>/dev/null
    check "dedup -o: nothing is left behind after SIG$signal" \
        [ "$(ls -A box)" = new ]
    check "dedup -o: the old file is as it was after SIG$signal" \
        cmp box/new was
done
try join -c few list
out_is 'join -c' 0 '3\n'
try join -o box/none list many
status_is 'join -o: no line' 1
check 'join -o: an empty file' [ -f box/none -a ! -s box/none ]

# ---- figures -----------------------------------------------------------------
figures() {
    name=$1
    shift
    for figure; do
        check "$name: $figure" grep -q "^  $figure,*\$" out
    done
}
try dedup --json -o box/x few
figures 'dedup --json' '"lines": 6' '"printed": 3' '"keyless": 0' '"rate": 0' \
    '"dropped": 0' '"passes": 2' '"spilled_bytes": 0' '"output": "box/x"'
check 'dedup --json: nothing on stderr' [ ! -s err ]
try dedup --json -a -p 1% --force -o box/x many
figures 'dedup -a --json' '"lines": 200000' '"rate": 0.01' '"passes": 1' \
    '"dropped": [0-9]*[.][0-9]*'
try join --json --invert-match -o box/y few list
figures 'join --json' '"lines": 6' '"printed": 3' '"keyless": 0' '"listed": 3' \
    '"in_memory": true' '"output": "box/y"'
try join --json -c few list
figures 'join -c --json' '"counted": 3' '"output": null'
finish
