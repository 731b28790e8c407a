#!/usr/bin/env python3
"""model.py - a synthetic trace of reads, and the exact list of blocks to move.

    model.py READS BLOCKS            a trace: few blocks often, and a long scan
    model.py TRACE MOVED CACHE PERIOD PROBES BITS

replays the trace with sets in place of filters, and with what the program has
moved: every block that was read before must be among it. It prints hits and
writes of a cache that takes all, and of the program's; how many blocks the
filters were asked for; of those that had not been read before, how many they
were and how many moved; and the rate of this by formula.
"""
import itertools
import math
import random
import sys

BATCH, WAYS, MASK = 4096, 64, (1 << 64) - 1


def make(reads, blocks):
    draw = random.Random(7)
    weights = list(itertools.accumulate((i + 1) ** -.8 for i in range(blocks)))
    scan = 0
    for rank in draw.choices(range(blocks), cum_weights=weights, k=reads):
        print(rank * 7919 % blocks)
        if draw.random() < .2:          # and what is read once
            print(blocks + scan)
            scan += 1


def mix(x):
    x = (x + 0x9e3779b97f4a7c15) & MASK
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & MASK
    return x ^ x >> 31


class Cache:
    def __init__(self, room):
        self.sets = [{} for _ in range((room + WAYS - 1) // WAYS)]
        self.hits = self.writes = 0

    def read(self, block, now):
        there = self.sets[mix(block) % len(self.sets)]
        if block not in there:
            return False
        there[block] = now
        return True

    def write(self, block, now):
        there = self.sets[mix(block) % len(self.sets)]
        if len(there) == WAYS:
            del there[min(there, key=lambda b: (there[b], b))]
        there[block] = now
        self.writes += 1


class Replay:
    def __init__(self, moved, room, period, probes, bits):
        self.moved, self.period = moved, period
        self.all, self.second = Cache(room), Cache(room)
        self.now, self.before, self.missing = set(), set(), []
        self.asked = self.in_period = self.at = self.new = self.false = 0
        self.expected = 0.0
        self.rate = lambda n: (1 - math.exp(-probes * n / bits)) ** probes

    def ask(self, time):
        if self.in_period + len(self.missing) > self.period:
            self.now, self.before, self.in_period = set(), self.now, 0
        often = {}
        for block in self.missing:
            often[block] = often.get(block, 0) + 1
        for block in self.missing:
            known = block in self.now or block in self.before
            if not known and often[block] == 1:
                self.new += 1
                self.expected += 1 - (1 - self.rate(len(self.now))) \
                    * (1 - self.rate(len(self.before)))
            self.now.add(block)
            if self.second.read(block, time):
                continue
            if self.at < len(self.moved) and self.moved[self.at] == block:
                self.at += 1
                self.false += not known and often[block] == 1
                self.second.write(block, time)
            elif known:
                sys.exit('block %d was read before and has not moved' % block)
        self.asked += len(self.missing)
        self.in_period += len(self.missing)
        self.missing = []

    def run(self, trace):
        for time, block in enumerate(trace, 1):
            if self.all.read(block, time):
                self.all.hits += 1
            else:
                self.all.write(block, time)
            if self.second.read(block, time):
                self.second.hits += 1
            else:
                self.missing.append(block)
            if len(self.missing) == BATCH:
                self.ask(time)
        self.ask(len(trace))
        if self.at != len(self.moved):
            sys.exit('%d moved without a reason' % (len(self.moved) - self.at))
        print(self.all.hits, self.all.writes, self.second.hits,
              self.second.writes, self.asked, self.new, self.false,
              '%.9f' % (self.expected / max(self.new, 1)))


if len(sys.argv) == 3:
    make(int(sys.argv[1]), int(sys.argv[2]))
else:
    with open(sys.argv[1]) as text, open(sys.argv[2]) as moves:
        Replay([int(line) for line in moves], *map(int, sys.argv[3:])).run(
            [int(line) for line in text])
