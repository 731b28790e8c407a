# advise.sh - which kind for which need: the ranking, the reasons, the command
# lines, which must work, and the costs' file. Nothing is measured here.
# shellcheck source=lib.sh
. "$1/lib.sh"

XDG_CACHE_HOME=$(pwd)/cache
export XDG_CACHE_HOME

# ---- The ranking ------------------------------------------------------------
try advise -n 1M
out_has 'advise: a first place' 0 '^ 1 [a-z]+[a-z:=]* +[0-9.]+ +[0-9,]+ '
out_has 'advise: why' 0 '^   the best balance of time and size of the [0-9]+ that can$'
out_has 'advise: the next ones against it' 0 '^   [0-9.]+ times the time and [0-9.]+ times the size of [a-z]'
out_has 'advise: what it cannot do' 0 '^   has not: .*remove'
out_has 'advise: the command' 0 '^   bloomery build -k [a-z:=]+ -n 1000000 -p 0\.01 -o FILE KEYS$'
out_has 'advise: five places' 0 '^ 5 '
out_has 'advise: whose times' 0 '^Times: of the machine that Bloomery was made on'
check 'advise: no sixth place' awk '/^ 6 / { exit 1 }' out
try advise -n 1M --all
out_has 'advise --all: those that cannot' 0 '^ - fuse +it takes all its keys at once'
out_has 'advise --all: more than five' 0 '^ 6 '
try advise -n 1M -p 0.1% --static --small
out_has 'advise --static --small' 0 '^   the smallest of the'
try advise -n 1M --fast --present 90%
out_has 'advise --fast --present' 0 '^   the quickest of the'
try advise -n 1M --exact --static --others 10M
out_has 'advise --exact: with the others' 0 '^   bloomery build -k cascade -n 1000000 --without OTHERS -o FILE KEYS$'
try advise -n 1000 --labels
out_has 'advise --labels: which' 0 '^   labels [0-9]+ \.\. [0-9]+$'
out_has 'advise --labels: the command' 0 ' -l COLUMN '
try advise -n 1000 --stream
out_has 'advise --stream' 0 '^ 1 (aging|stable)'
try advise -n 1M --disk
out_has 'advise --disk' 0 '^   bloomery build -k [a-z]+ .*--memory SIZE -o FILE'
for need in remove count grow merge concurrent; do
    try advise -n 10k --$need
    out_has "advise --$need" 0 '^ 1 '
    check "advise --$need: the first has it" awk -v need=$need '
        /has not:/ { if (seen++ == 0 && index($0, need)) exit 1 }' out
done
try advise -n 1M --memory-limit 1M
check 'advise --memory-limit' awk '
    /^ *[0-9]+ [a-z]/ { gsub(/,/, "", $4); if ($4 + 0 > 1048576) exit 1 }' out

# ---- The command line works -------------------------------------------------
awk 'BEGIN { for (i = 0; i < 1000; i++) print i }' >keys
for needs in '' --remove --static --grow --merge; do
    # shellcheck disable=SC2086
    try advise -n 1000 $needs
    line=$(sed -n 's/^   bloomery build \(.*\) -o FILE KEYS$/\1/p' out | head -1)
    # shellcheck disable=SC2086
    try build $line -o advised.bly keys
    silent "the command of advise $needs builds"
    try query -c advised.bly keys
    out_is "what it builds holds its keys: $needs" 0 '1000\n'
done

# ---- JSON -------------------------------------------------------------------
try advise -n 1M --json
out_has 'advise --json: the costs' 0 '"costs": "built in"'
out_has 'advise --json: places' 0 '"place": 1,?$'
out_has 'advise --json: reasons' 0 '"why": "it takes all its keys at once'
check 'advise --json: balanced' awk '
    { gsub(/"[^"]*"/, ""); open += gsub(/[{[]/, ""); open -= gsub(/[}\]]/, "") }
    END { exit open != 0 }' out

# ---- The costs' file --------------------------------------------------------
mkdir -p cache/bloomery
row='5 5 5 5  5 5 5 5  5 5 5 5  5 5 5 5  5 5 5 5  5 5 5 5  5 5 5 5'
slow='50 50 50 50  50 50 50 50  50 50 50 50  50 50 50 50  50 50 50 50  50 50 50 50  50 50 50 50'
{
    echo 'bloomery costs 1'
    echo 'line 1024 1'
    echo 'line 1048576 2'
    echo "kind partitioned  $row"
    echo "kind split  $slow"
} >cache/bloomery/costs
cp cache/bloomery/costs good
try advise -n 10k
out_has 'advise: the costs that were measured decide' 0 '^ 1 partitioned '
out_has 'advise: and it says so' 0 '^Times: as measured on this machine \(.*/cache/bloomery/costs\)\.$'
for damage in 's/costs 1/costs 2/' 's/^line 1048576.*/line 1 2/' \
    's/^kind split .*/kind split 1 2 3/' 's/^kind split  50/kind split  -50/' \
    's/^line 1024 1/line 1024/' '2,3d' 's/^kind split .*/nothing/'; do
    sed "$damage" good >cache/bloomery/costs
    "$BLOOMERY" advise -n 10k >out 2>err
    echo $? >status
    note "advise: a damaged table of costs is told of: $damage" '--measure'
    out_has "advise: and not used: $damage" 0 '^Times: of the machine that'
done

# ---- Errors -----------------------------------------------------------------
rm cache/bloomery/costs
try advise
refused 'advise without -n' 'ITEMS is missing'
try advise -n 1M words
refused 'advise with an operand' 'no operands'
try advise -n 1M --present 1.5
refused 'advise: a share of more than all' 'from 0 to 1'
try advise -n 1M --small --fast
refused 'advise: two aims' 'exclude'
try advise -n 1M --remove --grow
refused 'advise: no kind can' 'leave out --(remove|grow)'
try advise -n 1M --memory-limit 1K
refused 'advise: no room' 'more memory'
try advise -n 1M --remove --grow --all
out_has 'advise: no kind can, with the reasons' 0 '^ - cuckoo +it grows only by bly_resize'
XDG_CACHE_HOME=$(pwd)/keys
try advise --measure --help
out_has 'advise --measure is explained' 0 'XDG_CACHE_HOME'

finish
