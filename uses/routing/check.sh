# check.sh - routing: every object within reach is found, by ways hardly longer
# than the shortest, and queries go astray as rarely as the filters say.
. "${1:?}/lib.sh"

command -v python3 >program || { skip routing 'no python3'; finish; }

# Lists errors in the answers, from the graph and the exact results.
cat >judge.awk <<'END'
FILENAME == "exact" {
    if ($1 != "reach") { asked[++n] = $1 " " $2; far[n] = $3 }
    next
}
$1 == "edge" { edge[$2, $3] = edge[$3, $2] = 1; next }
$1 == "object" { object[$2, $3] = 1; next }
$1 == "find" { next }
{
    i++
    if (asked[i] != $3 " " $2) print "answer " i ": to another question"
    for (h = 4; h <= NF; h++)
        if (!(($(h - 1), $h) in edge)) print "answer " i ": no such link"
    if ($1 == "found" && !(($NF, $2) in object)) print "answer " i ": not there"
    if ($1 != "found" && far[i] ~ /^[0-9]/ && far[i] <= depth)
        print "answer " i ": it is within reach"
    if ($1 == "found" && far[i] ~ /^[1-9]/ && far[i] <= depth) {
        shortest += far[i]; hops += NF - 3
    }
    if (far[i] == "-") {
        absent++
        for (h = 4; h <= NF; h++) astray += $h == $3
    }
    found += $1 == "found"
}
END {
    if (i != n) print i " answers to " n " questions"
    print n, found, shortest, hops, absent, astray + 0 >"counts"
}
END

# Sums over the links of each node that a query for an absent object visits: how
# many should claim to lead to it.
cat >astray.awk <<'END'
FILENAME == "rates" { for (i = 3; i <= NF; i++) rate[$1] += $i; links[$1]++
    next }
$3 == "-" { sum += rate[$1]; n += links[$1] }
END { printf "%d %.9f\n", n, sum / n }
END

# judged NAME DEPTH REACH: the answers to the queries of `graph`.
judged() {
    "$PROGRAM" graph "$2" "$3" >answers
    "$PROGRAM" --rates graph "$2" "$3" >rates
    awk -v depth="$2" -f judge.awk exact graph answers >wrong
    check "$1: ways are real, and all within $2 hops is found" test ! -s wrong
    read -r n found shortest hops absent astray <counts
    check "$1: there was something to find, and not" \
        test "$shortest" -gt 0 -a "$absent" -gt 0 -a "$found" -lt "$n"
    figure "$1: found" "$found of $n, $hops hops where $shortest is the shortest"
    awk -f astray.awk rates exact >predicted
    in_band "$1: links that lead astray" "$astray" "$(cut -d ' ' -f 1 predicted)" \
        "$(cut -d ' ' -f 2 predicted)"
}

# ---- A network, planned for the objects in reach, and for fewer --------------

nodes=$(work 1000 10000)
python3 "$USE/graph.py" make "$nodes" "$nodes" "$(work 1000 4000)" 1 >graph
python3 "$USE/graph.py" exact 4 graph >exact
reach=$(sed -n '1s/reach //p' exact)
figure 'network' "$nodes nodes, $((2 * nodes)) links, up to $reach objects \
within 4 hops over one of 300 links"
judged "$nodes nodes" 4 $((reach * 5 / 4))
check 'no level errs with more than 1 %' awk '{ for (i = 3; i <= NF; i++)
    if ($i > .01) exit 1 }' rates
check 'ways are at most 1.5 times as long as the shortest' \
    test $((2 * hops)) -le $((3 * shortest))
judged 'planned for too few' 4 $((reach / 4))
check 'levels grow worse with the distance' awk '{ for (i = 3; i <= 6; i++)
    sum[i] += $i }
    END { exit !(sum[3] < sum[4] && sum[4] < sum[5] && sum[5] < sum[6]) }' rates
judged 'neighbours only' 1 10

# ---- The published example ---------------------------------------------------

# n1 - n2, n1 - n4, n2 - n3: from n1 over n2 to n3, without a look at n4.
cat >graph <<'END'
edge 1 2
edge 1 4
edge 2 3
object 3 x
object 4 y
find 1 x
find 1 z
find 3 y
find 3 x
END
"$PROGRAM" graph 3 >answers
cat >wanted <<'END'
found x 1 2 3
NOTFOUND z 1
found y 3 2 1 4
found x 3
END
check 'the known example' cmp answers wanted
"$PROGRAM" --rates graph 3 | awk '{ print $1 ">" $2 ":" ($3 > 0) ($4 > 0) \
    ($5 > 0) }' | sort >shown
cat >wanted <<'END'
1>2:010
1>4:100
2>1:010
2>3:100
3>2:001
4>1:001
END
check 'each level holds what is there, and nothing comes back' cmp shown wanted

