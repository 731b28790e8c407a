"""By a scan: naive.py SIGNATURES PCAP prints packet, offset and signature;
and in the file `asked` how many windows hold no signature, the sum of the
squares of how often each of them comes, how many hold one, and how often that
of the first ones comes that comes most often. naive.py make PCAP FILE... writes
files as packets of TCP and UDP. naive.py draw NUMBER SEED FILE... takes
signatures out of them, and makes as many that are nowhere; half of the rules
are in the other case, and half have `nocase`."""
import collections
import random
import re
import struct
import sys

CLIP = 24
# A negation, the text, and the options up to the next content.
CONTENT = (rb'content: *(!?)"((?:[^"\\]|\\.)*)"'
           rb'((?: *,[^;]*)?;(?:(?! *content:)[^;]*;)*)')


def decoded(text):
    out = b""
    for i, part in enumerate(text.split(b"|")):
        out += bytes.fromhex(part.decode()) if i % 2 else part
    return out


def signatures(name):
    """The texts of a list, as they are written and as bytes, and whether their
    case is ignored."""
    for line in open(name, "rb").read().split(b"\n"):
        line = line.rstrip(b"\r")
        if line == b"" or line.startswith(b"#"):
            continue
        texts = re.findall(CONTENT, line)
        for absent, text, behind in texts:
            if not absent:
                yield (text, decoded(re.sub(rb"\\(.)", rb"\1", text)),
                       b"nocase" in behind)
        if not texts and not (b"sid:" in line and b"(" in line):
            yield line, decoded(line), False


def payloads(name):
    """Reads Ethernet, IPv4 or IPv6, and TCP or UDP: ours have nothing else."""
    data = open(name, "rb").read()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    at = 24
    while at < len(data):
        n = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        frame = data[at + 16:at + 16 + n]
        at += 16 + n
        ip = frame[14:]
        if ip[0] >> 4 == 4:
            ip = ip[:struct.unpack(">H", ip[2:4])[0]]
            kind, rest = ip[9], ip[(ip[0] & 15) * 4:]
        else:
            rest = ip[40:40 + struct.unpack(">H", ip[4:6])[0]]
            kind = ip[6]
        yield rest[(rest[12] >> 4) * 4:] if kind == 6 else rest[8:]


def in_case(text, nocase):
    return text.lower() if nocase else text


def search(listed, capture):
    texts = list(signatures(listed))
    heads = collections.defaultdict(set)
    for _, text, nocase in texts:
        heads[min(len(text), CLIP), nocase].add(in_case(text, nocase)[:CLIP])
    absent, present, out = collections.Counter(), 0, sys.stdout.buffer
    for number, payload in enumerate(payloads(capture), 1):
        as_case = payload, payload.lower()
        for shown, text, nocase in texts:
            text = in_case(text, nocase)
            at = as_case[nocase].find(text)
            while at >= 0:
                out.write(b"%d\t%d\t%s\n" % (number, at, shown))
                at = as_case[nocase].find(text, at + 1)
        for (n, nocase), known in heads.items():
            for at in range(len(payload) - n + 1):
                window = as_case[nocase][at:at + n]
                if window in known:
                    present += 1
                else:
                    absent[nocase, window] += 1
    with open("asked", "w") as asked:
        print(sum(absent.values()), sum(m * m for m in absent.values()),
              present, max(absent.values(), default=0), file=asked)


def make(capture, names):
    parts = []
    for name in names:
        data = open(name, "rb").read()
        parts += [data[at:at + 1400] for at in range(0, len(data), 1400)]
    with open(capture, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, part in enumerate(parts):
            tcp = struct.pack(">HHIIBBHHH", 80, 40000, 1400 * i, 0, 5 << 4, 24,
                              999, 0, 0)
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + len(part), i & 0xffff,
                             0, 64, 6, 0, 0x7f000001, 0x7f000001)
            frame = b"\0" * 12 + b"\x08\0" + ip + tcp + part + b"fills up"
            if i % 3 == 2:                      # IPv6 and UDP
                udp = struct.pack(">HHHH", 53, 40000, 8 + len(part), 0)
                ip = struct.pack(">IHBB", 6 << 28, 8 + len(part), 17, 64)
                frame = (b"\0" * 12 + b"\x86\xdd" + ip + b"\0" * 32 + udp +
                         part + b"fills up")
            out.write(struct.pack("<IIII", i, 0, len(frame), len(frame)) + frame)


def shown(text):
    return b"".join(b"|%02x|" % c if c < 32 or c > 126 or c in b'#|"\\;:'
                    else bytes([c]) for c in text).replace(b"||", b" ")


def draw(number, seed, names):
    some = random.Random(seed)
    data = b"".join(open(name, "rb").read() for name in names)
    for i in range(number):
        n = some.choice([3, 5, 8, 11, 14, 18, 24, 25, 40])
        at = some.randrange(len(data) - n)
        for text in (shown(data[at:at + n]), shown(some.randbytes(n))):
            sys.stdout.buffer.write(
                text + b"\n" if i % 2 else
                b'alert tcp any any -> any any (msg:"%d"; content:!"not this"; '
                b'content:"%s";%s sid:%d;)\n' %
                (i, text.swapcase() if i % 8 < 4 else text,
                 b" nocase;" if i % 4 == 0 else b"", i))


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3:])
elif sys.argv[1] == "draw":
    draw(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
else:
    search(*sys.argv[1:])
