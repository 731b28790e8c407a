# show.sh - commands that print information: info, check, plan, kinds, help,
# --version.
# shellcheck source=lib.sh
. "$1/lib.sh"

awk 'BEGIN { for (i = 0; i < 1000; i++) print i }' >keys
try build -k standard -p 0.5% -s 0x2a -o f.bly keys
silent 'build -k -p -s'
try build -H xxh64 -n 2k -o g.bly keys
silent 'build -H -n'
try build --kind standard --items 1e3 --rate 1e-2 --seed 7 --hash xxh3 \
    --output l.bly --no-progress keys
silent 'build with long names'
try build --verbose -n 1000 -o v.bly keys
note 'build --verbose' '^bloomery build: v.bly: 1,000 keys in .*[0-9] bits per planned key'
try build --verbose -k blocked -o b.bly keys
check 'build --verbose -k blocked' grep -q 'b.bly: .* blocked, ' err
check 'build --verbose without -n: the count before' \
    grep -q '1,000 keys were counted, of which about 1,000 are' err

# ---- info -------------------------------------------------------------------
try info f.bly
out_has 'info: the file' 0 '^f\.bly$'
out_has 'info: the kind' 0 '^  kind +standard$'
out_has 'info: keys and plan' 0 '^  keys +1,000 added, planned for 1,000$'
out_has 'info: the rate' 0 '^  rate +0\.[0-9]+ % .*planned 0\.[0-9]+ %$'
out_has 'info: hash and seed' 0 '^  hash +xxh3, seed 42$'
out_has 'info: the fill as a bar' 0 '^  fill +5[0-9.]+ % .*  \[#{10}\.{10}\]$'
try build -n 1000 -o empty.bly /dev/null
try info empty.bly
out_has 'info: an empty bar' 0 '^  fill +0 % .*  \[\.{20}\]$'
try info g.bly
out_has 'info: -H and -n took effect' 0 'planned for 2,000'
out_has 'info: the hash' 0 '^  hash +xxh64, seed 0$'
try info f.bly g.bly
out_has 'info of two files' 0 '^g\.bly$'
# shellcheck disable=SC2002
cat f.bly | try info -
out_has 'info of a pipe' 0 '^  kind +standard$'

try build -k stable -n 100 -o fade.bly keys
silent 'build of a kind that forgets'
try info fade.bly
out_has 'info: what is forgotten' 0 '^  lost +[01][.0-9]* % .*after 100 others are added$'
out_has 'info: no count of it' 0 '^  different +unknown \(the filter forgets\)$'
try plan -k stable -n 100
out_has 'plan: what is forgotten' 0 '^lost +[01][.0-9]* % .*as many others'

# ---- check ------------------------------------------------------------------
try check f.bly g.bly
out_is 'check: two good files' 0 'f.bly: ok\ng.bly: ok\n'
try check -q f.bly
silent 'check -q'
try check --quiet f.bly
silent 'check --quiet'
cp f.bly bad.bly
size=$(wc -c <bad.bly)
printf 'XYZ' | dd of=bad.bly bs=1 seek=$((size - 40)) conv=notrunc 2>/dev/null
try check bad.bly
refused 'check: damage in the last bytes' 'bad\.bly'
head -c $((size - 1)) f.bly >short.bly
try check short.bly
refused 'check: one byte short' 'short\.bly'
try check f.bly bad.bly short.bly g.bly
if [ "$(cat status)" = 2 ] && [ "$(wc -l <err)" -eq 2 ] \
    && [ "$(cat out)" = "$(printf 'f.bly: ok\ng.bly: ok')" ]; then
    pass 'check: good ones on stdout, bad ones on stderr, status 2'
else
    fail 'check: good ones on stdout, bad ones on stderr, status 2' "$(details)"
fi
# shellcheck disable=SC2002
cat f.bly | try check -
out_is 'check of a pipe' 0 '-: ok\n'