# Rates for m = 512 and k = 4.
while read -r keys known; do
    "$BLOOMERY" plan --json -k attenuated:m=512,k=4 -n "$keys" |
        sed -n 's/^ *"rate": \([^,]*\),*$/\1/p' >rate
    check "$keys objects in 512 bits: the known rate" awk -v n="$keys" \
        -v known="$known" 'BEGIN { f = (1 - exp(-4 * n / 512)) ^ 4
            exit (f / known - 1) ^ 2 > .02 ^ 2 }'
    figure "$keys objects in 512 bits" "$(cat rate), known $known"
done <<'END'
10 3.2e-5
20 4.4e-4
50 .0109
100 .0864
200 .390
END

# ---- Packages of this machine: a nearby one with a command -------------------

if [ -r "$MACHINE/var/lib/dpkg/status" ] && [ "$EFFORT" = full ]; then
    awk '/^Package:/ { at = $2; if (!(at in id)) id[at] = n++ }
        /^(Pre-)?Depends:/ {
            sub(/^[^:]*: /, ""); gsub(/\([^)]*\)|:any|\|/, "")
            k = split($0, to, /[ ,]+/)
            for (i = 1; i <= k; i++) if (to[i] != "") pair[at, to[i]] = 1 }
        END {
            for (p in pair) { split(p, e, SUBSEP)
                if (e[2] in id && e[1] != e[2])
                    print "edge", id[e[1]], id[e[2]] }
            for (p in id) print "package", id[p], p }
        ' "$MACHINE/var/lib/dpkg/status" | sort >all
    grep '^edge' all >graph
    grep '^package' all | while read -r _ id name; do
        for list in "$MACHINE/var/lib/dpkg/info/$name.list" \
            "$MACHINE/var/lib/dpkg/info/$name":*.list; do
            [ ! -r "$list" ] || sed -n "s|^\(/usr\)*/bin/\([a-z0-9]*\)\$|object \
$id \2|p" "$list"
        done
    done >commands
    cat commands >>graph
    nodes=$(cut -d ' ' -f 2,3 all | grep -c .)
    awk -v n="$(grep -c '^package' all)" '{ print "find", NR * 7919 % n, $3
        print "find", NR * 104729 % n, "no" $3 }' commands >>graph
    python3 "$USE/graph.py" exact 2 graph >exact
    judged "packages, $(wc -l <commands) commands" 2 "$(wc -l <commands)"
else
    skip 'packages of this machine' 'full runs on Debian only'
fi

# ---- Refusals ----------------------------------------------------------------

printf 'edge 9999998 9999999\r\n\n  \nobject 9999999 x\nfind 9999998 x' >far
"$PROGRAM" far >found
check 'empty lines, and large numbers' test "$(cat found)" = \
    'found x 9999998 9999999'
: >empty
if (ulimit -v 1500000 && "$PROGRAM" empty) >few.out 2>&1; then  # no sanitizer
    check 'in the memory of few' sh -c 'ulimit -v 1500000; "$0" far' "$PROGRAM"
fi
printf 'edge 0 10000000\n' >bad
refused 'a number that is too large' 'below 10000000' "$PROGRAM" bad
refused 'no graph' 'none: No such file' "$PROGRAM" none
printf 'edge 1 2\nedge 1 x\n' >bad
refused 'no number' 'line 2' "$PROGRAM" bad
printf 'edge 1 1\n' >bad
refused 'a link to itself' 'line 1' "$PROGRAM" bad
printf 'path 1 2\n' >bad
refused 'no such line' 'line 1: it is not' "$PROGRAM" bad
printf 'find 1 %0200d\n' 0 >bad
refused 'a long name' 'line 1' "$PROGRAM" bad
printf 'object 1 a%300sedge 1 2\n' '' >bad
refused 'a long line, which is not two' 'line 1' "$PROGRAM" bad
refused 'no depth' 'depth' "$PROGRAM" graph 0
refused 'a depth that is no number' 'usage' "$PROGRAM" graph 2x
refused 'a reach that is no number' 'usage' "$PROGRAM" graph 2 many
refused 'a rate that is no number' 'usage' "$PROGRAM" graph 2 10 low
refused 'no rate' 'rate' "$PROGRAM" graph 2 10 7
refused 'nothing' 'usage: routing' "$PROGRAM"
printf 'edge 0 9999999\nobject 9999999 far\nfind 0 far\n' >sparse
: >empty
if (ulimit -v 1000000 && "$PROGRAM" empty) >limit.out 2>&1; then
    check 'nodes that are not there take no filters' test "$(
        ulimit -v 1000000; "$PROGRAM" sparse)" = 'found far 0 9999999'
else
    skip 'nodes that are not there' 'memory cannot be limited'
fi
check 'an empty graph has no answers' test -z "$("$PROGRAM" empty)"
finish
