# mark.sh - query's marks, line numbers and file names; and a program that waits
# for each answer of query.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf 'ant\nbee\ncat\n' >keys
printf 'bee\ndog\ncat\nelk' >ask
printf 'dog\n' >none
: >empty
try build -n 1000 -p 1e-9 -o f.bly keys
silent 'build'

# ---- marks ------------------------------------------------------------------
try query --mark f.bly ask
out_is '--mark: all lines, in their order' 0 '1\tbee\n0\tdog\n1\tcat\n0\telk'
try query --mark f.bly none
out_is '--mark, nothing there: status 1' 1 '0\tdog\n'
try query --mark f.bly ask none ask
out_is '--mark: a last line without its end' 0 \
    '1\tbee\n0\tdog\n1\tcat\n0\telk\n0\tdog\n1\tbee\n0\tdog\n1\tcat\n0\telk'
printf 'x\tbee\nnokey\n\nx\tdog\n' >table
try query --mark -f 2 f.bly table
out_is '--mark: a line without a key' 0 '1\tx\tbee\n0\tnokey\n0\t\n0\tx\tdog\n'
printf '# c\nbee\n\ndog # d\n#' >commented
try query --mark --comment '#' --skip-blank f.bly commented
out_is '--mark: no skipped line' 0 '1\tbee\n0\tdog # d\n'
try query --mark --line-number --comment '#' f.bly commented
out_is '--mark: the numbers of lines stay' 0 '1\t2:bee\n0\t3:\n0\t4:dog # d\n'
printf 'bee\0do\ng\0' >nul
try query --mark -0 f.bly nul
out_is '--mark -0' 0 '1\tbee\00000\tdo\ng\0'
try query --mark f.bly empty
out_is '--mark of nothing' 1 ''

# ---- numbers and names ------------------------------------------------------
try query --line-number f.bly ask none ask
out_is '-n: of each file' 0 '1:bee\n3:cat\n1:bee\n3:cat\n'
try query -v --line-number f.bly ask none
out_is '-n -v' 0 '2:dog\n4:elk\n1:dog\n'
try query --with-filename f.bly ask none ask
out_is '-H' 0 'ask:bee\nask:cat\nask:bee\nask:cat\n'
try query --line-number --with-filename f.bly ask - <ask
out_is '-n -H: the file, the number, the line' 0 \
    'ask:1:bee\nask:3:cat\n(standard input):1:bee\n(standard input):3:cat\n'
try query --line-number --with-filename f.bly <ask
out_is 'standard input alone' 0 \
    '(standard input):1:bee\n(standard input):3:cat\n'
try query --line-number --with-filename --mark f.bly ask none
out_is 'with --mark they are behind the TAB' 0 \
    '1\task:1:bee\n0\task:2:dog\n1\task:3:cat\n0\task:4:elk\n0\tnone:1:dog\n'
try query --line-number -f 2 f.bly table
out_is '-n counts lines without a key' 0 '1:x\tbee\n'
try query -v --line-number -f 2 f.bly table
out_is 'and -v prints them' 0 '2:nokey\n3:\n4:x\tdog\n'
printf 'dog\nelk' >unended
try query -v --line-number f.bly unended none
out_is '-n behind a line without its end' 0 '1:dog\n2:elk\n1:dog\n'
try query --line-number -0 f.bly nul
out_is '-n -0' 0 '1:bee\0'

# ---- the counts of files ----------------------------------------------------
try query -c --with-filename f.bly empty ask none empty empty ask - empty <keys
out_is '-c -H: each file, also of 0 lines' 0 \
    'empty:0\nask:2\nnone:0\nempty:0\nempty:0\nask:2\n(standard input):3\nempty:0\n'
try query -cv --with-filename f.bly ask none
out_is '-c -H -v' 0 'ask:2\nnone:1\n'
try query -c --with-filename f.bly none empty
out_is '-c -H, nothing there: status 1' 1 'none:0\nempty:0\n'
try query -c --with-filename f.bly ask missing none
if [ "$(cat status)" = 2 ] && [ "$(cat out)" = "$(printf 'ask:2\nnone:0')" ] \
    && grep -q "cannot read 'missing'" err && [ "$(wc -l <err)" -eq 1 ]; then
    pass '-c -H: a missing file has no count'
else
    fail '-c -H: a missing file has no count' "$(details)"
fi

