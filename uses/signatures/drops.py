#!/usr/bin/env python3
"""drops.py - false drops of superimposed signatures.

    drops.py BITS COLUMNS ASKED [ROWS QUESTIONS]

Prints how often a row of COLUMNS values, two bits each, drops for a query of
ASKED others: by the usual formula, which takes all bits for independent; exactly;
and, for that many rows and queries, the standard deviation of the share.
"""
import sys
from math import comb, sqrt

bits, columns, asked, rows, questions = (
    [int(a) for a in sys.argv[1:]] + [10**12, 10**12])[:5]


def occupied(throws):
    """Returns the chances of hitting 0, 1, 2, ... different bits."""
    p = [1.0] + [0.0] * throws
    for _ in range(throws):
        p = [0.0] + [p[i] * i / bits + p[i - 1] * (bits - i + 1) / bits
                     for i in range(1, throws + 1)]
    return p


row, question = occupied(2 * columns), occupied(2 * asked)
drop = [[comb(x, d) / comb(bits, d) for d in range(len(question))]
        for x in range(len(row))]       # x bits set, d of them asked for
by_row = [sum(q * r for q, r in zip(question, line)) for line in drop]
by_question = [sum(row[x] * drop[x][d] for x in range(len(row)))
               for d in range(len(question))]
mean = sum(p * r for p, r in zip(row, by_row))
spread = (sum(p * r * r for p, r in zip(row, by_row)) - mean ** 2) / rows \
    + (sum(p * r * r for p, r in zip(question, by_question)) - mean ** 2) \
    / questions + mean / (rows * questions)
density = 1 - (1 - 1 / bits) ** (2 * columns)
print('%.6g %.6g %.6g' % (density ** (2 * asked), mean, sqrt(spread)))
