"""Looks up keys in the bytes of a filter, without Bloomery.

    python3 reader.py FILE KEY...

Prints True for each key that is perhaps in the filter, else False. Written from
docs/format only, to show that these pages suffice. It reads every kind but ribbon,
compaction and those of other systems. Python has no XXH3: header and payload
checksums are not verified, and keys are hashed by fnv1a and decimal alone. For
another function, a KEY is the 64-bit hash itself, as 0x...
"""
import struct, sys
from itertools import combinations_with_replacement

M64, STEP, GOLDEN = 2**64 - 1, 0xd1342543de82ef95, 0x9e3779b97f4a7c15
SALT = (0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
        0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31)
CODES = list(combinations_with_replacement(range(16), 4))

def word(h, i):
    v = (h + i * GOLDEN) & M64
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9 & M64
    v = (v ^ v >> 27) * 0x94d049bb133111eb & M64
    return v ^ v >> 31

def power(h, n):
    s = (h ^ h >> 32) * STEP & M64
    return [s * pow(STEP, i, 2**64) & M64 for i in range(n)]

def field(p, at, n):
    run = int.from_bytes(p[at // 8:(at + n + 7) // 8], "little")
    return run >> at % 8 & (1 << n) - 1

# The kinds of bits: where a key's bits are.

def standard(h, m, k, scheme, _):
    if scheme == 0: return [s * m >> 64 for s in power(h, k)]
    if scheme == 1: return [word(h, i + 1) * m >> 64 for i in range(k)]
    if scheme == 5: return [((word(h, 1) + i * (word(h, 2) | 1)) & M64) * m >> 64
                            for i in range(k)]
    a, b, z = (word(h, 1) * m >> 64, 1 + (word(h, 2) * (m - 1) >> 64) if m > 1 else 0,
               word(h, 3) * m >> 64)
    at = []
    for i in range(k):
        at.append(a)
        a, b = (a + b) % m, (b + (0, i + 1, z)[scheme - 2]) % m
    return at

def partitioned(h, m, k, *_):
    return [m * i + (s * m >> 64) for i, s in enumerate(power(h, k))]

def blocked(h, lines, k, *_):
    s, = power(h, 1)
    return [512 * (s * lines >> 64) + (s * pow(0x9e3779b9, i, 2**32) % 2**32 >> 23)
            for i in range(1, k + 1)]

def split(h, blocks, *_):
    block = (h >> 32) * blocks >> 32
    return [256 * block + 32 * i + ((h & 0xffffffff) * salt & 0xffffffff) // 2**27
            for i, salt in enumerate(SALT)]

def deletable(h, m, k, *_):
    return standard(h, m, k, 0, 0)

def drawn(s, i, j):
    return word(word(s, i + 1), j + 1)

def times(a, b):                    # in the field of 2^64 elements
    product = 0
    for i in reversed(range(64)):
        product = product << 1 ^ (product >> 63) * (2**64 + 0x1b) ^ (b >> i & 1) * a
    return product

def rehash(h, m, k, by, whole, s):
    assert by in (0, 5, 6, 7) and not whole, "functions that are not in here"
    at = []
    for i in range(k):
        c = [drawn(s, i, j) for j in range(4)]
        if by == 0: y = ((c[0] << 64 | c[1]) * h + (c[2] << 64 | c[3])) % 2**128 >> 64
        elif by == 5: y = times(c[1], h) ^ c[0]
        elif by == 6: y = times(times(times(c[3], h) ^ c[2], h) ^ c[1], h) ^ c[0]
        else:
            y = 0
            for j in range(8): y ^= drawn(s, i, 256 * j + (h >> 8 * j & 255))
        at.append(y * m >> 64)
    return at

def floom(h, m, k, b, _):
    row = standard(h, m, k, 0, 0)
    pattern = sum(1 << r for r in {at * b // m for at in row})
    return row + [(m + 7) // 8 * 8 + pattern]

# The others: whether a key is in the payload p.

def is_sum(rest, of):
    return rest in (0, *of) or rest >= 64 or any(
        rest > v and is_sum(rest - v, of) for v in of)

def variable(p, h, m, k, l, b):
    of = [v for v in range(16) if l >> v & 1] if l > 16 else range(l, 2 * l)
    for s in power(h, k):
        v = of[(s * GOLDEN & M64) * len(of) >> 64]
        rest = field(p, (s * m >> 64) * b, b) - v
        if not is_sum(rest, of) if l > 16 else rest != 0 and rest < l: return False
    return True

def counting(p, h, m, k, b, _):
    return variable(p, h, m, k, 1, b)

def approximator(p, h, m, k, w, _):
    w, parts = w % 256, w // 256 + 1
    part, cells = w // parts, [(s * m >> 64) * w for s in power(h, k)]
    return any(all(field(p, c + i * part, part) for c in cells)
               for i in range(parts))

spatial = approximator

def dleft(p, h, base, w, r, c):
    s, = power(h, 1)
    b, t = s * base >> 64, (s * base & M64) >> 64 - w
    for i in range(4):
        f = (word(t, 0) * pow(STEP, i, 2**64) & M64) * base >> 64 if i else 0
        at = ((b + f) % base << w - r) + (t * pow(STEP, i, 2**w) % 2**w >> r)
        at = (at + (i * base << w - r)) * (r + c)
        for cell in range(8):
            v = sum((x >> cell & 1) << j for j, x in enumerate(p[at:at + r + c]))
            if v % 2**c and v >> c == t % 2**r: return True
    return False

def cuckoo(p, h, buckets, f, in_order, quads):
    s, = power(h, 1)
    fp = 1 + ((power(s, 1)[0] >> 32) * (2**f - 1) >> 32)
    z, = power(fp * STEP & M64, 1)
    one, odd = s * buckets >> 64, 2 * (z * (buckets // 2) >> 64) + 1
    width, low = 4 * (f - in_order), f - 4 * in_order
    for b in one, (odd - one) % buckets:
        for quad in range(quads * b, quads * (b + 1)):
            v, high = field(p, quad * width, width), (0, 0, 0, 0)
            if in_order: high, v = (CODES + 220 * [high])[v % 4096], v >> 12
            if fp in [a << low | v >> low * i & (1 << low) - 1
                      for i, a in enumerate(high)]: return True
    return False

# The slots of the run of a quotient.
def run_of(p, quotient, r, blocks):
    def of(slot, where, n):
        return field(p, (17 + 8 * r) * 8 * (slot // 64) + where + slot % 64 * n, n)
    b, run = quotient >> 6, []
    while b > 0 and of(64 * b, 128, 8) == 255: b -= 1
    stop = 64 * b + of(64 * b, 128, 8)
    for q in range(64 * b, quotient + 1):
        run = []
        if of(q, 0, 1):
            start = stop = max(q, stop)
            while stop < 64 * blocks and not of(stop, 64, 1): stop += 1
            stop += 1
            run = range(start, min(stop, 64 * blocks))
    return [of(i, 136, r) for i in run]

# The slots behind those of the first remainder of a run.
def run_after(run):
    n = next((i for i, x in enumerate(run) if x != run[0]), len(run))
    return run[n + max(0, n - 3):]

def quotient(p, h, s, r, blocks, _):
    f = h * (s << r) >> 64
    run = run_of(p, f >> r, r, blocks)
    while run and run[0] != f & (1 << r) - 1:
        run = run_after(run)
    return run != []

def expandable(p, h, *_):
    left, _, _, old, now = (field(p, 64 * i, 64) for i in range(5))
    for layout in (old, now) if left else (now,):
        a, r, b = layout & 255, layout >> 8 & 255, layout >> 16
        w = min(a, 13)
        s = (h >> 64 - a) & (1 << a - w) - 1
        if layout == old and s < left:
            break
    blocks = b + 1 + b // 128
    size = blocks * (17 + 8 * r) + 8
    p = p[64 + s * size:64 + (s + 1) * size]
    run, x = run_of(p, (h >> 64 - w) * 64 * b >> w, r, blocks), h << a & M64
    x = x >> 65 - r << 1
    while run and run[0]:               # 0: shorter than the address
        if run[0] ^ x < 2 * (run[0] & -run[0]):
            break
        run = run_after(run)
    return run != []

def fuse(p, h, keys, parts, place, stride):
    s, shards = word(h, 0), parts % 2**32
    d, f, v = (parts >> i & 255 for i in (32, 40, 48))
    length, windows, x = place % 2**32, place >> 32, s
    shard, rest = divmod((s >> 32) * shards, 2**32)
    a = ((s ^ (p[shard] + 1) * STEP) & M64) * 0xaef17502108ef2d9 & M64
    a ^= a >> 32
    b = a * 0xf1357aea2e62a9c5 & M64
    table = 8 * (-(-shards // 64) * 64 + shard * stride)
    shorter = windows * length * (keys >> 48) >> 16
    for i, r in enumerate((a >> 32, a % 2**32, b >> 32, b % 2**32)[:d]):
        cell = ((rest * windows >> 32) + i) * length + (r * length >> 32)
        if i == 0: bits = f - (cell < shorter)
        x ^= field(p, table + cell * (f + 2 + v if v else f) - min(cell, shorter), bits)
    return keys % 2**48 > 0 and x % 2**bits == 0

xor = bloomier = fuse

def gcs(p, h, blocks, width, _, shape):
    k, g, least = shape & 255, shape >> 8 & 0xffff, shape >> 24 & 0xffffff
    t = word(h + (shape >> 48) * STEP, 0) * blocks
    block, wanted, number = t >> 64, (t & M64) * width >> 64, -1
    record, code = block // 56 * 64, -(-blocks // 56) * 512
    *before, n = [(x + least) * g for x in p[record + 8:record + 9 + block % 56]]
    at = (field(p, 8 * record, 64) + sum(before) & M64) + code
    end = at + n
    if end > 8 * len(p) - 64: return False
    while number < wanted:
        number, end = number + 1, end - k
        while at < end and not field(p, at, 1): at, number = at + 1, number + 2**k
        if at >= end: return False
        at, number = at + 1, number + field(p, end, k)
    return number == wanted

def cell(top):
    return next(w for w in (1, 2, 4, 8) if top < 2**w)

def stable(p, h, m, k, top, _):
    w = cell(top)
    return all(field(p, 512 + (s * m >> 64) * w, w) for s in power(h, k))

def twin(p, h, of, second, *_):
    first, = struct.unpack_from("<Q", p, 32)
    return present(p[:first], h) and not present(p[second:], h)

def scalable(p, h, of, *_):
    if of in (3, 9): h, = power(h, 1)
    starts = [at for at, in struct.iter_unpack("<Q8x", p[:1024]) if at]
    ends = [at + struct.unpack_from("<Q", p, at + 32)[0] for at in starts]
    return any(present(p[at:end], h) for at, end in zip(starts, ends))

def unpack(code, bits, chance):
    q = [chance if chance > 2**31 else 2**32 - chance]
    while len(q) < 7 and q[-1]**2 >> 32 >= 2**31: q.append(q[-1]**2 >> 32)
    top, row, source = len(q) - 1, 0, iter(code[8:])
    rest, size = int.from_bytes((code + bytes(8))[:8], "big"), M64
    def ask(x):
        nonlocal rest, size
        bound = (size >> 32) * x
        yes = rest < bound
        rest, size = (rest, bound) if yes else (rest - bound, size - bound)
        while size < 2**56:
            rest, size = (rest << 8 | next(source, 0)) & M64, size << 8
        return yes
    def some(j):
        if j == 0: return 1
        if ask((q[j - 1] << 32) // (2**32 + q[j - 1])): return some(j - 1) << 2**(j - 1)
        others = 0 if ask(q[j - 1]) else some(j - 1)
        return others << 2**(j - 1) | some(j - 1)
    for at in range(0, bits, 2**top):
        row |= (0 if ask(q[top]) else some(top)) << at
    return ((row ^ -(chance > 2**31)) & 2**bits - 1).to_bytes((bits + 7) // 8, "little")

def compressed(p, h, of, row, k, chance):
    bits = row * k if of else row
    if chance and len(p) < (bits + 7) // 8: p = unpack(p, bits, chance)
    find = partitioned if of else standard
    return all(field(p, at + (0 if chance else 1024), 1) for at in find(h, row, k, 0, 0))

def aging(p, h, of, g, cap, stride):
    n, = struct.unpack_from("<Q", p, 64 + 32)
    return any(present(p[64 + i * stride:][:n], h) for i in range(g))

def layered(p, h, *_):
    n, = struct.unpack_from("<Q", p, 32)
    return present(p[:n], h)

def egh(p, h, universe, k, m, form):
    b, at = form // 2 + 1, 0
    for i in range(k):
        q, = struct.unpack_from("<Q", p, 8 + 16 * i)
        if not field(p, 8 * (8 + 16 * k) + b * (at + h % q), b): return False
        at += q
    return universe == 0 or h < universe

def attenuated(p, h, of, levels, stride, _):
    n, = struct.unpack_from("<Q", p, 32)
    return any(present(p[i * stride:][:n], h) for i in range(levels))

def cascade(p, h, shape, *_):
    odd, salt, images, rows = (shape >> i & 255 for i in (8, 16, 24, 32))
    at, s = 0, h + salt * GOLDEN
    for level in range(images + rows):
        s = word(s, 1)
        if level < images:
            n, = struct.unpack_from("<Q", p, at + 32)
            has, n = present(p[at:at + n], s), -(-n // 64) * 64
        else:
            n, = struct.unpack_from("<I", p, at)
            has, n = field(p, 8 * at + 32 + (s * 8 * n >> 64), 1), n + 4
        if not has: break
        at, odd = at + n, not odd
    return bool(odd)

def golomb(p, h, r, shape, size, g):
    width, k, v = shape % 256, shape >> 8, h * r >> 64
    e, x, bucket = (8 * size).bit_length(), v % 2**width, v >> width
    page = p[bucket // g * size:][:size]
    ends = [0] + [field(page, i * e, e) for i in range(g)]
    at, end = (g * e + n for n in ends[bucket % g:][:2])
    value, first = 0, True
    while at < end:
        gap = 0
        while at < end and not field(page, at, 1): at, gap = at + 1, gap + 1
        at, end = at + 1, end - k
        if at > end: return False
        gap = gap << k | field(page, end, k)
        if gap == 0 and not first:
            bits = 0
            while at < end and not field(page, at, 1): at, bits = at + 1, bits + 1
            at += 1 + bits
        value, first = value + gap, False
        if value >= x: return value == x
    return False

def invertible(p, h, w, k, b, _):
    size = 16 + (b and -(-(b + 1) // 8) * 8)
    for j in range(k):
        at = j * w + (word(h, j + 1) * w >> 64)
        count, check, x = struct.unpack_from("<iIQ", p, at * size)
        pure = (count in (1, -1) and check == word(x, 0) >> 32
                and at == j * w + (word(x, j + 1) * w >> 64))
        if (count, check, x) == (0, 0, 0) or pure and x != h: return False
    return True

INSIDE = ("twin", "gcs", "scalable", "compressed", "aging", "layered",
          "attenuated", "cascade")                           # sizes not checked

def buffered(p, h, size, pages, k, _):
    at = size - 128 + (word(h, 0) * pages >> 64) * size
    return any(p[at:at + 128]) and present(p[at:at + size], h)

SIZE = {"standard": lambda m, *_: (m + 7) // 8,
        "buffered": lambda size, pages, *_: size * (pages + 1) - 128,
        "partitioned": lambda m, k, *_: m // 8 * k,
        "blocked": lambda n, *_: 64 * n, "split": lambda n, *_: 32 * n,
        "counting": lambda m, k, b, _: (m * b + 7) // 8,
        "variable": lambda m, k, l, b: (m * b + 7) // 8,
        "dleft": lambda base, w, r, c: 4 * (base << w - r) * (r + c) + 8,
        "deletable": lambda m, k, r, _: (m + 7) // 8 + ((m + r - 1) // r + 7) // 8,
        "floom": lambda m, k, b, _: (m + 7) // 8 + 2**b // 8,
        "cuckoo": lambda n, f, in_order, q: (n * q * (f - in_order) + 1) // 2 + 16,
        "quotient": lambda s, r, n, _: n * (17 + 8 * r) + 8,
        "golomb": lambda r, shape, size, g: -(-(-(-r >> shape % 256)) // g) * size + 16,
        "invertible": lambda w, k, b, _: w * k * (16 + (b and -(-(b + 1) // 8) * 8)),
        "egh": lambda universe, k, m, form:
            8 + 16 * k + (m * (form // 2 + 1) + 7) // 8,
        "stable": lambda m, k, top, _: 64 + -(-m * cell(top) // 64) * 8}
SIZE["rehash"] = SIZE["standard"]
SIZE["approximator"] = SIZE["spatial"] = (
    lambda m, k, w, _: (m * (w % 256) + 7) // 8)
SIZE["xor"] = SIZE["fuse"] = SIZE["bloomier"] = lambda keys, parts, place, stride: (
    -(-(parts % 2**32) // 64) * 64 + parts % 2**32 * stride)

def header(image):
    (magic, kind, version, form, payload_version, n, items, capacity, rate, seed,
     name, *g, payload_sum, header_sum) = struct.unpack_from(
        "<8s16sHHIQQQdQ8s4QQQ", image)
    kind, name = kind.rstrip(b"\0").decode(), name.rstrip(b"\0").decode()
    assert magic == b"bloomery" and version == payload_version == 1
    assert n == len(image) and (kind in INSIDE or kind not in SIZE
                               or n == 128 + SIZE[kind](*g))
    return kind, name, seed, g, payload_sum, form

# Makes the bytes of a key that is written as text.
def made(key, form):
    kind, case, trim, join = form & 15, form >> 4 & 3, form >> 6 & 1, form >> 8 & 7
    assert form < 2048 and kind < 10 and (form < 16 or kind in (2, 8))
    assert kind != 1, "its keys are bytes, which are not written"
    key = key.strip(" \t") if trim and not join else key
    key = key.casefold() if case == 3 else key
    text = key.encode()
    text = text.lower() if case == 1 else text.upper() if case == 2 else text
    if kind in (0, 2, 8):
        return text if kind != 8 else text.decode().encode("utf-16le")
    if kind == 9:
        return bytes.fromhex(key.removeprefix("0x"))
    if kind in (6, 7):
        return struct.pack("<f" if kind == 6 else "<d", float(key))
    whole = float(key).is_integer() if kind == 3 else True
    number = int(float(key) if "." in key else key) if whole else None
    if kind in (4, 5):
        return (number % 2**(32 * (kind - 3))).to_bytes(4 * (kind - 3), "little")
    small = whole and -2**63 <= number < 2**63
    return struct.pack("<q", number) if small else struct.pack("<d", float(key))

def present(image, h):
    kind, _, seed, g, _, _ = header(image)
    find, p = globals()[kind], image[128:]
    if find is rehash:
        return all(field(p, at, 1) for at in find(h, *g, seed))
    if find in (standard, partitioned, blocked, split, deletable, floom):
        return all(field(p, at, 1) for at in find(h, *g))
    return find(p, h, *g)

def contains(image, key):
    kind, name, seed, g, payload_sum, form = header(image)
    assert payload_sum != 0
    h = int(key, 16) if key.startswith("0x") else None
    if h is None:
        assert name in ("fnv1a", "decimal"), "give the key's hash, made by " + name
        h = 0xcbf29ce484222325 ^ seed
        for byte in made(key, form):
            h = (h ^ byte) * 0x100000001b3 & M64
        if name == "decimal":
            number = key.isascii() and key.isdigit()
            h = min(int(key), M64) if number else M64
    return present(image, h)

if __name__ == "__main__":
    image = open(sys.argv[1], "rb").read()
    for key in sys.argv[2:]:
        print(contains(image, key))