seq 10000 | "$BLOOMERY" build --verbose -k expandable -o grown.bly 2>err >out
check 'build --verbose: what would have been smaller' \
    grep -q 'grown.bly: could be .* as quotient, if the number of keys is known' err
try info grown.bly
out_has 'info: what would be smaller' 0 '^  could be +.* as ribbon, if it is built'
seq 100 | "$BLOOMERY" build -k quotient -n 10000 -o roomy.bly
try info roomy.bly
out_has 'info: a filter that is nearly empty' 0 \
    '^  could be +.* as quotient, if it is built again for its keys'
check 'info: one line for it' [ "$(grep -c 'could be' out)" -eq 1 ]

# ---- plan -------------------------------------------------------------------
try plan -k standard -n 1M -p 1%
out_has 'plan: keys' 0 '^keys +1,000,000$'
out_has 'plan: size' 0 '^size +1,[0-9]{3},[0-9]{3} bytes .* bits per key$'
out_has 'plan: rate' 0 '^rate +(0\.9[0-9]*|1) % '
try plan -n 1e6
out_has 'plan of the core: standard' 0 '^standard +1,[0-9]{3},[0-9]{3} '
out_has 'plan of the core: blocked' 0 '^blocked +1,[0-9]{3},[0-9]{3} '
out_has 'plan of the core: how to see the rest' 0 '--all lists them\.$'
check 'plan of the core: no other kind' awk '/^xor / { exit 1 }' out
try plan -n 1e6 --unknown
out_has 'plan --unknown: what has grown' 0 '^expandable +1,9[0-9]{2},[0-9]{3} +15\.'
out_has 'plan --unknown: the others' 0 '^standard +1,199,248 '
try plan -n 1e6 --unknown -k scalable
out_has 'plan --unknown: one kind' 0 '^size .* 16\.[0-9]+ bits per key$'
try plan -n 1e6 --unknown -k quotient
refused 'plan --unknown: a kind that does not grow' \
    'kind quotient does not grow by itself: plan it'
try plan --unknown -k scalable
refused 'plan --unknown: without a number to compare at' 'ITEMS is missing'
try plan -n 1e6 --all
out_has 'plan --all: kinds outside the core' 0 '^xor +1,[0-9]{3},[0-9]{3} '
try plan -n 1e6 --all -k xor
refused 'plan --all of one kind' '--kind and --all cannot be used together: leave one out'
try plan --kind standard --items 1000 --rate 0.1 --hash xxh3
out_has 'plan with long names' 0 '^keys +1,000$'
for n in 1000000 1e6 1E+6 1000k 1000K 1M 0.001G 1.0e6; do
    try plan -k standard -n $n
    out_has "ITEMS $n is a million" 0 '^keys +1,000,000$'
done
for p in 0.1 10% 1e-1 .1 1e1%; do
    try plan -k standard -n 1000 -p $p
    out_has "RATE $p is ten percent" 0 '^rate +(9\.[0-9]+|10) % '
done

# ---- kinds ------------------------------------------------------------------
try kinds
out_has 'kinds: standard' 0 '^standard +sets '
out_has 'kinds: what each can do' 0 '^ +add, contains, remove, count, unite, '
out_has 'kinds: the core, and how to see the rest' 0 \
    '^[0-9]+ more kinds are for rarer needs: --all lists them\.$'
check 'kinds: the core alone' [ "$(grep -c '^[a-z]' out)" -eq 11 ]
try kinds --all
out_has 'kinds --all: the tier of others' 0 '^floom +sets .* \(experimental\)$'
check 'kinds --all: no line about the rest' awk '/more kinds/ { exit 1 }' out
try kinds --all blocked
refused 'kinds --all KIND' '--all and KIND cannot be used together'
try kinds standard
out_has 'kinds KIND: its options' 0 '^    k='
out_has 'kinds KIND: its tier' 0 '^  tier    core$'
out_has 'kinds KIND: its abilities' 0 '^  can +add'
try kinds --markdown
out_has 'kinds --markdown: the heading' 0 \
    '^\| kind \| family \| what it is \| can \|$'
