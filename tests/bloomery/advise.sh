# advise.sh - advice: the ranking, the reasons, the file of costs, and command
# lines, which must work. Nothing is measured here.
# shellcheck source=lib.sh
. "$1/lib.sh"

XDG_CACHE_HOME=$(pwd)/cache
export XDG_CACHE_HOME

# ---- The ranking ------------------------------------------------------------
try advise -n 1M
out_has 'advise: a first place' 0 '^ 1 [a-z]+[a-z:=]* +[0-9.]+ +[0-9,]+ '
out_has 'advise: why' 0 \
    '^   the best balance of time and size of the [0-9]+ kinds that can$'
out_has 'advise: the next ones against it' 0 \
    '^   [0-9.]+ times the time and [0-9.]+ times the size of [a-z]'
out_has 'advise: what each is' 0 '^   .*Bloom filter'
out_has 'advise: what it cannot do' 0 '^   lacks: .*remove'
out_has 'advise: the command' 0 \
    '^   bloomery build -k [a-z:=]+ -n 1000000 -p 0\.01 -o FILE KEYS$'
check 'advise: no kind that gains nothing' awk '/ gain: / { exit 1 }' out
out_has 'advise: how many are not shown' 0 \
    '^[0-9]+ other kinds? can, [0-9]+ outside the core: --all shows all\.$'
check 'advise: core kinds only' awk '/^   tier: / { exit 1 }' out
out_has 'advise: whose times' 0 \
    '^Times: as measured on the developers. machine'
check 'advise: five at most' awk '/ build -k / { n++ } END { exit n > 5 }' out
try advise -n 1M --all
out_has 'advise --all: those that cannot' 0 \
    '^ - fuse +it needs all its keys at once'
out_has 'advise --all: more than five' 0 '^ 6 '
out_has 'advise --all: those that gain nothing' 0 \
    '^   no gain: [0-9.]+ times the time and [0-9.]+ times the size of '
check 'advise --all: nothing is left out' awk '/other kinds? can/ { exit 1 }' out
out_has 'advise --all: kinds outside the core, with their tier' 0 \
    '^   tier: more$'
try advise -n 1M -p 0.1% --static --small
out_has 'advise --static --small' 0 '^   the smallest of the'
try advise -n 1M --fast --present 90%
out_has 'advise --fast --present' 0 \
    '^   (the fastest of|smaller than the fastest)'
try advise -n 1M --exact --static --others 10M
out_has 'advise --exact: with the others' 0 \
    '^   bloomery build -k cascade -n 1000000 --without OTHERS -o FILE KEYS$'
try advise -n 1000 --label
out_has 'advise --label: which' 0 '^   labels [0-9]+ \.\. [0-9]+$'
out_has 'advise --label: the command' 0 ' -l COLUMN '
try advise -n 1000 --forget
out_has 'advise --forget' 0 '^ 1 (aging|stable)'
out_has 'advise --forget: no core kind can' 0 '^No core kind can do this: '
try advise --unknown --remove
out_has 'advise --unknown: the command has no -n' 0 \
    '^   cat KEYS \| bloomery build -k expandable -p 0.01 -o FILE$'
out_has 'advise --unknown: what is special' 0 'adds take up to six times as long$'
try advise -n 100M --unknown
check 'advise --unknown: what has grown needs more than a first part' awk '
    /^ 1 / { exit !($3 > 14) }' out
try advise -n 1M --page
out_has 'advise --page' 0 '^   bloomery build -k [a-z]+ .*--memory SIZE -o FILE'
for need in remove count grow unite share; do
    try advise -n 10k --$need
    out_has "advise --$need" 0 '^ 1 '
    check "advise --$need: the first has it" awk -v need=$need '
        /^   lacks:/ { if (seen++ == 0 && index($0, need)) exit 1 }' out
done
try advise -n 10k --at-least 3 --small
out_has 'advise --at-least: counters of its own' 0 \
    '^ 1 counting:m=[0-9]+,k=[0-9]+,bits=2 '
out_has 'advise --at-least: and who came less often' 0 \
    '^   a key that came one time too few passes with [0-9.]+ %$'
try advise -n 10k --at-least 3 --json
check 'advise --at-least as JSON' grep -q '"rate_nearly": *0' out
try advise -n 10k --at-least 65536
refused 'advise --at-least: too many' 'at least 65536 times is not within'
try advise -n 1M --memory-limit 1M
check 'advise --memory-limit' awk '
    /^ *[0-9]+ [a-z]/ { gsub(/,/, "", $4); if ($4 + 0 > 1048576) exit 1 }' out

