# check.sh - lightwallet: filters of three formats equal the published ones and
# those of an independent implementation below, byte for byte, and miss nothing.
# Blocks and wallets are made from a seed, as the chains are too large.
. "${1:?}/lib.sh"

hex() {
    od -An -v -tx1 "$1" | tr -d ' \n'
}

# known NAME HEX KIND KEYS: the filter of these lines has these bytes.
known() {
    printf '%s\n' "$4" | tr ' ' '\n' >known.keys
    "$BLOOMERY" build --force --as hex -k "$3" -o known.out -p 0.01 known.keys
    check "$1: the known bytes" test "$(hex known.out)" = "$2"
}

# ---- Published filters -------------------------------------------------------

a=99108ad8ed9bb6274d3980bab5a85c048f0950c8
keys="$a b5a2c786d9ef4658287ced5914b37a1b4aa32eee \
b9300670b4c5366e95b2699e8b18bc75e5f729c5"
known 'BIP 37' 03614e9b050000000000000001 bip37:flags=1 "$keys"
check 'BIP 37: another first byte is not there' test "$("$BLOOMERY" query -c \
    --format bip37 --as hex known.out --key "19${a#99}")" = 0
known 'BIP 37 with a tweak' 03ce4299050000000100008001 \
    bip37:flags=1,tweak=2147483649 "$keys"
known 'BIP 158, block 1' 019dfca8 "bip158:block=\
000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943" 4104678afdb0fe\
5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51\
ec112de5c384df7ba0b8d578a4c702b6bf11d5fac
known 'BIP 158, block 2' 0174a170 "bip158:block=\
000000006c02c8ea6e4ff69651f7fcde348fb9d557a06e6957b65552002a7820" 21038a7f6ef1c8\
ca0c588aa53fa860128077c9e6c11e6830f4d7ee4e763a56b7718fac
known 'BIP 158, block 3' 016cf7a0 "bip158:block=\
000000008b896e272758da5297bcd98fdc6d97c9b765ecec401e286dc1fdbe10" 2103f6d9ff4c12\
959445ca5549c811683bf9c88e637b222dd2e0311154c4c85cf423ac
zeros=0000000000000000000000000000000000000000000000000000000000000000
"$BLOOMERY" build -n 1 -k "bip158:block=$zeros" -o none.filter /dev/null
check 'BIP 158: a block without scripts' test "$(hex none.filter)" = 00
for plan in '20000 0.001' '10000 1e-6'; do
    # floor(n ln(1/p) / ln(2)^2) bits, in whole bytes: 35,943 for both.
    "$BLOOMERY" plan --json -k bip37 -n "${plan% *}" -p "${plan#* }" |
        sed -n '/geometry/{n;s/[^0-9]//g;p;}' >bits
    check "BIP 37: $plan fits into 36,000 bytes" test "$(cat bits)" = \
        "$(awk -v n="${plan% *}" -v p="${plan#* }" \
            'BEGIN { print 8 * int(-n * log(p) / log(2) ^ 2 / 8) }')"
    figure "BIP 37: bytes for $plan" "$(($(cat bits) / 8)) (known: 35944)"
done

# bits TEXT...: Ethereum's bits, highest byte first.
ethereum_bits() {
    printf '%s\n' "$@" | "$BLOOMERY" build --overfill --force -k ethereum -n 1 -o e.bloom - \
        2>build.err
    od -An -v -tu1 -w1 e.bloom | awk '{ for (b = 0; b < 8; b++)
        if (int($1 / 2 ^ b) % 2) print 8 * (256 - NR) + b }' | sort -n |
        tr '\n' ' '
}
check 'Ethereum: the bits of nothing' test "$(ethereum_bits '')" = \
    '1490 1537 1783 '
check 'Ethereum: its bytes' test "$(od -An -v -tx1 -w1 e.bloom |
    awk '$1 != "00" { printf "%d=%s ", NR - 1, $1 }')" = '33=80 63=02 69=04 '
