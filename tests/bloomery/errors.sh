# errors.sh - bad input: one line that says what is wrong and how to mend it,
# status 2, and no existing file is touched.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf 'ant\nbee\ncat\n' >keys
: >empty
mkdir folder
echo 'this is no filter, but a text of some length' >text
try build -p 1e-9 -o f.bly keys
silent 'build'
cp f.bly out.bly

bad_build() {
    name=$1
    regex=$2
    shift 2
    keeps "build: $name" "$regex" out.bly build -o out.bly "$@"
}

# ---- build: what is asked ---------------------------------------------------
bad_build 'unknown kind' 'nokind' -k nokind keys
bad_build 'unknown kind, keys of a pipe' 'nokind' -k nokind </dev/null
bad_build 'unknown option of a kind' 'colour' -k standard:colour=red keys
bad_build 'bad value of a kind option' 'k' -k standard:k=0 keys
bad_build 'kind option without value' 'k' -k standard:k keys
bad_build 'kind option twice' 'option k is given twice: give it once' \
    -k standard:k=3,k=4 keys
bad_build 'blank in a kind' "' k=3' contains a space: write standard:" \
    -k 'standard: k=3' keys
bad_build 'nothing behind the colon' "missing after ':': write standard alone" \
    -k standard: keys
bad_build 'nothing behind a comma' "missing after ',': write" \
    -k standard:k=3, keys
bad_build 'unknown hash' 'nohash' -H nohash keys
for rate in 0 1 2 nan NaN inf -1 abc 0% 100% 0x1p-3 1e-2x '' 1e-400; do
    bad_build "rate '$rate'" "-p '$rate' is not .*: give" -p "$rate" keys
done
for items in 0 -1 1.5 abc 1e-1 0x10 10Q '' 1e 1k2 ' 1' nan; do
    bad_build "items '$items'" "-n '$items' is .*: give" -n "$items" keys
done
for items in 18446744073709551616 1e30 20000000000G; do
    bad_build "items '$items'" 'does not fit in 64 bits' -n $items keys
done
bad_build 'more items than can be addressed' ': .*: ' \
    -n 18446744073709551615 keys
for seed in abc -1 1.5 0x 18446744073709551616 ''; do
    bad_build "seed '$seed'" "-s '$seed' .*: give" -s "$seed" keys
done
for byte in '' ab '\q' '\x1' '\xgg'; do
    bad_build "separator '$byte'" "-t '.*' is not one byte: give" \
        -f 1 -t "$byte" keys
done
bad_build 'field 0' "-f '0' has a column 0: the first" -f 0 keys
bad_build 'a long option by its name' "--items '0' is too few: give" --items 0 keys
for number in 0 -1 x 1.5 99999999999999999999; do
    bad_build "-j $number" "-j '$number' is not .*: give one such as 1, 2" \
        -j "$number" keys
done

# ---- build: what is read ----------------------------------------------------
bad_build 'missing file' "cannot read 'missing': .*: check" missing
bad_build 'missing file after a good one' "'missing'" keys missing
bad_build 'missing file with -n' "'missing'" -n 10 keys missing
bad_build 'folder as file' "'folder' is a folder: name" folder
bad_build 'folder as file with -n' "'folder' is a folder" -n 10 folder
bad_build 'no line has the column' 'no line has column 2: check' -f 2 keys
bad_build 'the same of a kind that is built at once' 'no line has column 2: check' \
    -k fuse -f 2 keys
bad_build 'and of two files' 'no line has column 2: check' -f 2 keys text
echo x | bad_build 'a pipe without -n' 'cannot be counted .*: give .* -n'
mkfifo pipe
bad_build 'a named pipe without -n' 'cannot be counted .*: give .* -n' keys pipe
bad_build 'closed stdin' 'standard input' -n 3 <&-
for kind in standard scalable egh:universe=9 counting fuse ribbon gcs; do
    try build -k $kind -o new.bly empty
    note "$kind: no keys make an empty filter" 'no keys: the filter is empty'
    try query -c new.bly keys
    out_is "$kind: which finds none" 1 '0\n'
