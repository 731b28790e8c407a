# count.sh - with filters large enough every node's sum is the true one, which
# awk knows; changed values take the place of the old ones; messages that come
# twice change nothing; small filters err a little; what is sent is what the
# formula says.
# shellcheck source=lib.sh
. "$1/lib.sh"

# truth EPOCHS FILE: a line for each epoch, members and sum (values of two
# decimals).
truth() {
    awk -F '\t' -v epochs="$1" '
        { name[NR - 1] = $1; value[NR - 1] = $2 }
        function hundredths(text) { return sprintf("%.0f", 100 * text) }
        END {
            i = 0
            for (e = 0; e < epochs; e++) {
                for (; i < NR && int(i * epochs / NR) <= e; i++) {
                    n = name[i]
                    if (n in now) { sum -= hundredths(now[n]); members-- }
                    delete now[n]
                    if (value[i] != "-") {
                        now[n] = value[i]; sum += hundredths(now[n]); members++
                    }
                }
                printf "%d %.2f\n", members, sum / 100
            }
        }' "$2"
}

# believed LINE: the same, of the lines of `out` that begin so.
believed() {
    awk -v who="$1" 'index($0, who) == 1 {
        $0 = substr($0, length(who) + 1); print $1, $2
    }' out
}

# exactly NAME EPOCHS FILE ARGUMENTS...: all nodes believe the truth.
exactly() {
    exactly_name=$1
    truth "$2" "$3" >want
    exactly_epochs=$2
    shift 2
    try count --epochs "$exactly_epochs" "$@"
    believed 'true' >true
    believed 'node 0' >first
    if [ "$(cat status)" != 0 ] || [ -s err ]; then
        fail "$exactly_name" "$(details)"
    elif ! cmp -s want true; then
        fail "$exactly_name" "the truth is $(head -c 200 want), not $(
            head -c 200 true)"
    elif ! cmp -s want first || grep -q worst out; then
        fail "$exactly_name" "a node has another sum: $(head -c 600 out)"
    else
        pass "$exactly_name"
    fi
}

# number NAME: a number of the JSON in `out`, of all epochs together.
number() {
    awk -F '[:,]' -v want="\"$1\"" '{ gsub(/ /, "", $1) }
        $1 == want { sum += $2 } END { print sum + 0 }' out
}

# ---- the true sums ----------------------------------------------------------
# 3000 members, of which some come late, change, come back and leave.
awk 'BEGIN {
    srand(13)
    for (i = 0; i < 12000; i++) {
        member = int(rand() * (1000 + i / 4))
        if (rand() < 0.1)
            printf "member %d\t-\n", member
        else
            printf "member %d\t%.2f\n", member, rand() * 2000 - 500
    }
}' >many
for ranks in $(work '1 2 3 4 8' '1 3'); do
    RANKS=$ranks
    exactly "a node in each of $ranks ranks" 4 many
done
RANKS=4
exactly 'more nodes than ranks' 3 many --nodes 11
exactly 'fewer nodes than ranks' 3 many --nodes 2
exactly 'one node' 2 many --nodes 1
exactly 'cuckoo filters' 4 many -k cuckoo
exactly 'quotient filters' 4 many -k quotient
printf 'a\t1\nb\t2\na\t5\nc\t-3.25\nb\t-\nb\t7.50\n' >few
exactly 'epochs of one line' 6 few
exactly 'more epochs than lines' 13 few
: >empty
try count empty
out_has 'no lines' 0 '^true +0 +0 +- +- +-$'

# ---- whatever the ranks -----------------------------------------------------
RANKS=1
try count --epochs 4 --nodes 13 --bits 5 --probes 4 many
mv out alone
for ranks in $(work '2 5 8' 5); do
    RANKS=$ranks
    try count --epochs 4 --nodes 13 --bits 5 --probes 4 many
    check "13 nodes on $ranks ranks: as on one" cmp out alone
done
RANKS=3
try count --epochs 4 --nodes 13 --bits 5 --probes 4 --repeat 3 many
check 'each message three times: the same' cmp out alone
try count --epochs 4 --nodes 13 --bits 5 --probes 4 --repeat 3 --json many
check 'two of three were dropped' [ "$(number repeated)" -eq $((2 * 4 * 169)) ]

# ---- values -----------------------------------------------------------------
RANKS=2
printf '4,x,ant\n0.125,x,bee\n+6,x,ant\n-0.5,x,cat\n' >columns
try count -l 1 -f 3 -t , columns
out_has 'columns, signs, decimals' 0 '^true +3 +5.625 +1.875 +-0.500 +6.000$'
printf 'ant\t1\nbee\n' >short
try count short
check 'a line without value is told' grep -q '1 line has no such column' err
out_has 'and skipped' 0 '^true +1 +1 '
printf 'ant\t1\0bee\t2\0' >null
try count -0 null
out_has 'lines that end with NUL' 0 '^true +2 +3 '
for value in x 1x 1.2.3 . + '' 0x10 1e3 '--'; do
    printf 'ant\t%s\n' "$value" >wrong
    try count wrong
    refused "'$value' is no value" "wrong, after 4 bytes: '.*' is no value"
