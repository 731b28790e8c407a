"""model.py URLS BITS OUT: the digest of a cache with these URLs, as Squid documents
it, by Python's own MD5. model.py URL: MD5 of a GET, and its bits of 5000."""
import hashlib
import struct
import sys


def md5(url):
    return hashlib.md5(b"\x01" + url)


def bits(url, m):
    return [word % m for word in struct.unpack(">4I", md5(url).digest())]


def digest(urls, each):
    size = (len(urls) * each + 7) // 8
    mask = bytearray(size)
    for url in urls:
        for bit in bits(url, 8 * size):
            mask[bit >> 3] |= 1 << (bit & 7)
    head = struct.pack(">2h4i2B", 5, 3, len(urls), len(urls), 0, size, each, 4)
    return head.ljust(128, b"\0") + bytes(mask)


if len(sys.argv) == 2:
    one = sys.argv[1].encode()
    print(md5(one).hexdigest(), *bits(one, 5000))
else:
    all_ = open(sys.argv[1], "rb").read().split(b"\n")[:-1]
    with open(sys.argv[3], "wb") as out:
        out.write(digest(all_, int(sys.argv[2])))
