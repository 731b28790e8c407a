"""semijoin.py - joins two CSV files that two machines have, and sends a filter
instead of the keys.

    python3 semijoin.py SMALL.csv LARGE.csv COLUMN

The machine with the small table sends a filter of its keys. The machine with the
large table sends back only the rows whose key may match. The join of these rows
is exact: a false positive of the filter costs one row that is sent in vain.
Prints the joined rows as CSV, and to standard error what was sent.
"""
import csv
import itertools
import sys

from bloomery import Filter

CHUNK = 100_000         # rows that are looked up together


def read(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(file)


def keys_of(small, column):
    """Returns what the first machine sends: a fuse filter has 9 bits a key at
    a rate of 1/256, and is built from all its keys at once."""
    return Filter.build("fuse", (row[column] for row in small),
                        rate=1 / 256).pack()


def candidates(packed, large, column):
    """Yields the rows that the second machine sends back."""
    keys = Filter.from_bytes(packed)
    large = iter(large)
    while chunk := list(itertools.islice(large, CHUNK)):
        found = keys.contains_many([row[column] for row in chunk])
        yield from itertools.compress(chunk, found)


def join(small, rows, column):
    """Yields the joined rows, on the first machine."""
    by_key = {}
    for row in small:
        by_key.setdefault(row[column], []).append(row)
    for row in rows:
        for other in by_key.get(row[column], ()):
            yield {**other, **row}


def main(small_path, large_path, column):
    small = list(read(small_path))
    packed = keys_of(small, column)
    sent = list(candidates(packed, read(large_path), column))
    joined = list(join(small, sent, column))
    if joined:
        out = csv.DictWriter(sys.stdout, joined[0], lineterminator="\n")
        out.writeheader()
        out.writerows(joined)
    print(f"sent {len(packed)} bytes of filter and {len(sent)} rows, of which "
          f"{len(joined)} joined", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
