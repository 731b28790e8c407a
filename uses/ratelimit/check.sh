# check.sh - ratelimit: bits and rates equal Exim's, no event counts twice in a
# period, and new ones are missed at the filter's rate.
. "${1:?}/lib.sh"

# ---- The filter --------------------------------------------------------------

"$BLOOMERY" build -k exim -n 20 --key user@example.com -o one.exim
od -An -v -tu1 -w1 one.exim | awk '{ for (b = 0; b < 8; b++)
    if (int($1 / 2 ^ b) % 2) printf "(%d,%d)", NR - 1, b }' >bits
check 'the bits of user@example.com, of 40 bytes' test "$(cat bits)" = \
    '(9,5)(10,1)(16,5)(17,1)(23,5)(24,1)(30,5)(31,1)'
for limit in 1 20 1000; do
    "$BLOOMERY" build -k exim -n $limit --key x -o $limit.exim
    check "bytes of a filter for $limit" test "$(wc -c <$limit.exim)" = \
        $((limit < 20 ? 40 : 2 * limit))
done

# Published rates of a filter with that many events for each allowed one. The
# formula takes positions for independent. They are a progression, so a stranger
# has all positions of an event with a chance of 2 / m^2, one that begins s
# steps before or after needs s more positions, and the true rate is that of the
# fill plus 2 n / m^2 (1 + 2 (fill + fill^2 + ...)): twice the formula at half
# the limit.
seq -f 'stranger%.0f' "$(work 100000 3000000)" >strangers
while read -r share known; do
    events=$(awk -v s="$share" 'BEGIN { printf "%d", 1000 * s + .5 }')
    seq -f 'event%.0f' "$events" >events
    "$BLOOMERY" build --overfill --force -k exim -n 1000 -o full.exim events 2>build.err
    predicted=$(awk -v s="$share" 'BEGIN { print (1 - exp(-s / 2)) ^ 8 }')
    check "$share of the limit: the known rate" awk -v p="$predicted" \
        -v k="$known" 'BEGIN { exit (p - k) ^ 2 > (.006 * k) ^ 2 }'
    check "$share of the limit: it has every event" test "$("$BLOOMERY" query \
        --format exim -c full.exim events)" = "$events"
    "$BLOOMERY" info --format exim --json full.exim >info
    fill=$(sed -n 's/^ *"fill": \([^,]*\),*$/\1/p' info)
    in_band "$share of the limit (known: $known): strangers found" "$(
        "$BLOOMERY" query --format exim -c full.exim strangers || true)" \
        "$(wc -l <strangers)" "$(awk -v f="$fill" -v n="$events" 'BEGIN {
            for (s = 1; s < 8; s++) more += f ^ s
            printf "%.9f", f ^ 8 + 2 * n / 16000 ^ 2 * (1 + 2 * more) }')"
    figure "$share of the limit: the formula" "$predicted"
done <<'END'
0.5 5.7e-6
1 5.74e-4
2 .0255
2.718281828 .0930
4 .312
END
command -v python3 >/dev/null || { skip 'rates' 'no python3'; finish; }

# ---- Rates -------------------------------------------------------------------

# Independent results, with MD5 and a row of bits, and with a set of the events:
# `same` is what the program should print, `exact` counts by the set.
cat >exim.py <<'END'
import hashlib, math, sys
limit, seconds = float(sys.argv[1]), float(sys.argv[2])
senders = {}
missed, expected, variance, twice = 0, 0.0, 0.0, 0
size = max(40, 2 * int(limit))
with open("same", "w") as same, open("exact", "w") as exact:
    for line in open(sys.argv[3]):
        time, name, event = line.rstrip("\n").split(None, 2)
        now = float(time)
        first = name not in senders
        s = senders.setdefault(name, {"rate": 1, "exact": 1})
        if first or now - s["period"] > seconds:
            s.update(bits=bytearray(size), events=set(), period=now)
        digest = hashlib.md5(event.encode()).digest()
        h, step = (int.from_bytes(digest[i:i + 4], "little") for i in (0, 4))
        seen = True
        for _ in range(8):
            byte, bit = h // 8 % size, 1 << h % 8
            seen = seen and s["bits"][byte] & bit != 0
            s["bits"][byte] |= bit
            h = (h + step) % 2 ** 32
        new = event not in s["events"]
        if new:
            n, fill = len(s["events"]), 1 - math.exp(-len(s["events"]) / size)
            p = fill ** 8 + 2 * n / (8 * size) ** 2 * \
                (1 + 2 * sum(fill ** i for i in range(1, 8)))
            missed, expected = missed + seen, expected + p
            variance += p * (1 - p)
        twice += not new and not seen
        s["events"].add(event)
        for which, count in ("rate", not seen), ("exact", new):
            before = s[which] if not first else 0
            if not first:
                periods = max(now - s["last"], 1e-9) / seconds
                old = math.exp(-periods)
                rate = (1 - old) * count / periods + old * s[which]
                s[which] = max(rate, float(count))
            if before <= limit < s[which]:
                print("%s %s" % (time, name), file=
                      exact if which == "exact" else same)
        s["last"] = now