# ---- The command lines work -------------------------------------------------
# Every command line shown works: it builds, its members are found, and
# strangers pass at the planned rate (within six standard deviations).
awk 'BEGIN { for (i = 0; i < 1000; i++) print i }' >keys
awk 'BEGIN { for (i = 0; i < 1000; i++) print i "\t" i % 4 + 1 }' >labelled
awk 'BEGIN { for (i = 0; i < 20000; i++) print "x" i }' >others
head -20 keys >few

# works OPTIONS LINE: one line of the advice for these options.
works() {
    keys=keys strangers=200
    case $1 in
    *--label*) keys=labelled ;;
    *-n\ 20\ *) keys=few ;;
    esac
    case $1 in *--exact*) strangers=0 ;; *0.1%*) strangers=20 ;; esac
    passes=$(awk -v n="$strangers" 'BEGIN { print int(n + 6 * sqrt(n)) }')
    line=$(printf '%s\n' "$2" | sed -e 's/ -o FILE KEYS$//' -e 's/ SIZE/ 1M/' \
        -e 's/ COLUMN/ 2/' -e 's/ OTHERS/ others/')
    rm -f advised.bly
    # shellcheck disable=SC2086
    try build $line -o advised.bly $keys
    silent "advise $1: build $line works"
    cut -f1 $keys >there
    try query -c advised.bly there
    out_is "advise $1: $line holds its keys" 0 \
    "$(awk 'END { print NR }' there)\n"
    "$BLOOMERY" query -c advised.bly others >out 2>err
    check "advise $1: $line keeps its rate" [ "$(cat out)" -le "$passes" ]
}

while read -r options; do
    # shellcheck disable=SC2086
    try advise $options
    sed -n 's/^   bloomery build //p' out >lines
    check "advise $options: there is advice" [ -s lines ]
    while read -r line; do
        works "$options" "$line"
    done <lines
done <<'EOF'
-n 1000
-n 1000 -p 0.1% --fast
-n 1000 --small
-n 1000 --remove
-n 1000 --count
-n 1000 --count --remove --unite
-n 100 --grow
-n 1000 --unite
-n 1000 --static
-n 1000 -p 0.1% --static --small
-n 1000 --forget
-n 1000 --label
-n 1000 --label --label-most 4
-n 1000 --label --static
-n 1000 --exact --static
-n 20 --exact
-n 1000 --page
-n 1000 --share
EOF