check 'Ethereum: the bits of a word' test "$(ethereum_bits test)" = \
    '496 1058 1887 '
ethereum_bits testtest test hallo other >bits
check 'Ethereum: four words, and two that are not there' test "$("$BLOOMERY" \
    query --format ethereum -c e.bloom --key testtest --key test --key hallo \
    --key other --key tes --key lo)" = 4
seq -f 'xxxxxxxxxx data %.0f yyyyyyyyyyyyyy' 0 99 >hundred
"$BLOOMERY" build -k ethereum -n 100 -o hundred.bloom hundred
check 'Ethereum: a hundred set 280 bits' test "$(od -An -v -tu1 -w1 \
    hundred.bloom | awk '{ for (b = $1; b; b = int(b / 2)) n += b % 2 }
        END { print n }')" = 280
seq -f 'stranger %.0f' "$(work 40000 1000000)" >strangers
while read -r n rate; do
    check "Ethereum: the known rate of $n" awk -v n="$n" -v known="$rate" \
        'BEGIN { p = (1 - (1 - 1 / 2048) ^ (3 * n)) ^ 3
            exit (p - known) ^ 2 > (.01 * known) ^ 2 }'
    seq -f 'topic %.0f' "$n" >topics
    "$BLOOMERY" build --overfill --force -k ethereum -n "$n" -o topics.bloom topics \
        2>build.err
    "$BLOOMERY" info --format ethereum --json topics.bloom >info
    in_band "Ethereum: strangers found among $n (known: $rate)" \
        "$("$BLOOMERY" query --format ethereum -c topics.bloom strangers ||
            true)" "$(wc -l <strangers)" \
        "$(sed -n 's/^ *"rate": \([^,]*\),*$/\1/p' info)"
done <<'END'
50 .00035
100 .00253
200 .01639
300 .0450
400 .0872
600 .2000
END
command -v python3 >/dev/null || { skip 'blocks' 'no python3'; finish; }

# ---- Blocks, and independent implementations ---------------------------------

cat >formats.py <<'END'
import json, math, random, sys
M64 = 2 ** 64 - 1
def rotate(x, n, bits):
    return (x << n | x >> (bits - n)) & (2 ** bits - 1)