# ---- many chunks, many threads ----------------------------------------------
lines=$(work 700000 250000)
awk -v n="$lines" 'BEGIN {
    for (i = 1; i <= n; i++) print i % 3 == 0 ? "key number " i : "other " i
}' >big
grep '^key' big >found
try build -j 1 -p 1e-9 -o big.bly found
silent 'build of many'
cat big big ask >two
{ awk '/^key/ { print "big:" NR ":" $0 }' big
  awk '/^key/ { print "two:" NR ":" $0 }' two; } >want.numbers
{ awk '{ print (/^key/ ? 1 : 0) "\tbig:" NR ":" $0 }' big
  awk '{ print (/^key/ ? 1 : 0) "\ttwo:" NR ":" $0 }' two; } >want.marks
awk '{ print (/^key/ ? 1 : 0) "\t" $0 }' big >want.plain
per_file="$(awk '/^key/ { n++ } END { print n }' big)"
for jobs in 1 $(work '2 3 8' 5); do
    try query -j $jobs --line-number --with-filename big.bly big two
    check "-n -H -j $jobs: the numbers of lines" cmp out want.numbers
    { "$BLOOMERY" query -j $jobs --line-number --with-filename --mark big.bly big two; echo; } >out
    check "--mark -n -H -j $jobs" cmp out want.marks
    try query -j $jobs --mark big.bly big
    check "--mark -j $jobs" cmp out want.plain
    try query -j $jobs -c --with-filename big.bly big two big
    out_is "-c -H -j $jobs" 0 "big:$per_file\ntwo:$((2 * per_file))\nbig:$per_file\n"
done
# shellcheck disable=SC2002  # a pipe is what is tested
cat big | "$BLOOMERY" query --line-number big.bly | sed 's/^/big:/' >out
awk '/^key/ { print "big:" NR ":" $0 }' big >want
check '-n of a pipe' cmp out want

# ---- a program that waits for each answer -----------------------------------
# talk NAME OPTIONS...: writes a line and waits for its mark, many times. The
# answers to 1, 2, 3, ... are 1 if 3 divides the number.
talk() {
    talk_name=$1
    shift
    rm -f questions answers
    mkfifo questions answers
    timeout 120 "$BLOOMERY" query --mark "$@" big.bly <questions >answers &
    exec 3>questions 4<answers
    wrong=''
    for i in $(seq 1 "$(work 600 150)"); do
        case $((i % 3)) in
        0) line="key number $i" want=1 ;;
        *) line="other $i" want=0 ;;
        esac
        echo "$line" >&3
        answer=none
        read -r answer <&4
        [ "$answer" = "$(printf '%s\t%s' $want "$line")" ] ||
            wrong="to '$line' the answer was '$answer'"
        [ -z "$wrong" ] || break
    done
    exec 3>&- 4<&-
    wait
    if [ -z "$wrong" ]; then pass "$talk_name"; else fail "$talk_name" "$wrong"; fi
}
talk 'each answer comes before the next question'
talk 'with one thread' -j 1
talk 'with many' -j 8
talk 'with --line-buffered' --line-buffered

# A client that waits for the header before its first line gets it.
for options in --header '--csv -f id' '--csv -f id -j 1'; do
    rm -f questions answers
    mkfifo questions answers
    # shellcheck disable=SC2086  # a list of words
    timeout 60 "$BLOOMERY" query --mark $options big.bly <questions >answers \
        2>err &
    exec 3>questions 4<answers
    printf 'id\r\n' >&3
    timeout 20 head -c 9 <&4 >got
    check "a header is answered at once $options" \
        [ "$(cat got)" = "$(printf 'mark\tid\r')" ]
    printf 'other\r\n' >&3
    exec 3>&-
    cat <&4 >got
    exec 4<&-
    wait
    check "and then the lines $options" \
        [ "$(cat got)" = "$(printf '0\tother\r')" ]
    if [ "$options" = --header ]; then
        check 'a CR needs no note' [ ! -s err ]
    fi
done

# A block that exactly fills a read of one mebibyte: its length does not tell
# whether more follows. The process is stopped until the pipe holds all of it.
awk 'BEGIN { for (i = 1; i < 131072; i++) print "1234567"; print "bumbles" }' \
    >block
printf 'bee\nbumbles\n' >words
try build -n 1000 -p 1e-9 -o w.bly words
for options in '' --line-buffered '-j 1'; do
    rm -f questions answers
    mkfifo questions answers
    # shellcheck disable=SC2016,SC2086  # for the inner shell; a list of words
    timeout 60 sh -c 'echo $$ >pid; exec "$@"' sh \
        "$BLOOMERY" query $options w.bly <questions >answers 2>err &
    exec 3>questions 4<answers
    echo bee >&3
    read -r answer <&4
    kill -STOP "$(cat pid)"
    cat block >&3 &
    sleep 1
    kill -CONT "$(cat pid)"
    timeout 20 head -n 1 <&4 >got
    check "a block that fills a read is answered at once $options" \
        [ "$(cat got)" = bumbles ]
    exec 3>&- 4<&-
    wait
done

finish