# ---- JSON -------------------------------------------------------------------
try advise -n 1M --json
out_has 'advise --json: the costs' 0 '"costs": "built in"'
out_has 'advise --json: places' 0 '"place": 1,?$'
out_has 'advise --json: reasons' 0 '"why": "it needs all its keys at once'
out_has 'advise --json: what gains nothing' 0 '"beaten": true,$'
out_has 'advise --json: the tier' 0 '"tier": "core",$'
out_has 'advise --json: every tier is ranked' 0 '"tier": "experimental",$'
check 'advise --json: balanced' awk '
    { gsub(/"[^"]*"/, ""); open += gsub(/[{[]/, ""); open -= gsub(/[}\]]/, "") }
    END { exit open != 0 }' out

# ---- The costs' file --------------------------------------------------------
mkdir -p cache/bloomery
# row NS: seven points with these times.
row() {
    for point in 1 2 3 4 5 6 7; do
        printf '  %s %s %s %s' "$1" "$1" "$1" "$1"
    done
}
try --version
version=$(sed -n '1s/^bloomery //p' out)
try advise -n 1000 --json
{
    echo "bloomery costs 2 of $version"
    echo 'line 1024 1'
    echo 'line 1048576 2'
    for kind in $(sed -n 's/.*"kind": "\(.*\)".*/\1/p' out); do
        [ "$kind" = partitioned ] && ns=5 || ns=50
        echo "kind $kind $(row $ns)"
    done
    echo end
} >cache/bloomery/costs
cp cache/bloomery/costs good
try advise -n 10k
out_has 'advise: the costs that were measured decide' 0 \
    '^Outside the core, partitioned would be better: 0\.[0-9]+ times the time '
check 'advise: the core kinds still come first' \
    awk '/^ 1 / { exit $2 == "partitioned" }' out
try advise -n 10k --all
out_has 'advise --all: the best kind of every tier is first' 0 '^ 1 partitioned '
check 'advise --all: no line about the core' awk '/^Outside/ { exit 1 }' out
out_has 'advise: and it says so' 0 \
    '^Times: as measured on this machine \(.*/cache/bloomery/costs\)\.$'
for damage in 's/costs 2/costs 1/' 's/^line 1048576.*/line 1 2/' \
    's/^kind split .*/kind split 1 2 3/' 's/^kind split *50/kind split -50/' \
    's/^line 1024 1/line 1024/' '2,3d' 's/^kind split .*/nothing/' \
    's/of [0-9.]*/of 0.0.1/' '/^kind cuckoo /d' '$d' 's/^end/end\nend/' \
    '1!d'; do
    sed "$damage" good >cache/bloomery/costs
    "$BLOOMERY" advise -n 10k >out 2>err
    echo $? >status
    note "advise: a damaged table of costs is told of: $damage" '--measure'
    out_has "advise: and not used: $damage" 0 '^Times: as measured on the developers'
done

rm cache/bloomery/costs
mkfifo cache/bloomery/costs
"$BLOOMERY" advise -n 10k >out 2>err
echo $? >status
note 'advise: a pipe instead of a table of costs' 'cannot be read: .*--measure'
env -u XDG_CACHE_HOME -u HOME "$BLOOMERY" advise -n 10k >out 2>err
echo $? >status
out_has 'advise: no folder for costs' 0 '^Times: as measured on the developers'
check 'advise: nor a word about it' [ ! -s err ]
env -u XDG_CACHE_HOME -u HOME "$BLOOMERY" advise --measure >out 2>err
echo $? >status
refused 'advise --measure: no folder for costs' 'set XDG_CACHE_HOME or HOME'
XDG_CACHE_HOME=$(pwd)/keys "$BLOOMERY" advise --measure >out 2>err
echo $? >status
refused 'advise --measure: told before it begins that it cannot be kept' \
    'cannot write'
mkdir -p held/bloomery/costs
XDG_CACHE_HOME=$(pwd)/held "$BLOOMERY" advise --measure >out 2>err
echo $? >status
refused 'advise --measure: a folder in place of the file' 'Is a directory'

# ---- No kind fits: what would -----------------------------------------------
rm cache/bloomery/costs
try advise -n 1M --count --share
refused 'advise: which wish to give up' \
    'leave out --count \(then [a-z:=]+\), or leave out --share \(then [a-z:=]+\)'
try advise -n 1M --count --remove --forget --label
refused 'advise: which two wishes to give up' 'leave out --forget and --label'
try advise -n 1M --exact
refused 'advise: what a static set lets in' \
    'add --static .*cascade.*leave out --exact'
try advise -n 1000 --exact --remove
refused 'advise: two ways out' '--all shows why'
try advise -n 1M --label --label-most 1000
refused 'advise: which labels there are' 'lower --label-most to 255'
try advise -n 1e11 -p 1e-9
refused 'advise: a rate too small for that many keys' 'allow a rate of 1e-08'
try advise -n 1M --memory-limit 100K
refused 'advise: the least memory' \
    'raise --memory-limit to [0-9]+, the smallest possible'
least=$(sed 's/.*--memory-limit to \([0-9]*\),.*/\1/' err)
try advise -n 1M --memory-limit "$least"
out_has 'advise: the least memory is enough' 0 '^   the only kind that can$'
try advise -n 1M --memory-limit "$((least - 1))"
refused 'advise: a byte less is not' "raise --memory-limit to $least,"
"$BLOOMERY" advise -n 1M --count --share --json >out 2>err
check 'advise --json: no kind fits' [ $? = 2 ]
check 'advise --json: no place then' awk '/"place"/ { exit 1 }' out

# ---- Errors -----------------------------------------------------------------
try advise
refused 'advise without -n' 'ITEMS is missing'
try advise -n 1M words
refused 'advise with an operand' 'no operands'
try advise -n 1M --present 1.5
refused 'advise: a share of more than all' 'from 0 to 1'
try advise -n 1M --remove --grow --share --all
out_has 'advise: no kind can, with the reasons' 2 \
    '^ - cuckoo +it grows only when it is resized, and then its rate grows too'
XDG_CACHE_HOME=$(pwd)/keys
try advise --measure --help
out_has 'advise --measure is explained' 0 'XDG_CACHE_HOME'

finish
