# check.sh - traceback: a plain filter has the whole path unless an enemy fills
# it; the generalised one errs as often as the chain of its states says,
# whatever its start. Networks and paths are made from a seed: no real ones are
# available.
. "${1:?}/lib.sh"
command -v python3 >/dev/null || { skip traceback 'no python3'; finish; }

# ---- Published figures ------------------------------------------------------

# The long-run share of bits that are 0, of strangers found then, and the
# maximum.
cat >known.py <<'END'
known = {(1, 1): .25, (2, 2): .0625, (3, 3): .015625, (4, 4): .00390625,
         (1, 3): .105469}
for (k0, k1), most in known.items():
    bound = k0 ** k0 * k1 ** k1 / (k0 + k1) ** (k0 + k1)
    assert abs(bound - most) < 5e-7, (k0, k1, bound)
    for m in 64, 256, 4096:
        q0 = 1 - (1 - 1 / m) ** k0
        q1 = (1 - 1 / m) ** k0 * (1 - (1 - 1 / m) ** k1)
        p0 = q0 / (q0 + q1)
        assert p0 ** k0 * (1 - p0) ** k1 <= bound
        if m == 4096:                           # the bound is nearly reached
            assert p0 ** k0 * (1 - p0) ** k1 > .99 * bound
    print("%d and %d bits: %.6f" % (k0, k1, bound))
END
check 'strangers in the field in the long run: the known bounds' \
    python3 known.py

# The chain of the number of 0 bits: for strangers, the share found; for routers
# on the path, the share lost, treating each one's bits separately.
cat >chain.py <<'END'
import sys
from math import comb
m, k1, k0, hops, start = map(int, sys.argv[1:])
def distinct(n, k):                     # of k drawn of n, so many different ones
    at = {0: 1.0}
    for _ in range(k):
        after = {}
        for d, p in at.items():
            after[d] = after.get(d, 0) + p * d / n
            after[d + 1] = after.get(d + 1, 0) + p * (n - d) / n
        at = after
    return at
def others(d0):                         # so many of k1 that are none of d0
    at = {0: 1.0}
    for _ in range(k1):
        after = {}
        for d, p in at.items():
            after[d] = after.get(d, 0) + p * (d + d0) / m
            after[d + 1] = after.get(d + 1, 0) + p * (m - d0 - d) / m
        at = after
    return at
def drawn(n, some, d):                  # so many of `some` among d of n
    return {a: comb(some, a) * comb(n - some, d - a) / comb(n, d)
            for a in range(max(0, d - (n - some)), min(d, some) + 1)}
pairs = [(d0, d1, p * q) for d0, p in distinct(m, k0).items() if p
         for d1, q in others(d0).items() if q]
zeros = {m if start == 0 else 0: 1.0}
for _ in range(hops):
    after = {}
    for z, p in zeros.items():
        if p < 1e-14:
            continue
        for d0, d1, q in pairs:
            for a, r in drawn(m, m - z, d0).items():
                for b, s in drawn(m - d0, z - (d0 - a), d1).items():
                    after[z + a - b] = after.get(z + a - b, 0) + p * q * r * s
    zeros = after
found = sum(p * q * comb(z, d0) / comb(m, d0) *
            comb(m - z, d1) / comb(m - d0, d1)
            for z, p in zeros.items() for d0, d1, q in pairs)
q0 = 1 - (1 - 1 / m) ** k0
q1 = (1 - 1 / m) ** k0 * (1 - (1 - 1 / m) ** k1)
lost, right0, right1 = 0, 1, 1
for _ in range(hops):
    lost += sum(p * (1 - right0 ** d0 * right1 ** d1) for d0, d1, p in pairs)
    right0 = right0 * (1 - q1) + (1 - right0) * q0
    right1 = right1 * (1 - q0) + (1 - right1) * q1
print("%.8g %.8g" % (found, lost / max(hops, 1)))
END

# measure FIELD HOPS START KNOWN-FOUND KNOWN-LOST: paths of that many routers,
# each with a victim whose neighbours are all of them and a hundred strangers.
measure() {
    ways=$(work 100 3000)
    awk -v ways="$ways" -v hops="$2" 'BEGIN { for (i = 0; i < ways; i++) {
        for (j = 0; j < hops; j++) printf "r%d.%d ", i, j
        print "v" i } }' >ways
    awk '{ for (i = 1; i < NF; i++) print $NF, $i
           for (i = 0; i < 100; i++) print $NF, "s" NR "." i }' ways >links
    if [ "$3" = zeros ]; then
        "$PROGRAM" "$1" mark <ways >packets
    else
        "$PROGRAM" "$1" mark --ones <ways >packets
    fi
    "$PROGRAM" "$1" trace links <packets | tr '\t' '\n' >found
    bits=${1%%:*} set=${1#*:}
    python3 chain.py "$bits" "${set%:*}" "${set#*:}" "$2" \
        "$(test "$3" = zeros && echo 0 || echo 1)" >chain
    read -r predicted_found predicted_lost <chain
    in_band "$1, $2 hops from $3: strangers found (known: $4)" \
        "$(grep -c '^s' found || true)" $((100 * ways)) "$predicted_found"
    if [ "$2" -gt 0 ]; then
        in_band "$1, $2 hops from $3: routers lost (known: $5)" \
            $((ways * $2 - $(grep -c '^r' found || true))) $((ways * $2)) \
            "$predicted_lost"
    fi
}

