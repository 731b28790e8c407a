"""Writes a Parquet file with filters and no values, for values.sh.

usage: parquet.py FILE COLUMN... [+ COLUMN...]...

A COLUMN is PATH=FILTER: its path, with slashes between the elements, and a file
of `bloomery build -k parquet`. Each + begins another row group. All columns are
byte arrays.
"""
import sys

INT32, INT64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12         # types of Thrift
BYTE_ARRAY = 6                                              # of Parquet


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def text(s):
    return varint(len(s)) + s.encode()


def listed(of, items):
    return bytes([0xF0 | of]) + varint(len(items)) + b''.join(items)


def struct(*fields):
    """fields: (number, type, bytes), or an integer instead of bytes."""
    out, last = b'', 0
    for number, kind, value in fields:
        out += bytes([number - last << 4 | kind])
        out += varint(2 * value) if isinstance(value, int) else value
        last = number
    return out + b'\0'


def parts(path):
    return [text(part) for part in path.split('/')]


def element(path):
    return struct((1, INT32, BYTE_ARRAY), (4, BINARY, parts(path)[-1]))


def chunk(path, offset, length):
    return struct((3, STRUCT, struct(
        (1, INT32, BYTE_ARRAY), (3, LIST, listed(BINARY, parts(path))),
        (14, INT64, offset), (15, INT32, length))))


def main(name, *columns):
    out, groups, paths = b'PAR1', [[]], []
    for column in columns:
        if column == '+':
            groups.append([])
            continue
        path, _, file = column.partition('=')
        with open(file, 'rb') as f:
            bits = f.read()
        if len(groups) == 1:
            paths.append(path)
        groups[-1].append(chunk(path, len(out), len(bits)))
        out += bits
    footer = struct(
        (2, LIST, listed(STRUCT, [struct()] + [element(p) for p in paths])),
        (4, LIST, listed(STRUCT, [struct((1, LIST, listed(STRUCT, g)))
                                  for g in groups])))
    with open(name, 'wb') as f:
        f.write(out + footer + len(footer).to_bytes(4, 'little') + b'PAR1')


main(*sys.argv[1:])