done
try build -o new.bly empty empty
note 'no keys in two files' 'the filter is empty, and planned for few keys .-n plans'
try build -o new.bly <empty
note 'no keys on stdin' 'no keys'
try build -n 3 -o new.bly empty
silent 'no keys with -n is an empty filter'
try query -v new.bly keys
out_is 'and it holds nothing' 0 'ant\nbee\ncat\n'

# ---- permissions: root keeps to them without two of its capabilities ---------
mine='setpriv --bounding-set -dac_override,-dac_read_search'
[ "$(id -u)" -eq 0 ] || mine=
echo x >sealed
chmod 000 sealed
# shellcheck disable=SC2086  # a command and its options
if $mine cat sealed >/dev/null 2>&1 || ! $mine true 2>/dev/null; then
    skip 'permissions' 'root may do everything here'
else
    AS=$mine
    mkdir shut locked
    cp keys f.bly shut
    cp keys locked
    bad_build 'unreadable file' \
        "cannot read 'sealed': Permission denied: you cannot read it: ask its owner" \
        sealed
    chmod 600 shut
    bad_build 'a folder that may not be entered' \
        "'shut/keys': .*: you cannot enter a folder" shut/keys
    try query shut/f.bly keys
    refused 'query in it' 'owner of the file, or of a folder in its path, for'
    try add shut/f.bly keys
    refused 'add in it' "its folder 'shut': .* you cannot create files there"
    chmod 500 locked
    try build -o locked/new.bly keys
    refused 'build in a folder that may not be written' \
        "its folder 'locked': Permission denied: you cannot create files there"
    (
        TMPDIR=locked
        export TMPDIR
        # shellcheck disable=SC2002  # a pipe is what is tested
        cat keys | try dedup --count -f 1
        refused 'no file may be made in TMPDIR' \
            "in 'locked': .*: set TMPDIR to a folder that you can write to"
        exit "$failures"
    ) || failures=$((failures + 1))
    chmod 700 shut locked
    AS=
fi
try build -o none/f.bly keys
refused 'no such folder' "its folder 'none': No such .*: create the folder, or choose"

# ---- build: where it goes ---------------------------------------------------
try build keys
refused 'build without -o' '-o FILE is missing: see'
try build -o folder keys
refused 'build -o FOLDER' "'folder' is a folder: name"
try build -o none/f.bly keys
refused 'build into a folder that is not there' "'none/f.bly': .*: create"
try build -o '' keys
refused 'build -o with an empty name' "-o '' names no file: give its name"
keeps 'build over its own keys' 'name another output' keys \
    build -o keys keys
keeps 'build over its own keys by another name' 'name another output' keys \
    build -o ./keys keys
try build -o - --json keys
refused 'build -o - --json' 'standard output: see'

# ---- add --------------------------------------------------------------------
try add
refused 'add without FILE' 'FILE .*missing: see'
try add missing.bly keys
refused 'add to a missing file' "'missing\\.bly'"
check 'and it is still missing' [ ! -e missing.bly ]
try add folder keys
refused 'add to a folder' "'folder'"
keeps 'add to what is no filter' 'text' text add text keys
keeps 'add from a missing file' "cannot read 'missing'" out.bly \
    add out.bly keys missing
keeps 'add from a folder' "'folder' is a folder" out.bly add out.bly folder
keeps 'add a filter to itself' 'another' out.bly add out.bly out.bly
try add - keys
refused 'add to standard output' 'name a file'
size=$(wc -c <f.bly)
cp f.bly damaged.bly
printf 'XYZ' | dd of=damaged.bly bs=1 seek=$((size - 40)) conv=notrunc \
    2>/dev/null
keeps 'add to a damaged filter' 'damaged' damaged.bly add damaged.bly keys