# The published figures for 256 bits are from a simulation, as of 1000 routers
# and 10,000 strangers per line: the chain is compared with them.
cat >known <<'END'
5 zeros .0017 .049
10 zeros .0057 .135
20 zeros .0143 .237
50 zeros .0416 .454
0 ones 0 -
5 ones .0015 -
10 ones .0051 -
20 ones .0149 -
END
while read -r hops start found lost; do
    measure 256:2:2 "$hops" "$start" "$found" "$lost"
    check "256:2:2, $hops hops from $start: the known numbers" awk \
        -v f="$found" -v l="$lost" 'function off(p, known, n) {
            d = known - p; return d * d > 16 * p * (1 - p) / n + 1e-8 }
        { exit off($1, f, 10000) || (l != "-" && off($2, l, 1000)) }' chain
done <known
measure 64:1:3 20 zeros - -
if [ "$EFFORT" = full ]; then
    # In the long run, coinciding bits of a router make it slightly likelier
    # than the bound, which takes them to be different: 6.25 %, 0.39 %.
    measure 256:2:2 200 ones .0625 -
    measure 256:4:4 120 ones .0039 -
fi
measure 256:6:0 16 zeros - 0
check 'a plain filter loses no router' test "$(grep -c '^r' found)" = \
    $((ways * 16))
"$PROGRAM" 256:6:0 mark --ones <ways | "$PROGRAM" 256:6:0 trace links |
    tr '\t' '\n' | grep -c '^s' >found
check 'a plain filter that an enemy filled has every stranger' \
    test "$(cat found)" = $((100 * ways))

# ---- A network ---------------------------------------------------------------

# Routers prefer links to well-connected ones, and paths visit none twice.
cat >network.py <<'END'
import random, sys
random.seed(23)
size, packets = int(sys.argv[1]), int(sys.argv[2])
ends, links = [0, 1], {0: {1}, 1: {0}}
for r in range(2, size):
    links[r] = set(random.choices(ends, k=2))
    for other in links[r]:
        links[other].add(r)
        ends += [r, other]
with open("links", "w") as out:
    for r in links:
        for other in sorted(links[r]):
            if r < other:
                print("n%d n%d" % (r, other), file=out)
with open("names", "w") as out:
    for r in links:
        print("n%d" % r, file=out)
with open("ways", "w") as out:
    while packets > 0:
        way = [random.randrange(size)]
        hops = random.randint(5, 25)
        while len(way) <= hops:
            on = sorted(links[way[-1]] - set(way))
            if not on:
                break
            way.append(random.choice(on))
        if len(way) > hops:
            print(*("n%d" % r for r in way), file=out)
            packets -= 1
END
python3 network.py 1000 "$(work 30 1000)"

# An independent walk that knows all names in the field.
cat >walk.py <<'END'
links = {}
for line in open("links"):
    a, b = line.split()
    links.setdefault(a, set()).add(b)
    links.setdefault(b, set()).add(a)
whole = more = length = 0
for way, answer, told in zip(open("ways"), open("answers"), open("told")):
    victim, *names = answer.split()
    names, found, todo = set(names), {victim}, [victim]
    while todo:
        for other in links[todo.pop()] & names - found:
            found.add(other)
            todo.append(other)
    told = told.split()
    assert told[0] == victim and len(set(told)) == len(told)
    assert set(told) == found, (victim, set(told) ^ found)
    whole += set(way.split()) <= found
    more += len(found - set(way.split()))
    length += len(way.split()) - 1
print(whole, "%.2f" % (more / length))
END
for field in $(work '64:4:0 256:2:2 4096:2:2' '64:4:0 128:6:0 256:6:0 256:2:2
    256:1:1 1024:2:2 4096:2:2'); do
    "$PROGRAM" "$field" mark <ways >packets
    "$PROGRAM" "$field" trace links <packets >told
    "$PROGRAM" "$field" ask names <packets >answers
    check "$field: what is linked to the victim in the field, and no other" \
        python3 walk.py
    read -r whole more <check.out
    figure "$field: whole ways found" "$whole of $(wc -l <ways), and $more \
others for each router of a way"
    case $field in
    *:0) check "$field: every way is found whole" \
            test "$whole" = "$(wc -l <ways)" ;;
    esac
done

echo 'v 00ff' >short
refused 'a field too short' 'v: its field is not of so many bits' \
    sh -c '"$0" 256:2:2 trace links <short' "$PROGRAM"
echo lonely >half
refused 'half a link' 'lonely: a link has two ends' "$PROGRAM" 256:2:2 \
    trace half
refused 'no links' 'none: No such file' "$PROGRAM" 256:2:2 trace none
refused 'half a byte' '12:2:2: BITS:SET:RESET' "$PROGRAM" 12:2:2 trace links
refused 'nothing' 'usage: traceback BITS' "$PROGRAM"
finish
