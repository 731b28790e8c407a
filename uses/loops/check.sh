# check.sh - loops: no circle is missed, packets without one are stopped as
# often as the chain says, and the chain gives the published numbers. The
# network and the paths are made from a seed: no real ones are available.
. "${1:?}/lib.sh"

# ---- Published: a mistake on a path of 8, 16 and 30 hops ---------------------

cat >known <<'END'
32 3 .271 .980 1
64 2 .108 .606 .997
64 4 .031 .504 1
64 6 .021 .609 1
128 3 .0076 .113 .707
128 4 .0023 .075 .680
128 6 .0007 .054 .754
256 4 .0003 .0073 .122
256 6 0 .002 .078
256 8 0 .001 .081
END
while read -r bits each at8 at16 at30; do
    "$PROGRAM" "$bits" "$each" --hops 30 >chain
    awk 'FNR == 9 || FNR == 17 || FNR == 31 { printf "%s ", $3 }' chain >found
    figure "$bits bits, $each each: mistakes on 8, 16, 30 hops" \
        "$(cat found)(known: $at8 $at16 $at30)"
    # These come from a simulation, rounded: as from 10,000 paths.
    check "$bits bits, $each each: the known numbers" awk -v a="$at8" \
        -v b="$at16" -v c="$at30" 'function off(p, known) {
            d = known - p
            return d * d > 16 * p * (1 - p) / 10000 + .0005 ^ 2 }
        { exit off($1, a) || off($2, b) || off($3, c) }' found
done <known

# An independent version of the chain, in exact fractions.
if ! command -v python3 >/dev/null; then
    skip 'loops in a network' 'no python3'
    finish
fi
cat >chain.py <<'END'
import sys
from fractions import Fraction
from math import comb
m, k, hops = map(int, sys.argv[1:])
at, left = {0: Fraction(1)}, Fraction(1)
for hop in range(1, hops + 1):
    after = {}
    for z, p in at.items():
        for j in range(1, k + 1):
            if k - j <= z and j <= m - z:
                after[z + j] = after.get(z + j, 0) + \
                    p * comb(m - z, j) * comb(z, k - j) / comb(m, k)
    at, left = after, sum(after.values())
    print(hop, "%.6g" % (1 - left))
END
for field in $(work '64,4' '64,2 64,4 128,4 256,8'); do
    python3 chain.py "${field%,*}" "${field#*,}" "$(work 12 16)" >exact
    "$PROGRAM" "${field%,*}" "${field#*,}" --hops "$(work 12 16)" |
        tail -n +2 | paste - exact >both
    check "$field: the chain, in fractions" awk '{ d = $3 - $5
        if (d * d > 1e-12 + 1e-10 * $5 * $5) exit 1 }' both
done

# ---- Paths without a circle -------------------------------------------------

awk -v ways="$(work 800 8000)" 'BEGIN { for (i = 0; i < ways; i++) {
    for (j = 0; j < 30; j++) printf "way%d/if%d ", i, j; print "" } }' >straight
for field in $(work '64,4 128,4' '32,3 64,2 64,4 64,6 128,3 128,4 256,6'); do
    "$PROGRAM" "${field%,*}" "${field#*,}" straight >told
    "$PROGRAM" "${field%,*}" "${field#*,}" --hops 30 >chain
    check "$field: no circle is told where there is none" \
        test "$(grep -c ': loop: ' told)" = 0
    for hops in 8 16 30; do
        in_band "$field: stopped within $hops hops" \
            "$(awk -v t=$hops '$3 + 0 <= t { n++ } END { print n + 0 }' told)" \
            "$(wc -l <straight)" \
            "$(awk -v t=$hops '$1 == t { print $3 }' chain)"
    done
done

# ---- A network with wrong routes --------------------------------------------

# Routers with shortest routes; then some send packets for a destination back to
# where they came from. Each line lists the interfaces that a packet enters
# until it arrives or 64 hops have passed; `first` has the hop at which one is
# entered again, or 0.
cat >network.py <<'END'
import random, sys
from collections import deque
random.seed(17)
size, packets = int(sys.argv[1]), int(sys.argv[2])
links = {r: set() for r in range(size)}
for r in range(1, size):                        # a tree, and some more links
    for other in random.sample(range(r), min(r, 1 + (random.random() < .2))):
        links[r].add(other)
        links[other].add(r)
def routes(to):
    hop, queue = {to: to}, deque([to])
    while queue:
        at = queue.popleft()
        for r in sorted(links[at]):
            if r not in hop:
                hop[r] = at
                queue.append(r)
    return hop
ways, first = open("ways", "w"), open("first", "w")
for n in range(packets):
    at, to = random.sample(range(size), 2)
    hop = routes(to)
    if n % 2:                                   # a router of the way errs
        way = [at]
        while way[-1] != to:
            way.append(hop[way[-1]])
        wrong = random.choice(way[1:]) if len(way) > 2 else at
        if wrong != to:
            hop[wrong] = next(r for r in way if hop[r] == wrong) \
                if wrong != at else random.choice(sorted(links[at]))
    entered, seen, again = [], set(), 0
    while at != to and len(entered) < 64:
        entered.append("r%d-from-r%d" % (hop[at], at))
        if entered[-1] in seen and not again:
            again = len(entered)
        seen.add(entered[-1])
        at = hop[at]
    print(*entered, file=ways)
    print(again, file=first)
END
python3 network.py 400 "$(work 400 4000)"
figure 'packets in a network of 400 routers' "$(wc -l <ways), of which \
$(grep -vc '^0$' first) go in circles"
for field in 64,4 128,4 256,6; do
    "$PROGRAM" "${field%,*}" "${field#*,}" ways >told
    awk 'FNR == NR { split($1, at, ":"); hop[at[2]] = $3 + 0; why[at[2]] = $4
            next }
        { circle = $1 > 0; stopped = (FNR in hop); n += circle
          if (circle && (!stopped || hop[FNR] > $1)) missed++
          if (stopped && (why[FNR] == "loop:") != (circle && hop[FNR] == $1))
              wrong++
          if (!circle && stopped) mistakes++
          if (circle) { spared += 64 - hop[FNR]; taken += hop[FNR] } }
        END { print missed + 0, wrong + 0, mistakes + 0, n,
                    taken / n, spared / n }' told first >sums
    read -r missed wrong mistakes circles taken spared <sums
    check "$field: every circle is noticed when it closes, or before" \
        test "$missed" = 0
    check "$field: a circle is told for one just where it is" \
        test "$wrong" = 0
    figure "$field: hops of a packet in a circle" "$taken instead of 64 \
($spared spared), $mistakes of $(($(wc -l <ways) - circles)) others stopped"
done
"$PROGRAM" 1024 8 ways >told
awk '$1 > 0 { print "ways:" NR ": hop " $1 ": loop:" }' first >wanted
sed 's/loop: .*/loop:/' told >lines
check '1024 bits: just what an exact list tells' cmp lines wanted

refused 'no ways' 'none: No such file' "$PROGRAM" 128 4 none
refused 'too many bits each' 'at most a fourth' "$PROGRAM" 16 8 ways
refused 'no number' '12x: BITS are' "$PROGRAM" 12x 4 ways
refused 'no hops' 'how many' "$PROGRAM" 128 4 --hops 0
refused 'nothing' 'usage: loops BITS' "$PROGRAM"
finish