def keccak(data):                               # 256 bits, padding 01 ... 80
    state = [[0] * 5 for _ in range(5)]
    rate = 136
    data = bytearray(data) + b"\1" + bytes(-(len(data) + 1) % rate)
    data[-1] |= 0x80
    for block in range(0, len(data), rate):
        for i in range(rate // 8):
            word = data[block + 8 * i:block + 8 * i + 8]
            state[i % 5][i // 5] ^= int.from_bytes(word, "little")
        lfsr = 1
        for _ in range(24):
            c = [a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] for a in state]
            for x in range(5):
                d = c[x - 1] ^ rotate(c[(x + 1) % 5], 1, 64)
                for y in range(5):
                    state[x][y] ^= d
            x, y, now = 1, 0, state[1][0]
            for t in range(24):
                x, y = y, (2 * x + 3 * y) % 5
                now, state[x][y] = state[x][y], rotate(
                    now, (t + 1) * (t + 2) // 2 % 64, 64)
            for y in range(5):
                row = [state[x][y] for x in range(5)]
                for x in range(5):
                    state[x][y] = row[x] ^ ~row[(x + 1) % 5] & row[(x + 2) % 5]
            for j in range(7):
                if lfsr & 1:
                    state[0][0] ^= 1 << (1 << j) - 1
                lfsr = lfsr << 1 ^ (0x171 if lfsr >> 7 else 0)
    return b"".join((state[i][0] & M64).to_bytes(8, "little") for i in range(4))
def bloom(items):
    bits = bytearray(256)
    for item in items:
        h = keccak(item)
        for i in 0, 2, 4:
            b = (h[i] << 8 | h[i + 1]) & 2047
            bits[255 - (b >> 3)] |= 1 << (b & 7)
    return bytes(bits)
def murmur(data, h):
    def scramble(k):
        return rotate(k * 0xcc9e2d51 & 0xffffffff, 15, 32) * 0x1b873593
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        h ^= scramble(int.from_bytes(data[i:i + 4], "little")) & 0xffffffff
        h = (rotate(h, 13, 32) * 5 + 0xe6546b64) & 0xffffffff
    h ^= scramble(int.from_bytes(data[whole:], "little")) & 0xffffffff
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85ebca6b & 0xffffffff
    h = (h ^ h >> 13) * 0xc2b2ae35 & 0xffffffff
    return h ^ h >> 16
def bip37(items, p, tweak):
    n = len(items)
    bits = min(int(-n * math.log(p) / math.log(2) ** 2), 288000)
    row = bytearray(bits // 8)
    k = min(int(8 * len(row) / n * math.log(2)), 50)
    for item in items:
        for i in range(k):
            b = murmur(item, (i * 0xfba4c795 + tweak) % 2 ** 32) % (8 * len(row))
            row[b >> 3] |= 1 << (b & 7)
    size = bytes([len(row)]) if len(row) < 253 else \
        b"\xfd" + len(row).to_bytes(2, "little")
    return size + bytes(row) + k.to_bytes(4, "little") + \
        tweak.to_bytes(4, "little") + b"\1"
def siphash(key, data):
    k = [int.from_bytes(key[i:i + 8], "little") for i in (0, 8)]
    v = [k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d,
         k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573]
    def round():
        for a, b, n, m in (0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), \
                (2, 1, 17, 32):
            v[a] = (v[a] + v[b]) & M64
            v[b] = rotate(v[b], n, 64) ^ v[a]
            if m:
                v[a] = rotate(v[a], m, 64)
    data += bytes(-(len(data) + 1) % 8) + bytes([len(data) & 255])
    for i in range(0, len(data), 8):
        word = int.from_bytes(data[i:i + 8], "little")
        v[3] ^= word
        round(); round()
        v[0] ^= word
    v[2] ^= 255
    for _ in range(4):
        round()
    return v[0] ^ v[1] ^ v[2] ^ v[3]
def bip158(items, block):
    items, key = set(items), bytes.fromhex(block)[::-1][:16]
    n, last, bits = len(items), 0, []
    for v in sorted(siphash(key, i) * (n * 784931) >> 64 for i in items):
        bits.append("1" * (v - last >> 19) + "0" +
                    format(v - last & 2 ** 19 - 1, "019b"))
        last = v
    bits = "".join(bits)
    bits += "0" * (-len(bits) % 8)
    size = bytes([n]) if n < 253 else b"\xfd" + n.to_bytes(2, "little")
    return size + int("1" + bits, 2).to_bytes(len(bits) // 8 + 1, "big")[1:]

assert keccak(b"").hex() == \
    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
assert keccak(b"abc").hex() == \
    "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"
hundred = bloom(b"xxxxxxxxxx data %d yyyyyyyyyyyyyy" % i for i in range(100))
assert hundred == open("hundred.bloom", "rb").read()
assert keccak(hundred).hex() == \
    "c8d3ca65cdb4874300a9e39475508f23ed6da09fdbc487f89a2dcf50b09eb263"
assert [murmur(b"", 0), murmur(b"", 1), murmur(b"test", 0),
        murmur(b"Hello, world!", 0)] == \
    [0, 0x514e28b7, 0xba6bd213, 0xc0363e43]
assert (0xfba4c795 + 5) % 2 ** 32 == 4221880218
assert siphash(bytes(range(16)), bytes(range(15))) == 0xa129ca6149be45e5
for block, script, value in (
        ("000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
         "4104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb6"
         "49f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac",
         769941),
        ("000000006c02c8ea6e4ff69651f7fcde348fb9d557a06e6957b65552002a7820",
         "21038a7f6ef1c8ca0c588aa53fa860128077c9e6c11e6830f4d7ee4e763a56b7718f"
         "ac", 477719),
        ("000000008b896e272758da5297bcd98fdc6d97c9b765ecec401e286dc1fdbe10",
         "2103f6d9ff4c12959445ca5549c811683bf9c88e637b222dd2e0311154c4c85cf423"
         "ac", 446330)):
    key = bytes.fromhex(block)[::-1][:16]
    assert siphash(key, bytes.fromhex(script)) * 784931 >> 64 == value

random.seed(37)
blocks = int(sys.argv[1])
def write(name, lines):
    with open(name, "w") as out:
        out.writelines(line + "\n" for line in lines)
mine = [random.randbytes(20) for _ in range(100)]
write("mine", [m.hex() for m in mine])
write("all", [m.hex() for m in mine] +
      [random.randbytes(20).hex() for _ in range(200000)])
for tweak in 7, 2147483649:
    open("want.%d" % tweak, "wb").write(bip37(mine, .001, tweak))
watched = [random.randbytes(22) for _ in range(4000)]
write("watched", [w.hex() for w in watched])
hit = []
for n in range(blocks):
    scripts = [random.randbytes(22) for _ in range(random.choice((200, 300)))]
    if n % 5 == 0:
        scripts.append(random.choice(watched))
        hit.append(n)
    scripts += scripts[:3]                      # one comes twice
    block = random.randbytes(32).hex()
    write("block%d.scripts" % n, [s.hex() for s in scripts])
    write("block%d.hash" % n, [block])
    open("block%d.want" % n, "wb").write(bip158(scripts, block))
write("hit", map(str, hit))
addresses = [random.randbytes(20) for _ in range(6)]
topics = [random.randbytes(32) for _ in range(8)]
answer = []
with open("logs.json", "w") as out:
    for n in range(blocks):
        logs = [{"address": random.choice(addresses).hex(), "topics":
                 [t.hex() for t in random.sample(topics, random.randint(0, 4))]}
                for _ in range(random.randint(0, 6))]
        items = [bytes.fromhex(i) for l in logs
                 for i in [l["address"]] + l["topics"]]
        open("bloom%d.want" % n, "wb").write(bloom(items))
        write("bloom%d.items" % n, [i.hex() for i in items])
        print(json.dumps({"number": n, "logs": logs}), file=out)
        if any(l["address"] == addresses[0].hex() and topics[0].hex()
               in l["topics"] for l in logs):
            answer.append(n)
write("asked", [addresses[0].hex(), topics[0].hex()])
write("answer", map(str, answer))
END
check 'the formats, written once more, have the known figures' \
    python3 formats.py "$(work 8 150)"

# BIP 37: information revealed to the peer.
for tweak in 7 2147483649; do
    "$BLOOMERY" build --as hex -k "bip37:tweak=$tweak,flags=1" -p 0.001 \
        -o "mine.$tweak" mine
    check "BIP 37, tweak $tweak: the same bytes" cmp "mine.$tweak" "want.$tweak"
    "$BLOOMERY" query --format bip37 --as hex "mine.$tweak" all >matched
    check "BIP 37, tweak $tweak: all of the wallet's" test -z \
        "$(sort mine >one; sort matched | comm -23 one -)"
    in_band "BIP 37, tweak $tweak: addresses of others" \
        $(($(wc -l <matched) - 100)) 200000 \
        "$("$BLOOMERY" info --format bip37 --json "mine.$tweak" |
            sed -n 's/^ *"rate": \([^,]*\),*$/\1/p')"
    figure "BIP 37, tweak $tweak: the peer's guess is right" \
        "100 of $(wc -l <matched) times"
done
"$BLOOMERY" query --format bip37 --as hex --all -F mine.7 -F mine.2147483649 all \
    >matched
figure 'BIP 37: after two filters' "100 of $(wc -l <matched) times"
check 'BIP 37: two filters give the wallet away' test "$(wc -l <matched)" -le 106

# BIP 158: the filters, and the blocks that the wallet fetches.
blocks=$(work 8 150)
n=0
: >fetched
differ=0
while [ $n -lt "$blocks" ]; do
    kind=bip158:block=$(cat block$n.hash)
    "$BLOOMERY" build --as hex -k "$kind" -o block$n.filter block$n.scripts
    cmp -s block$n.filter block$n.want || differ=$((differ + 1))
    if "$BLOOMERY" query -q --format "$kind" --as hex block$n.filter watched
    then
        echo $n >>fetched
    fi
    n=$((n + 1))
done
check 'BIP 158: the same bytes' test $differ = 0
check 'BIP 158: no block is missed' test -z "$(sort hit >one
    sort fetched | comm -23 one -)"
in_band 'BIP 158: blocks fetched for nothing' \
    $(($(wc -l <fetched) - $(wc -l <hit))) $((blocks - $(wc -l <hit))) \
    "$(awk 'BEGIN { print 1 - (1 - 1 / 784931) ^ 4000 }')"
seq -f 'script %.0f' 100000 >scripts
"$BLOOMERY" build -k "bip158:block=$zeros" -o large.filter scripts
check 'BIP 158: 21.05 bits for a script' awk -v b="$(wc -c <large.filter)" \
    'BEGIN { exit (8 * b / 100000 - 21.05) ^ 2 > .01 ^ 2 }'
figure 'BIP 158: bits for a script' \
    "$(awk -v b="$(wc -c <large.filter)" 'BEGIN { print 8 * b / 100000 }')"
seq -f 'stranger %.0f' "$(work 300000 10000000)" >strangers
in_band 'BIP 158: strangers found' "$("$BLOOMERY" query -c --format \
    "bip158:block=$zeros" large.filter strangers || true)" \
    "$(wc -l <strangers)" "$(awk 'BEGIN { print 1 / 784931 }')"
rm strangers

# Ethereum: blocks that may have logs of an address with a topic, and then the
# logs.
n=0
differ=0
set --
while [ $n -lt "$blocks" ]; do
    "$BLOOMERY" build --overfill --as hex -k ethereum -n 20 -o bloom$n bloom$n.items \
        2>build.err
    cmp -s bloom$n bloom$n.want || differ=$((differ + 1))
    set -- "$@" -F bloom$n
    n=$((n + 1))
done
check 'Ethereum: the same bytes' test $differ = 0
"$BLOOMERY" query --mark --format ethereum --as hex "$@" asked >marks || true
awk 'FNR == 1 { address = $1 } FNR == 2 { for (i = 1; i <= length($1); i++)
    if (substr(address, i, 1) substr($1, i, 1) == "11") print i - 1 }' marks \
    >candidates
check 'Ethereum: no block is missed' test -z "$(sort answer >one
    sort candidates | comm -23 one -)"
