# check.sh - blacklist: no packet from a blocked address passes, all others do
# except at the rate, and released ones pass at once. Traces of attacks are
# private to their victims, so this one is made from a seed.
. "${1:?}/lib.sh"
command -v python3 >/dev/null || { skip blacklist 'no python3'; finish; }

# trace.py PACKETS BLOCKS SECONDS: the events, in `events`; in `wanted` each
# packet with the number of networks in force and of their lengths in its
# family, or "blocked". A quarter of all addresses are IPv6.
cat >trace.py <<'END'
import random, sys
from collections import deque
from ipaddress import IPv4Address, IPv6Address
random.seed(29)
packets, blocks, lasts = map(int, sys.argv[1:])
ends, last, counts = {}, deque(), {}
now = 0.0
lengths = {32: [32] * 8 + [28, 24], 128: [128] * 8 + [64, 48]}
def text(bits, address):
    return str((IPv6Address if bits == 128 else IPv4Address)(address))
def draw():
    bits = random.choice((32, 32, 32, 128))
    return bits, random.getrandbits(bits)
def cut(bits, address, length):
    return bits, address >> (bits - length) << (bits - length), length
def shown(who):
    bits, address, length = who
    return text(bits, address) + ("/%d" % length if length < bits else "")
def let_go(who):
    if who in ends:
        del ends[who]
        counts[who[::2]] -= 1
with open("events", "w") as events, open("wanted", "w") as wanted:
    def packet(bits, address):
        shown = "%.17g %s" % (now, text(bits, address))
        blocked = any(cut(bits, address, l) in ends for l in lengths[bits])
        print(shown, file=events)
        print(shown, "blocked" if blocked else "%d %d" % (
            len(ends), sum(c > 0 for f, c in counts.items() if f[0] == bits)),
            file=wanted)
    for n in range(packets):
        now += random.expovariate(blocks / lasts * 4)
        while last and last[0][0] <= now:
            end, who = last.popleft()
            if ends.get(who) == end:
                let_go(who)
        what = random.random()
        if what < .25:
            bits, address = draw()
            who = cut(bits, address, random.choice(lengths[bits]))
            if what < .02 and last:                     # blocked for longer
                who = random.choice(last)[1]
            let_go(who)
            ends[who] = now + lasts
            counts[who[::2]] = counts.get(who[::2], 0) + 1
            last.append((ends[who], who))
            print("block", shown(who), "%.17g" % now, file=events)
        elif what < .28 and last:
            who = random.choice(last)[1]
            let_go(who)
            print("unblock", shown(who), "%.17g" % now, file=events)
            if random.random() < .5:
                packet(*who[:2])
        elif what < .55 and last:                       # of one that is blocked
            bits, base, length = random.choice(last)[1]
            packet(bits, base | random.getrandbits(128) >> (128 - bits + length))
        else:
            packet(*draw())
END

# rate.py M K: how many unblocked packets of `wanted` should be dropped, and of
# how many.
cat >rate.py <<'END'
import sys
m, k = int(sys.argv[1]), int(sys.argv[2])
total, n = 0.0, 0
for line in open("wanted"):
    counts = line.split()[2:]
    if counts == ["blocked"]:
        continue
    keys, lengths = map(int, counts)
    f = (1 - (1 - 1 / m) ** (k * keys)) ** k
    total += 1 - (1 - f) ** lengths
    n += 1
print(total / n, n)
END

python3 trace.py "$(work 40000 600000)" "$(work 1000 3000)" 600
figure 'events' "$(wc -l <events), of which $(grep -c '^block' events) blocks \
and $(grep -c '^unblock' events) end before their time"
for rate in 0.01 0.001; do
    "$BLOOMERY" plan --json -k counting -n "$(work 1000 3000)" -p $rate >plan
    m=$(sed -n '/geometry/{n;s/[^0-9]//g;p;}' plan)
    k=$(sed -n 's/.*"probes": \([0-9]*\).*/\1/p' plan)
    "$PROGRAM" 600 "$(work 1000 3000)" $rate <events >passed
    awk '$3 != "blocked" { print $1, $2 }' wanted >legal
    awk 'FNR == NR { passed[$0] = 1; next } !($0 in passed)' passed legal \
        >dropped
    awk '$3 == "blocked" { print $1, $2 }' wanted >blocked
    check "$rate: no packet of a blocked address passes" test -z \
        "$(awk 'FNR == NR { p[$0] = 1; next } $0 in p' passed blocked)"
    check "$rate: what passes is of the packets, in their order" test \
        "$(($(wc -l <passed) + $(wc -l <dropped)))" = "$(wc -l <legal)"
    python3 rate.py "$m" "$k" >predicted
    read -r predicted asked <predicted
    in_band "$rate: legal packets dropped" "$(wc -l <dropped)" "$asked" \
        "$predicted"