# shellcheck disable=SC2016
out_has 'kinds --markdown: a row' 0 '^\| `standard` \| sets \| .* \|$'
try kinds --markdown fuse
# shellcheck disable=SC2016
out_has 'kinds --markdown KIND: its options' 0 '^\| `arity` \| 3 \.\. 4 \| 3 \|'

# ---- help -------------------------------------------------------------------
try --version
out_has '--version' 0 '^bloomery [0-9]+\.[0-9]+\.[0-9]+$'
try --version --verbose
out_has '--version --verbose' 0 \
    '^instructions: (portable|sse2|avx2|avx512|neon) '
out_has '--version --verbose: keys ahead' 0 \
    '^keys ahead: [1-9][0-9]*, and [1-9][0-9]* up to 8 times near '
out_has '--version --verbose: near' 0 '^near: [1-9][0-9]* KiB '
BLY_CPU=portable BLY_AHEAD=7 BLY_NEAR=9 "$BLOOMERY" -V --verbose >out 2>err
echo $? >status
out_has 'settings of the environment' 0 '^instructions: portable '
out_has 'keys ahead from the environment' 0 '^keys ahead: 7 '
out_has 'near from the environment' 0 '^near: 9 KiB '
BLY_AHEAD=7x "$BLOOMERY" -V --verbose >out 2>err
echo $? >status
out_has 'reports a setting that is ignored' 0 \
    '[(]BLY_AHEAD=7x is ignored: a whole number from 1 to 65536[)]$'
try --version nonsense
refused '--version of something' "--version can be combined only with --verbose"
try --version --verbose nonsense
refused '--version --verbose of something' "with --verbose: leave 'nonsense' out"
try -V
out_has '-V' 0 '^bloomery [0-9]+\.'
out_has '--version: the parts' 0 '^parts: ([+-][a-z]+ )+kinds=all$'
try --help
out_has '--help' 0 '^Usage: bloomery '
out_has '--help: groups of commands' 0 '^Work with lines:$'
check '--help: five groups' [ "$(grep -c '^[A-Z][a-z ]*:$' out)" -eq 7 ]
cp out overview
try help
check 'help is --help' cmp overview out
try help --roff
for name in TMPDIR XDG_CACHE_HOME; do
    out_has "the man page: $name" 0 "^.fB$name.fR\$"
done

# short NAME: the last output is no longer and no wider than help may be.
short() {
    check "$1: at most 30 lines" [ "$(wc -l <out)" -le 30 ]
    check "$1: at most 78 columns" awk 'length > 78 { exit 1 }' out
}

try -h
short '-h'
out_has '-h: groups of commands' 0 '^Work with lines:$'
out_has '-h: where the rest is' 0 '; bloomery --help: everything$'
for command in $(sed -n '/^Topics/q;s/^  \([a-z]*\)  .*/\1/p' overview); do
    check "-h names $command" grep -Eq "^  (.*, )?$command(,|$)" out
done
try remove -h
out_has 'remove -h: which keys' 0 '^Remove only keys that were added: '
out_has 'remove -h: what KEYS are' 0 '^KEYS are files, one key per line\.'
try remove --help
out_has 'remove --help: which keys' 0 '^Remove only keys that were added: '

# narrow NAME: only commands of examples may be wider than 78 columns.
narrow() {
    check "$1: at most 78 columns" awk '
        length > 78 && !/^  (.* \| )?[a-z]/ { exit 1 }' out
}