print(missed, "%.6g" % expected, "%.6g" % variance, twice)
END

# rates NAME LIMIT SECONDS EVENTS
rates() {
    "$PROGRAM" "$2" "$3" <"$4" >told
    python3 exim.py "$2" "$3" "$4" >sums
    read -r missed expected variance twice <sums
    awk '{ print $1, $2 }' told >lines
    check "$1: the limit is passed when Exim says so" cmp lines same
    check "$1: no event is counted twice" test "$twice" = 0
    check "$1: new ones missed: as predicted, within 4 sigma" awk -v n="$missed" \
        -v e="$expected" -v v="$variance" \
        'BEGIN { exit (n - e) ^ 2 > 16 * v + 1 }'
    figure "$1: new events missed" "$missed of $(wc -l <"$4") lines, \
predicted $expected"
    figure "$1: times that the limit was passed" \
        "$(wc -l <told), by all events $(wc -l <exact)"
}

# Senders far above their limit, from a seed: each event once or twice.
cat >flood.py <<'END'
import random, sys
random.seed(31)
for sender in range(int(sys.argv[1])):
    events = [n // 2 if n % 4 == 1 else n for n in range(4000)]
    random.shuffle(events)
    for at, event in enumerate(events):
        print("%.3f sender%d user%d.%d" % (at * .5, sender, sender, event))
END
python3 flood.py "$(work 4 60)" >flood
rates 'four times the limit' 1000 4000 flood
rates 'a period after the other' 100 60 flood
"$PROGRAM" 100 60 --all <flood >all
check 'all lines are told of, with their rates' test "$(wc -l <all)" = \
    "$(wc -l <flood)"

# Real events: uploads of packages to Debian, from the changelogs here.
find "$MACHINE/usr/share/doc" -name 'changelog.Debian.gz' -type f | sort |
    head -n "$(work 40 3000)" >logs
if [ -s logs ]; then
    while read -r log; do
        gzip -dc "$log"
    done <logs | awk '/^[a-z0-9]/ { package = $1 }
        /^ -- .*<.*>  / { sub(/^ -- .*</, ""); sub(/>  /, "\t")
            print package "\t" $0 }' >uploads
    cut -f 3 uploads | date -f - +%s >seconds 2>date.err
    if [ "$(wc -l <seconds)" = "$(wc -l <uploads)" ]; then
        cut -f 1,2 uploads | paste seconds - | awk -F '\t' \
            '{ print $1, $3, $2 }' | grep -v '[^ -~]' | sort -n >events
        rates 'uploads, 1 package in a day' 1 86400 events
        rates 'uploads, 3 packages in a year' 3 31536000 events
    else
        skip 'uploads' 'date does not know a date of the changelogs'
    fi
else
    absent 'uploads' 'no changelogs in /usr/share/doc'
fi

printf '%s\n' '5 a x' '4 a y' >back
refused 'time that goes back' 'line 2: the time is before' \
    sh -c '"$0" 10 60 <back' "$PROGRAM"
echo '5 a' >short
refused 'no event' 'line 1: TIME SENDER EVENT' \
    sh -c '"$0" 10 60 <short' "$PROGRAM"
# Each line is written before the next event comes, with its time unchanged.
mkfifo live
"$PROGRAM" 1 60 --all <live >at-once &
(
    printf '1700000020.1 a b\n'
    tries=100
    while [ ! -s at-once ] && [ $tries -gt 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
    cp at-once early
) >live
wait
check 'a line at once, and the time as it was' test "$(cat early)" = \
    '1700000020.1 a 1.000000 1'
refused 'no limit' '0: how many events' "$PROGRAM" 0 60
refused 'no period' 'x: in how many seconds' "$PROGRAM" 10 x
refused 'nothing' 'usage: ratelimit LIMIT' "$PROGRAM"
: >empty.exim
refused 'a record without a filter' '1 to 2\^29 bytes|empty' \
    "$BLOOMERY" query --format exim empty.exim --key x
finish