done
figure 'packets' "$(wc -l <blocked) of blocked addresses, all dropped, and \
$(wc -l <legal) others, of which $(wc -l <dropped) dropped"
figure 'memory' "$(sed -n 's/.*"bytes": \([0-9]*\).*/\1/p' plan) bytes for \
$(work 1000 3000) blocks at 0.1 %, counters of 4 bits"

# At a rate of one in 10^12 the answer is exact, so packets pass at once when a
# block is released or ends.
"$PROGRAM" 600 "$(work 1000 3000)" 1e-12 <events >passed
check 'at 1e-12: the exact answer' cmp passed legal
cat >few <<'END'
1 192.0.2.7
block 192.0.2.0/24 2
3 192.0.2.7
4 192.0.3.7
block 10.0.0.0/8 4
5 10.255.1.2
block 192.0.2.7 6
unblock 192.0.2.0/24 7
8 192.0.2.7
9 192.0.2.8
unblock 192.0.2.7 10
unblock 192.0.2.7 10
unblock 198.51.100.1 10
11 192.0.2.7
13.5 10.1.1.1
14 10.1.1.1
block 2001:db8::/32 15
block 2001:DB9:0:0::1 15
block ::ffff:198.51.100.0/120 15
16 2001:db8:ffff::1
16 2001:db7:ffff::1
16 2001:db9::1
16 2001:db9::2
16 198.51.100.7
16 ::ffff:198.51.100.7
16 ::ffff:198.51.101.7
16 c633:6407::
17 32.1.13.184
unblock 2001:db8::/32 17
18 2001:db8:ffff::1
END
printf '%s\n' '1 192.0.2.7' '4 192.0.3.7' '9 192.0.2.8' '11 192.0.2.7' \
    '14 10.1.1.1' '16 2001:db7:ffff::1' '16 2001:db9::2' \
    '16 ::ffff:198.51.101.7' '16 c633:6407::' '17 32.1.13.184' \
    '18 2001:db8:ffff::1' >wanted
"$PROGRAM" 10 100 <few >passed
check 'networks, and what is let go before its time' cmp passed wanted

refused_line() {
    printf '%s\n' "$2" >bad
    refused "$1" "line [12]: $3" sh -c '"$0" 10 100 <bad' "$PROGRAM"
}
refused_line 'no address' '1 192.0.2' 'an address of IPv4 or IPv6'
refused_line 'an address that is too long' 'block 1.2.3.4/33 1' 'an address'
refused_line 'one of IPv6 that is too long' 'block 2001:db8::/129 1' 'an address'
refused_line 'one of IPv4 in IPv6 that is too short' \
    'block ::ffff:1.2.3.4/103 1' 'an address'