# ---- files that are no filters ----------------------------------------------
head -c $((size - 1)) f.bly >short.bly
head -c 60 f.bly >header.bly
for file in text empty folder missing short.bly header.bly; do
    for command in query info check; do
        try $command $file </dev/null
        refused "$command: $file is no filter" "$file"
    done
    try overlap f.bly $file
    refused "overlap: $file is no filter" "$file"
    try overlap $file f.bly
    refused "overlap: $file is no filter, the first" "$file"
    for command in unite intersect; do
        keeps "$command: $file is no filter" "$file" out.bly \
            $command -o out.bly f.bly $file
        keeps "$command: $file is no filter, the first" "$file" out.bly \
            $command -o out.bly $file f.bly
    done
done

# ---- the command line -------------------------------------------------------
try
check 'no command: three examples' [ "$(grep -c '^  bloomery ' err)" -eq 3 ]
tail -n 1 err >last && mv last err
refused 'no command' 'bloomery: no command is given: .*--help'
try biuld -o x
refused 'unknown command, near to one' "unknown command 'biuld': .*'build'"
try qeury
refused 'two neighbours swapped' "did you mean 'query'\?"
for pair in uniq:dedup merge:unite insert:add contains:query test:query; do
    try "${pair%:*}"
    refused "what others call ${pair#*:}: ${pair%:*}" \
        "did you mean '${pair#*:}'\?"
done
for topic in keys rates; do
    try $topic
    refused "a topic of help is not a command: $topic" \
        "unknown command '$topic': did you mean 'bloomery help $topic'"
done
if command -v script >/dev/null; then
    escape=$(printf '\033')
    TERM=xterm script -qec "'$BLOOMERY' uniq" /dev/null >out </dev/null
    check 'an error on a terminal is coloured' grep -q "^$escape\[1;31m" out
    TERM=xterm NO_COLOR=1 script -qec "'$BLOOMERY' uniq" /dev/null >out \
        </dev/null
    check 'but not with NO_COLOR' sh -c "! grep -q '$escape' out"
    TERM=dumb script -qec "'$BLOOMERY' uniq" /dev/null >out </dev/null
    check 'nor on a terminal that has none' sh -c "! grep -q '$escape' out"
else
    skip 'an error on a terminal is coloured' 'no script(1)'
fi
try build --outptu x
refused 'unknown option, near to one' "unknown option '--outptu': did you mean '--output'\?"
try query --sumary=3
refused 'and a value' "did you mean '--summary'\?"
try dedup --hepl
refused 'near to --help' "did you mean '--help'\?"
try frobnicate
refused 'unknown command' "unknown command 'frobnicate': .*--help"
try --frobnicate
refused 'unknown option before the command' '--frobnicate.*--help'
try --verison
refused 'near to --version' "before the command: did you mean '--version'\?"
try version
refused 'version is no command' "unknown command 'version': did you mean .* --version'"
try query --null-data f.bly
refused 'an option and more' "unknown option '--null-data': did you mean '--null'\?"
try help frobnicate
refused 'help for an unknown command' "unknown command or topic 'frobnicate': "
try help build add
refused 'help for two commands' 'one COMMAND'
for command in build add query info check plan kinds unite intersect overlap
do
    try $command --frobnicate
    refused "$command: unknown long option" \
        "unknown option '--frobnicate': see 'bloomery $command --help'"
    try $command -Z
    refused "$command: unknown letter" \
        "unknown option '-Z': see 'bloomery $command --help'"
    try $command --help=3
    refused "$command: a value for --help" '--help takes no value'