read -r address <asked
topic=$(sed -n 2p asked)
awk 'FNR == NR { wanted[$1 + 1] = 1; next } FNR in wanted' candidates logs.json |
    grep "\"$address\", \"topics\": \[[^]]*\"$topic\"" |
    sed 's/{"number": \([0-9]*\).*/\1/' >exact
check 'Ethereum: behind the filter the exact answer' cmp exact answer
figure 'Ethereum: blocks read' "$(wc -l <candidates) of $blocks for \
$(wc -l <answer) that have it"
"$BLOOMERY" unite --format ethereum -o both bloom0 bloom1
cat bloom0.items bloom1.items >items
"$BLOOMERY" build --overfill --as hex -k ethereum -n 40 -o whole items 2>build.err
check 'Ethereum: a header is the OR of its receipts' cmp both whole

refused 'a filter cut short' 'block0.cut' sh -c 'head -c 100 block0.filter \
    >block0.cut; "$0" query --format "bip158:block=$1" block0.cut --key 00' \
    "$BLOOMERY" "$zeros"
refused 'no block' 'block=HASH' "$BLOOMERY" query --format bip158 \
    block0.filter --key 00
refused 'a bloom of another size' '256 bytes' "$BLOOMERY" query \
    --format ethereum none.filter --key 00
finish