done
printf 'ant\t1234567890123456789\n' >wrong
try count wrong
refused 'too many digits' 'at most 18'
printf 'ant\t123456789012345678\nbee\t0.001\n' >wrong
try count wrong
refused 'too many with the decimals of others' 'same length'
awk 'BEGIN { for (i = 0; i < 10; i++) print i "\t999999999999999999" }' >wrong
try count wrong
refused 'a sum that does not fit' 'more than 64 bits'

# ---- rounds -----------------------------------------------------------------
RANKS=4
awk 'BEGIN { for (i = 0; i < 4000; i++) print i "\t1" }' >ones
try count --nodes 20 --rounds 5 ones
check 'a fourth of the rounds: about a fourth of the members' \
    awk '/^node 0/ { exit !($3 > 500 && $3 < 1500) }' out
try count --nodes 20 --rounds 5 --json ones
check 'each report is a first one' \
    [ "$(number first)" -eq 20000 -a "$(number same)" -eq 0 ]
try count --nodes 20 --rounds 40 --json ones
check 'all rounds twice: the second ones change nothing' \
    [ "$(number first)" -eq 80000 -a "$(number same)" -eq 80000 ]

printf 'a\t5\nb\t-5\nc\t0.5\nd\t-0.5\n' >zero
try count --nodes 4 --rounds 1 zero
out_has 'the true sum is 0: the difference' 0 \
    '^error of the sum, which is 0: [0-9.]* in the mean, [0-9.]* at most$'

# ---- the filters ------------------------------------------------------------
# 60 members; in each of five epochs half of them draw one of four values.
awk 'BEGIN {
    srand(3)
    for (e = 0; e < 5; e++) {
        left = e ? 30 : 60
        for (i = 0; i < 60; i++)
            if (rand() * (60 - i) < left) { left--; s[i] = int(rand() * 4) }
        for (i = 0; i < 60; i++)
            print "member" i "\t" 1 + i * (i + 7 * s[i]) % 997
    }
}' >sixty
# filters BITS PROBES: sets errors (mean, in millionths) and unsuccessful.
filters() {
    try count --epochs 5 --nodes 60 --bits "$1" --probes "$2" --json sixty
    errors=$(awk -v sum="$(number error_mean)" 'BEGIN {
        printf "%.0f", 1e6 * sum / 5 }')
    unsuccessful=$(number unsuccessful)
}
filters 5 4
check 'five bits: a small error, and reports without success' \
    [ "$errors" -gt 0 -a "$errors" -lt 20000 -a "$unsuccessful" -gt 10 \
    -a "$unsuccessful" -lt 1000 ]
check 'five bits: every report has an outcome' \
    [ $(($(number first) + $(number replaced) + $(number same) +
         unsuccessful)) -eq 18000 ]
filters 10 6
check 'ten bits: hardly any' [ "$errors" -lt 2000 -a "$unsuccessful" -lt 100 ]
filters 20 8
check 'twenty bits: none' [ "$errors" -eq 0 -a "$unsuccessful" -eq 0 ]
check 'twenty bits: the first reports are 3600' [ "$(number first)" -eq 3600 ]

seq 3000 | awk '{ for (i = 0; i < 4; i++) print "x" $1 "\t" i * $1 }' |
    sort -k2,2n >changing
try count --epochs 4 --bits 2 --probes 4 --nodes 6 changing
note 'two bits: entries that cannot be taken out are told' 'could not take out'

# ---- what is sent -----------------------------------------------------------
for ranks in $(work '2 4 8' 4); do
    RANKS=$ranks
    try count --epochs 3 --nodes 16 --json many
    check "$ranks ranks: what is sent is within 1 % of the formula" \
        awk -v sent="$(number sent_bytes)" \
            -v formula="$(number sent_bytes_formula)" 'BEGIN {
                sent /= 2           # once for each epoch, once for all
                exit !(sent < 1.01 * formula && sent > 0.99 * formula)
            }'
done
RANKS=2
try count -v --epochs 300 --nodes 2 few
check '-v: tells of each epoch' \
    [ "$(grep -c 'epoch [0-9]*: 4 messages .* sent (formula ' err)" -eq 300 ]

# ---- what goes wrong --------------------------------------------------------
try count
refused 'no files' 'standard input'
try count few missing
refused 'a missing file' "cannot read 'missing'"
try count --bits 5 few
refused '--bits without --probes' 'give both'
try count --bits 5 --probes 4 -p 1% few
refused '--bits and -p' 'one of the two'
try count -k blocked few
refused 'a kind that cannot remove' 'add and remove'
try count -k counting:nosuch=3 few
refused 'a wrong option of a kind' 'nosuch'
for kind in deletable invertible twin twin:base=cuckoo; do
    try count -k $kind few
    refused "$kind, which does not remove all" 'removes every entry'
done
for option in m=0 m=100 k=3,m=100 bits=2; do
    try count -k counting:$option few
    refused "a size for all filters, $option" 'm= and bits='
done
try count -k cuckoo --bits 5 --probes 4 few
refused 'bits and probes of another kind' 'kind counting'
try count --nodes 10M few
refused 'too many nodes' 'at most'
{ cat few; printf 'ant\tnonsense\n'; } >late
RANKS=8
try count many late
refused 'a value that the last rank cannot read' "late, after $(($(wc -c <few) + 4)) bytes: 'nonsense'"
printf 'ant\t1\r\nbee\t2\r\n' >wrong
try count wrong
refused 'lines of CR LF' 'wrong: the lines end with CR LF'

finish