done
try build --output
refused 'an option without its value' '--output needs a value'
try build --no-p
refused 'an abbreviation of nothing else is fine, -o is missing' '-o FILE'
try query --s f.bly
refused 'an abbreviation of two options' "'--s' is ambiguous"
try query
refused 'query without FILE' 'FILE .*missing: see'
try query - <f.bly
refused 'query: filter and keys from stdin' 'standard input: see'
try info
refused 'info without FILE' 'missing: see'
try check
refused 'check without FILE' 'missing: see'
try plan
refused 'plan without -n' '-n ITEMS is missing: see'
try plan -n 10 f.bly
refused 'plan with an operand' 'no operands: see'
try plan -n 10 -k nokind
refused 'plan of an unknown kind' 'nokind'
try plan -n 10 -p 2
refused 'plan with rate 2' "-p '2' is not between"
try plan -n 10 -p 1e-300
refused 'plan with a rate no kind can hold' ': .*: '
try plan -n 18446744073709551615
refused 'plan for more keys than can be addressed' ': .*: '
try plan -k standard
refused 'plan -k without -n' ': .*: '
try kinds nokind
refused 'kinds of an unknown kind' "unknown kind 'nokind': "
for command in 'kinds' 'plan -n 9 -k' 'build -o x.bly -k' 'dedup -a -k'; do
    # shellcheck disable=SC2086  # options are words
    try $command blokced:k=3
    refused "$command: a kind near to one" \
        "unknown kind 'blokced': did you mean 'blocked'\?"
done
for option in standard:indx=power:index standard:k=5,kk=5:k; do
    kind=${option%:*}
    try plan -n 9 -k "$kind"
    refused "an option near to one: $kind" \
        "no option '[a-z]*': did you mean '${option##*:}'\?"
done
for value in standard:index=trible:triple scalable:of=blokced,growth=3:blocked \
    cuckoo:sorted=yess:yes; do
    kind=${value%:*}
    try plan -n 9 -k "$kind"
    refused "a value near to one: $kind" \
        "is not valid: did you mean '${value##*:}'\?"
done
for kind in standard:nothing=5 standard:k=99 standard:index=7 variable:l=3; do
    try plan -n 9 -k "$kind"
    refused "one that is near to none: $kind" 'it has m, k|not valid: [a-z]* is '
done
# The library tells all hash functions there are.
try plan -n 9 -k standard -H nothing
refused 'a hash function near to none' ': choose .*decimal$'
# shellcheck disable=SC2013  # words are what is wanted
for hash in $(sed 's/.*choose//; s/,//g; s/ or / /' err); do
    try plan -n 9 -k standard -H "${hash}x"
    refused "a hash function near to $hash" \
        "unknown hash function '${hash}x': did you mean '$hash'\?"
done
keeps 'build: a hash function near to one' "did you mean 'xxh3'" f.bly \
    build -H xhx3 -o f.bly keys
try help --completion zhs
refused 'a shell near to one' "unknown shell 'zhs': did you mean 'zsh'\? bash, "
try help --completion powershell
refused 'a shell near to none' 'bash, zsh and fish have completions$'
try kinds standard blocked
refused 'kinds of two' 'one KIND'
for command in unite intersect; do
    try $command f.bly f.bly
    refused "$command without -o" '-o OUT is missing: see'
    keeps "$command of one filter" 'two filters: see' out.bly \
        $command -o out.bly f.bly
    try $command -o folder f.bly f.bly
    refused "$command -o FOLDER" "'folder' is a folder"
done
try overlap f.bly
refused 'overlap of one filter' 'two filters: see'

# A filter in a pipe would be lost, or waited for.
mkfifo changed
cp f.bly whole.bly
cat whole.bly >changed &
writer=$!
for command in add remove put; do
    printf 'k\n' | try $command changed
    refused "$command: a named pipe" "'changed' is not a regular file"
done
try add /dev/null --key k
refused 'add: a device' "'/dev/null' is not a regular file"
kill "$writer"
wait "$writer" 2>/dev/null

# ---- messages are one line, whatever a name holds ---------------------------
try info "$(printf 'two\nlines\033[1m')"
refused 'a name with a newline and an escape' 'two.+lines'
try query f.bly "$(printf 'two\nlines')"
refused 'keys from a name with a newline' 'two\\x0alines'

finish
