# messages.sh - the exact text of the messages that users meet most often. Each
# command of messages.txt runs here and must print the lines that follow it: its
# standard output, each line after "| ", its messages, and its exit status. After a change, read the difference that this prints and apply it with patch.
# shellcheck source=lib.sh
. "$1/lib.sh"

messages=$1/messages.txt
"$BLOOMERY" --help | grep -q '^  serve ' || {
    skip messages 'built without BLY_SERVE'
    finish
}

# ---- The files that the commands name ----------------------------------------
seq 1 1000 >keys
: >empty
echo '# why' >comments
printf '\n \n' >blanks
mkdir folder
printf 'id,mail\n1,a@example.org\n' >table.csv
printf 'a\0b\n' >binary
printf 'a\r\nb\r\n' >crlf
printf '\037\213\010\0\0\0' >bad.gz
"$BLOOMERY" build -o words.bly keys
"$BLOOMERY" build -n 9 -o other.bly keys --overfill 2>/dev/null
"$BLOOMERY" index -o keys.blx keys 2>/dev/null
head -c 100 words.bly >short.bly
# A payload byte, and the format version.
{ head -c 200 words.bly && printf '\252\125' && tail -c +203 words.bly; } \
    >damaged.bly
{ head -c 24 words.bly && printf '\377' && tail -c +26 words.bly; } >newer.bly

# ---- The messages ------------------------------------------------------------
bloomery() {
    "$BLOOMERY" "$@"
}

sed -n 's/^\$ //p' "$messages" >commands
: >got
while IFS= read -r line; do
    (eval "$line") >out 2>err </dev/null
    status=$?
    {
        printf '$ %s\n' "$line"
        sed 's/^/| /' out
        cat err
        printf '(status %s)\n' "$status"
    } >>got
    [ -s err ] || fail 'each prints a message' "$line"
done <commands

check 'at least fifty commands' [ "$(wc -l <commands)" -ge 50 ]
if ! cmp -s got "$messages"; then
    diff "$messages" got
    fail 'the messages are those of messages.txt' 'see the difference above'
else
    pass 'the messages are those of messages.txt'
fi

finish
