"""The expected output of `bloomery dedup --by`, from its description alone.

    dedup-units.py make SEED DOCUMENTS >corpus.jsonl
    dedup-units.py want BY REMOVE OVERLAP [ANNOTATE] <corpus.jsonl >want.jsonl
    dedup-units.py same A B                             equal as JSON, line by line
"""
import json
import random
import re
import sys

from words import BLANK, words_of

WORDS = ("the of and a to in is you that it he was for on are as with his they "
         "I at be this have from or one had by word é naïve Straße 日本語 漢 "
         "\U0001f600 \"quoted\" back\\slash tab\there").split(" ")


def make(seed, count):
    rng = random.Random(seed)

    def line():
        if rng.random() < 0.03:
            return rng.choice(["", " ", "\t \t"])
        words = rng.choices(WORDS, k=rng.choice([1, 2, 3, 8, 20, 60]))
        return rng.choice(["", "", " "]) + rng.choice([" ", " ", "  "]).join(words)

    known = [line() for _ in range(40)]
    for number in range(count):
        lines = []
        for _ in range(rng.randrange(7)):
            one = rng.choice(known) if rng.random() < 0.5 else line()
            if rng.random() < 0.2:          # changed a little
                words = one.split(" ")
                words[rng.randrange(len(words))] = rng.choice(WORDS)
                one = " ".join(words)
            known.append(one)
            lines += [one] + [""] * rng.choice([0, 0, 1, 2])
        text = rng.choice(["\n", "\n", "\r\n"]).join(lines)
        document = {"id": number, "text": text, "more": ["text", {"text": 1}]}
        if rng.random() < 0.03:
            del document["text"]
        if rng.random() < 0.2:
            document = dict(reversed(document.items()))
        print(json.dumps(document, ensure_ascii=rng.random() < 0.5))


def parts(text, by):
    """The parts: (start and end of the key, start and end of all)."""
    found, apart = [], True
    for match in re.finditer(r"[^\n]*\n|[^\n]+$", text):
        line = match[0].removesuffix("\n")
        if not line.strip(BLANK):
            apart = True
        else:
            stop = match.start() + len(line.removesuffix("\r"))
            if apart or by != "paragraphs":
                found.append([match.start(), stop, 0, 0])
            found[-1][1] = stop
            apart = False
        if found:
            found[-1][3] = match.end()
    for i in range(1, len(found)):
        found[i][2] = found[i - 1][3]
    return found


def grams(line, n):
    words = words_of(line)
    return {tuple(words[i:i + n]) for i in range(len(words) - n + 1)}


def size(text):
    return len(text.encode("utf-8", "surrogatepass"))


def want(by, remove, overlap, annotate=None):
    seen = set()
    for line in sys.stdin:
        document = json.loads(line)
        text = document.get("text")
        if text is None:
            print(line, end="")
            continue
        shares, found = [], parts(text, by)
        for start, stop, _, _ in found:
            if by in ("lines", "paragraphs"):
                shares.append(float(text[start:stop] in seen))
                seen.add(text[start:stop])
            else:
                mine = grams(text[start:stop], int(by.split("=")[1]))
                shares.append(len(mine & seen) / len(mine) if mine else 0.0)
                seen |= mine
        most = overlap if by.startswith("ngrams") else 1.0
        gone = [share >= most for share in shares]
        if annotate:
            document[annotate] = [[part[0], part[1], float(f"{share:.4g}")]
                                  for part, share, out in zip(found, shares, gone)
                                  if out]
            print(json.dumps(document))
            continue
        sizes = [size(text[start:stop]) for start, stop, _, _ in found]
        known = sum(n for n, out in zip(sizes, gone) if out)
        if remove in ("documents", "both") and found \
           and known >= overlap * sum(sizes):
            continue
        if remove in ("parts", "both") and any(gone):
            if all(gone):
                continue
            rest = "".join(text[part[2]:part[3]]
                           for part, out in zip(found, gone) if not out)
            if gone[-1] and not text.endswith("\n"):
                rest = rest.rstrip("\r\n")
            document["text"] = rest
        print(json.dumps(document))


def same(one, other):
    with open(one, encoding="utf-8") as a, open(other, encoding="utf-8") as b:
        a, b = a.read().splitlines(), b.read().splitlines()
    for number, (x, y) in enumerate(zip(a, b), 1):
        if json.loads(x) != json.loads(y):
            sys.exit(f"line {number}: {x} is not {y}")
    if len(a) != len(b):
        sys.exit(f"{len(a)} lines are not {len(b)}")


def main(verb, *rest):
    if verb == "make":
        make(int(rest[0]), int(rest[1]))
    elif verb == "want":
        want(rest[0], rest[1], float(rest[2]), *rest[3:])
    else:
        same(*rest)


main(*sys.argv[1:])
