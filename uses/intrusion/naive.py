"""By a scan: naive.py SIGNATURES PCAP prints packet, place and signature, of TCP
streams in order; and in the file `asked` how many windows hold no signature, the sum of the
squares of how often each of them comes, how many hold one, and how often that
of the first ones comes that comes most often. naive.py make PCAP FILE... writes
files as packets of TCP and UDP. naive.py mix PCAP SEED FILE writes a file as
segments of one TCP stream: out of order, repeated and overlapping. naive.py
places SIGNATURES FILE prints place and signature in a file. naive.py draw NUMBER SEED FILE... takes
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
            kind, ends, rest = ip[9], ip[12:20], ip[(ip[0] & 15) * 4:]
        else:
            rest = ip[40:40 + struct.unpack(">H", ip[4:6])[0]]
            kind, ends = ip[6], ip[8:40]
        if kind == 6:
            yield (ends + rest[:4], struct.unpack(">I", rest[4:8])[0], rest[13],
                   rest[(rest[12] >> 4) * 4:])
        else:
            yield None, 0, 0, rest[8:]


class Stream:
    """The bytes of a direction so far, and segments that came too early."""

    def __init__(self, seq):
        self.first, self.text, self.early = seq, b"", []

    def take(self, seq, data):
        """Yields the text up to each new piece, and where the piece begins."""
        self.early.append(((seq - self.first + 2 ** 31) % 2 ** 32 - 2 ** 31, data))
        ready = True
        while ready:
            ready = [one for one in self.early if one[0] <= len(self.text)]
            for place, part in sorted(ready, key=lambda one: one[0])[:1]:
                self.early.remove((place, part))
                begin = len(self.text)
                if place + len(part) > begin:
                    self.text += part[begin - place:]
                    yield self.text, begin


def pieces(name, most):
    """Yields what each packet adds: its number, the text, the place of its
    first byte, and how many bytes were searched before. Of a stream, the text
    begins `most` bytes before the new ones."""
    streams = {}
    for number, (key, seq, flags, data) in enumerate(payloads(name), 1):
        if key is None:
            yield number, data, 0, 0
            continue
        begins = flags & 2
        if key not in streams or begins:
            streams[key] = Stream(seq + (1 if begins else 0))
        if data:
            for text, begin in streams[key].take(seq + (1 if begins else 0), data):
                low = max(0, begin - most)
                yield number, text[low:], low, begin - low


def in_case(text, nocase):
    return text.lower() if nocase else text


def search(listed, capture):
    texts = list(signatures(listed))
    heads = collections.defaultdict(set)
    for _, text, nocase in texts:
        heads[min(len(text), CLIP), nocase].add(in_case(text, nocase)[:CLIP])
    absent, present, out = collections.Counter(), 0, sys.stdout.buffer
    most = max(len(text) for _, text, _ in texts) - 1
    for number, payload, place, old in pieces(capture, most):
        as_case = payload, payload.lower()
        for shown, text, nocase in texts:
            text = in_case(text, nocase)
            at = as_case[nocase].find(text)
            while at >= 0:
                if at + len(text) > old:
                    out.write(b"%d\t%d\t%s\n" % (number, place + at, shown))
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


def frame_of(seq, part, flags=24):
    tcp = struct.pack(">HHIIBBHHH", 80, 40000, seq % 2 ** 32, 0, 5 << 4, flags,
                      999, 0, 0)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + len(part), 1, 0, 64, 6, 0,
                     0x7f000001, 0x7f000001)
    return b"\0" * 12 + b"\x08\0" + ip + tcp + part + b"fills up"


def packet(out, i, frame):
    out.write(struct.pack("<IIII", i, 0, len(frame), len(frame)) + frame)


def mix(capture, seed, name):
    some, data = random.Random(seed), open(name, "rb").read()
    first = 2 ** 32 - 1000                  # numbers begin again within the file
    parts, at = [], 0
    while at < len(data):
        n = some.choice([1, 2, 7, 40, 400, 1400])
        parts.append((at, data[at:at + n]))
        at += n
    for at, part in some.sample(parts, len(parts) // 3):    # again, or more
        more = some.choice([0, 0, 5, 600])
        parts.append((at, data[at:at + len(part) + more]))
    order = sorted(parts, key=lambda one: one[0] + some.choice([0, 0, 0, 3000]))
    with open(capture, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        packet(out, 0, frame_of(first - 1, b"", 2))
        for i, (at, part) in enumerate(order):
            packet(out, i + 1, frame_of(first + at, part))


def places(listed, name):
    data = open(name, "rb").read()
    for shown, text, nocase in signatures(listed):
        text, there = in_case(text, nocase), in_case(data, nocase)
        at = there.find(text)
        while at >= 0:
            sys.stdout.buffer.write(b"%d\t%s\n" % (at, shown))
            at = there.find(text, at + 1)


def make(capture, names):
    parts = []
    for name in names:
        data = open(name, "rb").read()
        parts += [data[at:at + 1400] for at in range(0, len(data), 1400)]
    with open(capture, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        seq = 0
        for i, part in enumerate(parts):
            frame = frame_of(seq, part)
            seq += len(part) if i % 3 != 2 else 0
            if i % 3 == 2:                      # IPv6 and UDP
                udp = struct.pack(">HHHH", 53, 40000, 8 + len(part), 0)
                ip = struct.pack(">IHBB", 6 << 28, 8 + len(part), 17, 64)
                frame = (b"\0" * 12 + b"\x86\xdd" + ip + b"\0" * 32 + udp +
                         part + b"fills up")
            packet(out, i, frame)


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
elif sys.argv[1] == "mix":
    mix(sys.argv[2], int(sys.argv[3]), sys.argv[4])
elif sys.argv[1] == "places":
    places(*sys.argv[2:])
elif sys.argv[1] == "draw":
    draw(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
else:
    search(*sys.argv[1:])
