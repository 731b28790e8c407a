"""misp.py - flor, of MISP: makes a filter for 2000 keys at 0.1 % of the lines
of standard input, or says how many of them may be in one.

    misp.py make FILTER    misp.py count FILTER
"""
import sys

from flor import BloomFilter

lines = sys.stdin.buffer.read().splitlines()
filter = BloomFilter(n=2000, p=0.001)
if sys.argv[1] == "make":
    for line in lines:
        filter.add(line)
    with open(sys.argv[2], "wb") as file:
        filter.write(file)
else:
    with open(sys.argv[2], "rb") as file:
        filter.read(file)
    print(sum(filter.check(line) for line in lines))