refused_line 'no address of IPv6' '1 192.0.2.7
2 2001:db8:::1' 'an address'
check 'a file is refused before a packet passes' test ! -s refused.out
refused_line 'no time' 'block 1.2.3.4' 'TIME ADDRESS'
refused_line 'time that goes back' '2 1.2.3.4
1 1.2.3.4' 'TIME ADDRESS.*order'
# A packet passes before the next event comes.
mkfifo live
"$PROGRAM" 10 100 <live >told &
(
    printf '1 192.0.2.7\n'
    tries=100
    while [ ! -s told ] && [ $tries -gt 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
    cp told early
) >live
wait
check 'a packet passes at once' test "$(cat early)" = '1 192.0.2.7'
refused 'no time of a block' '0: how many seconds' "$PROGRAM" 0 10
refused 'no blocks' '0.5: how many blocks' "$PROGRAM" 10 0.5
refused 'no rate' 'rate' "$PROGRAM" 10 10 2
refused 'nothing' 'usage: blacklist SECONDS' "$PROGRAM"

# ---- In the kernel -----------------------------------------------------------

# in_kernel ATTACH: two interfaces in a network namespace that ends with this
# shell, and what passes between them.
in_kernel() {
    cat >in_kernel.sh <<'END'
ip link add from0 type veth peer name to0 && ip link set from0 up &&
    ip link set to0 up || exit 3
"$1" to0 xdp.o kernel.bly 32 28 24 2>attach.err || exit 3
python3 "$2/packets.py" send from0 to0 >passed || exit 1
# The next list, which blocks a single address, replaces it.
"$1" to0 xdp.o one.bly 32 && python3 "$2/packets.py" send from0 to0 >passed.one
"$1" to0 off && python3 "$2/packets.py" send from0 to0 >passed.all
"$1" to0 xdp.o other.bly 32 2>other.err
echo $? >other.status
END
    unshare --net sh in_kernel.sh "$1" "$USE"
}

echo '#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>' >try.c
headers=/usr/include/$(uname -m)-linux-gnu
if [ ! -x "${PROGRAM}_attach" ]; then
    skip 'in the kernel' 'no libbpf (libbpf-dev)'
elif ! clang -target bpf -I"$headers" -c -o try.o try.c 2>try.err; then
    skip 'in the kernel' 'no clang for its programs'
elif ! unshare --net true 2>try.err; then
    skip 'in the kernel' 'no network of our own: not as root'
else
    check 'it is compiled without a warning' clang -O2 -g -Wall -Wextra -Werror \
        -target bpf -I"$headers" -c -o xdp.o "$USE/xdp.c"
    python3 "$USE/packets.py" make "$(work 1000 20000)" "$(work 3000 40000)"
    "$BLOOMERY" build -k blocked --as hex -p 0.02 -o kernel.bly networks
    head -n 1 senders | awk -F . '{ printf "%02x%02x%02x%02x20\n", $1, $2, $3,
        $4 }' | "$BLOOMERY" build -k blocked --as hex -n 1 -p 1e-6 -o one.bly
    "$BLOOMERY" build -k standard --as hex -o other.bly networks
    status=0
    in_kernel "${PROGRAM}_attach" || status=$?
    if [ $status = 3 ]; then
        skip 'in the kernel' "it may not: $(cat attach.err)"
    else
        # None of a packet's three keys is found.
        "$BLOOMERY" query --mark --as hex kernel.bly keys | awk '
            { found += $1 } NR % 3 == 0 { print found; found = 0 }' |
            paste - senders | awk '$1 == 0 { print $2 }' >wanted
        check 'the kernel answers as the command does, packet by packet' \
            cmp passed wanted
        sort -u blocked >blocked.once
        sort passed | comm -12 - blocked.once >wrong
        check 'in the kernel no packet of a blocked network passes' \
            test ! -s wrong
        legal=$(($(wc -l <senders) - $(wc -l <blocked)))
        in_band 'in the kernel, legal packets dropped' \
            $((legal - $(wc -l <passed))) $legal "$(awk \
            -v f="$(field kernel.bly rate)" 'BEGIN { print 1 - (1 - f) ^ 3 }')"
        grep -vxF "$(head -n 1 senders)" senders >wanted
        check 'the next list takes its place' cmp passed.one wanted
        check 'and off lets all pass' cmp passed.all senders
        check 'a filter of another kind is refused' test \
            "$(cat other.status)" -eq 2 -a "$(wc -l <other.err)" -eq 1
        refused 'no interface' 'none0: No such device' "${PROGRAM}_attach" \
            none0 off
        refused 'no list' 'usage: attach' "${PROGRAM}_attach" lo xdp.o
        refused 'no length' '33: a length' "${PROGRAM}_attach" lo xdp.o \
            kernel.bly 33
    fi
fi

# ---- Blocked output ----------------------------------------------------------

# slow.py COMMAND...: the output goes to a pipe that is not read at first, and
# that accepts or refuses. Refused output is lost, so the command must report
# it.
cat >slow.py <<'END'
import os, subprocess, sys, threading
out, to = os.pipe()
os.set_blocking(to, False)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=to)
os.close(to)
def write(first, last):
    for i in range(first, last):
        p.stdin.write(b"%d 10.0.0.1\n" % i)
    p.stdin.flush()
write(0, 30000)
n = 0
def empty():
    global n
    while got := os.read(out, 65536):
        n += got.count(b"\n")
reads = threading.Thread(target=empty)
reads.start()
write(30000, 34000)
p.stdin.close()
reads.join()
sys.exit(p.wait() if n < 34000 else 3)
END
refused 'output that was lost on the way' 'standard output' \
    python3 slow.py "$PROGRAM" 10 10
finish