man=$(dirname "$BLOOMERY")/man
for command in $(sed -n '/^Topics/q;s/^  \([a-z]*\)  .*/\1/p' overview); do
    try "$command" -h
    out_has "$command -h: synopsis" 0 "^Usage: bloomery $command "
    out_has "$command -h: examples" 0 '^Examples:$'
    out_has "$command -h: options" 0 '^Usual options:$'
    check "$command -h: at most eight" [ "$(grep -c '^  [- ][^-][, ] --' out)" -le 8 ]
    out_has "$command -h: where the rest is" 0 "^bloomery $command --help: everything$"
    short "$command -h"
    try "$command" --help
    out_has "$command --help: synopsis" 0 "^Usage: bloomery $command "
    out_has "$command --help: options" 0 '^  -h, --help '
    check "$command --help: examples first" [ "$(sed -n 5p out)" = Examples: ]
    out_has "$command --help: exit status" 0 '^Exit status: '
    narrow "$command --help"
    if [ -e "$man/bloomery.1" ]; then
        check "$command: its man page is built" [ -s "$man/bloomery-$command.1" ]
    else
        skip "$command: its man page is built" 'no man page is built here'
    fi
    cp out help
    case $command in
    kinds | formats) ;;             # topics with these names
    *)  try help "$command"
        check "help $command is $command --help" cmp help out ;;
    esac
    try help --section 1 "$command"
    check "help --section 1 $command is $command --help" cmp help out
    try help --roff --section 1 "$command"
    out_has "$command: man page" 0 '^\.SH EXIT STATUS$'
    out_has "$command: man page, examples" 0 '^\.SH EXAMPLES$'
    # shellcheck disable=SC2016
    check "$command: man page names all options" awk '
        NR == FNR { gsub(/\\-/, "-"); gsub(/\\f[BIR]/, ""); page = page $0 "\n"; next }
        match($0, /^ +(-., )?--[a-z-]+/) {
            option = substr($0, RSTART, RLENGTH); sub(/^.*--/, "--", option)
            if (!index(page, option)) exit 1
        }' out help
done
try help --section 7 build
refused 'help --section 7: a command' "'build' is not a topic but a command, of section 1"
try help --section 1 keys
refused 'help --section 1: a topic' "'keys' is not a command but a topic, of section 7"
try help --section 7 nothing
refused 'help --section 7: an unknown name' "unknown command or topic 'nothing'"
try help --section 3 build
refused 'help --section 3' 'section is not 1, for commands, or 7'
try help --section 7
refused 'help --section 7 without a name' 'needs a COMMAND or a TOPIC'
try help --roff
out_has 'help --roff' 0 '^\.TH BLOOMERY 1 '

# ---- Topics ------------------------------------------------------------------
for topic in keys rates kinds formats exit-status; do
    out_has "the man page of bloomery names $topic" 0 \
        "^\.BR bloomery..$(printf %s $topic | sed 's/-/.-/') \(7\)"
    grep -q "^  $topic " overview || fail "--help lists the topic $topic" 'no'
done
for topic in keys rates kinds formats exit-status; do
    try help $topic
    out_has "help $topic" 0 '^[A-Z].*[.]$'
    narrow "help $topic"
    try help --roff --section 7 $topic
    out_has "$topic: man page" 0 '^\.TH BLOOMERY-.* 7 '
    if [ -e "$man/bloomery.1" ]; then
        check "$topic: its man page is built" [ -s "$man/bloomery-$topic.7" ]
    else
        skip "$topic: its man page is built" 'no man page is built here'
    fi
done
try kinds --json
sed -n 's/^    "name": "\(.*\)",/\1/p; s/^    "tier": "\(.*\)",/\1/p' out |
    paste - - | sed -n 's/\tcore$//p' >core
try help kinds
# shellcheck disable=SC2016
check 'help kinds names the core kinds' sh -c '
    [ -s core ] && while read -r kind; do
        grep -q "^  $kind " out || exit 1
    done <core'
try formats
sed -n 's/^\([a-z0-9]*\) .*/\1/p' out >formats
try help formats
# shellcheck disable=SC2016
check 'help formats names all formats' sh -c '
    [ -s formats ] && while read -r name; do
        grep -q "^  $name " out || exit 1
    done <formats'
try help exit-status
out_has 'help exit-status: of a command' 0 '^  diff .*1 if there is one'
try help rates
out_has 'help rates: bits per key' 0 '^  1% .*standard 9\.6'
try help nonsense
refused 'an unknown topic' \
    'the topics are keys, rates, kinds, formats and exit-status'

finish
