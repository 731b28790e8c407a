"""The expected output of `bloomery dedup --similar`, from its description alone.

    dedup-similar.py make SEED DOCUMENTS LEAST >corpus.jsonl
    dedup-similar.py pairs BY <corpus.jsonl >pairs
    dedup-similar.py want SHARE KNOWN corpus.jsonl pairs    what is printed
    dedup-similar.py exact SHARE corpus.jsonl pairs OUT     judges an exact run
    dedup-similar.py filter SHARE corpus.jsonl pairs OUT    one by a filter
    dedup-similar.py notes SHARE corpus.jsonl pairs OUT MEMBER  the annotations
    dedup-similar.py shape SHARE FOUND MOST                 the bands

OUT has the lines of the corpus that were printed. `pairs` has all pairs of
documents with anything in common, found by an inverted index.
"""
import json
import math
import random
import sys
from collections import Counter, defaultdict

from words import BLANK, words_of


# ---- The corpus ---------------------------------------------------------------

def edit(rng, words, likeness, fresh):
    """Changes words so that about this share of the 5-grams stays the same."""
    grams = len(words) - 4
    lost = grams * (1 - likeness) / (1 + likeness)
    words = list(words)
    if lost < 1:
        return words
    if rng.random() < 0.5:              # words here and there
        for _ in range(max(1, round(lost / 5))):
            words[rng.randrange(len(words))] = fresh()
    else:                               # a run of words
        run = max(1, round(lost) - 4)
        at = rng.randrange(max(1, len(words) - run))
        words[at:at + run] = [fresh() for _ in range(run)]
    return words


def make(seed, count, least):
    """Groups of documents: mostly one and a changed one, some of up to six. Half
    of the changed ones have a similarity from `least` to 1, half from 0.95. If
    `least` is that, too, documents are long, and all in a group are similar."""
    sure = least >= 0.95
    ends = [" ", " ", " ", "\n", "\r\n", "\n\n"]
    rng = random.Random(seed)
    common = [f"wörd{i}" for i in range(4000)] + ["漢字", "\"quoted\""]

    def fresh():
        return rng.choice(common)

    documents = []
    while len(documents) < count:
        size = round(math.exp(rng.uniform(math.log(250 if sure else 5),
                                          math.log(400))))
        if not sure and rng.random() < 0.02:
            size = rng.randrange(5)
        first = [fresh() for _ in range(size)]
        group = [first]
        for _ in range(rng.choice([1] * 12 + [0, 0, 2, 5])):
            likeness = rng.uniform(rng.choice([least, 0.95]), 1)
            base = first if sure else rng.choice(group)
            group.append(edit(rng, base, likeness, fresh) if size > 4 else base)
        at = len(documents) - rng.randrange(min(len(documents), 40) + 1)
        documents[at:at] = group
    for number, words in enumerate(documents[:count]):
        text = "".join(word + ends[sum(map(ord, word)) % 6] for word in words)
        text = text.rstrip() if rng.random() < 0.5 else text
        document = {"id": number, "text": text}
        if rng.random() < 0.01:
            del document["text"]
        print(json.dumps(document, ensure_ascii=rng.random() < 0.5))


# ---- All pairs ----------------------------------------------------------------

def elements(text, by):
    if by == "lines":
        lines = (line.removesuffix("\r") for line in text.split("\n"))
        found = {line for line in lines if line.strip(BLANK)}
    elif by == "paragraphs":
        found, lines = set(), []
        for line in text.split("\n") + [""]:
            if line.strip(BLANK):
                lines.append(line)
            elif lines:
                found.add("\n".join(lines).removesuffix("\r"))
                lines = []
    else:
        n = int(by.split("=")[1])
        words = words_of(text)
        found = {tuple(words[i:i + n]) for i in range(len(words) - n + 1)}
    return found or {text}


def pairs(by):
    index, sizes = defaultdict(list), []
    for number, line in enumerate(sys.stdin):
        document = json.loads(line)
        mine = elements(document["text"], by) if "text" in document else set()
        common = Counter(other for one in mine for other in index[one])
        for other, both in common.items():
            print(number, other, both, len(mine) + sizes[other] - both)
        for one in mine:
            index[one].append(number)
        sizes.append(len(mine))


def read_pairs(name):
    similar = defaultdict(list)
    with open(name, encoding="utf-8") as lines:
        for line in lines:
            number, other, both, either = map(int, line.split())
            similar[number].append((other, both / either))
    return similar


# ---- Judging ------------------------------------------------------------------

def greedy(similar, share, count, known=0):
    """The documents that the description removes, if the first are known."""
    removed = set()
    for number in range(known, count):
        if any(s >= share and other not in removed
               for other, s in similar[number]):
            removed.add(number)
    return removed


def want(share, known, corpus, pairs_file):
    with open(corpus, encoding="utf-8") as lines:
        documents = lines.readlines()
    removed = greedy(read_pairs(pairs_file), share, len(documents), known)
    for number in range(known, len(documents)):
        if number not in removed:
            print(documents[number], end="")


def shape(share, found, most):
    for rows in range(most, 0, -1):
        band = share ** rows
        bands = 1 if band == 1 else math.ceil(math.log1p(-found)
                                              / math.log1p(-band))
        if bands * rows <= most:
            return bands, rows


def read_out(corpus, out):
    """The number of documents, and those that were not printed."""
    with open(corpus, encoding="utf-8") as lines:
        all_lines = lines.read().splitlines()
    with open(out, encoding="utf-8") as lines:
        printed = lines.read().splitlines()
    numbers = [json.loads(line)["id"] for line in printed]
    assert numbers == sorted(set(numbers)), "not in order"
    for number, line in zip(numbers, printed):
        assert line == all_lines[number], f"changed: {line}"
    return len(all_lines), set(range(len(all_lines))) - set(numbers)


def groups(similar, share, count):
    """Documents that are connected by similar pairs, with those pairs."""
    parent = list(range(count))

    def root(one):
        while parent[one] != one:
            one = parent[one]
        return one

    found = defaultdict(list)
    edges = [(number, other, s) for number in similar
             for other, s in similar[number] if s >= share]
    for number, other, _ in edges:
        parent[root(number)] = root(other)
    for number, _, s in edges:
        found[root(number)].append(s)
    return Counter(root(one) for one in range(count)), found


def chance(similar, share, count, most):
    """A bound of the chance that more than `most` documents are decided wrongly.

    Nothing in a group is wrong unless a similar pair of it is missed, whose
    chance is (1 - s^rows)^bands, and then at most all but the first document
    are. Groups share no n-grams, so they are independent, and Chernoff's bound
    holds for the sum."""
    bands, rows = shape(share, 0.99, 128)
    sizes, found = groups(similar, share, count)
    missed = [(sizes[one] - 1, min(1, sum((1 - s ** rows) ** bands
                                          for s in likes)))
              for one, likes in found.items()]
    logs = (sum(q * math.expm1(theta * n) for n, q in missed) - theta * most
            for theta in (x / 20 for x in range(1, 100)))
    return math.exp(min(0, min(logs)))


def judge_exact(share, corpus, pairs_file, out):
    similar = read_pairs(pairs_file)
    count, removed = read_out(corpus, out)
    for number in removed:
        assert any(s >= share and other not in removed
                   for other, s in similar[number]), f"{number} is not similar"
    right = greedy(similar, share, count)
    wrong, most = len(removed ^ right), 0.01 * (len(removed) + len(right))
    odds = chance(similar, share, count, most)
    f1 = 1 - wrong / (len(removed) + len(right))
    print(f"removed {len(removed)}, F1 {f1:.5f}, chance of failure {odds:.1e}")
    assert odds < 1e-9, "too few documents for a sure test"
    assert wrong <= most, f"F1 is {f1}"


def judge_filter(share, corpus, pairs_file, out):
    """The documents removed are those expected of pairs that stand alone, within
    six standard deviations."""
    similar = read_pairs(pairs_file)
    count, removed = read_out(corpus, out)
    bands, rows = shape(share, 0.5, 256)
    degree = Counter(one for number in similar for other, _ in similar[number]
                     for one in (number, other))
    mean = variance = got = 0
    for number in range(count):
        if degree[number] == 0:
            mean += 1e-3
            got += number in removed
        for other, s in similar[number]:
            if degree[number] == degree[other] == 1:
                p = 1 - (1 - s ** rows) ** bands
                mean += p
                variance += p * (1 - p)
                got += number in removed
    print(f"removed {got} of the lone pairs, expected {mean:.1f}, "
          f"{(got - mean) / math.sqrt(variance + mean * 1e-3 + 1):.1f} sigma")
    assert abs(got - mean) <= 6 * math.sqrt(variance + mean * 1e-3 + 1)


def judge_notes(share, corpus, pairs_file, out, member):
    """Each annotation is true, and the others are the lines of the corpus."""
    similar = read_pairs(pairs_file)
    with open(corpus, encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    with open(out, encoding="utf-8") as lines:
        printed = [json.loads(line) for line in lines]
    assert len(printed) == len(documents)
    noted = [document.pop(member, None) for document in printed]
    assert printed == documents
    gone = {number for number, note in enumerate(noted) if note}
    missed = 0
    for number, note in enumerate(noted):
        kept = {other: s for other, s in similar[number] if other not in gone}
        assert (note is None) == ("text" not in documents[number])
        if note:
            line, told = note
            assert told == float(f"{kept[line - 1]:.4g}") and told >= share
        best = max(kept.values(), default=0)
        missed += best >= share and (not note or note[1] < float(f"{best:.4g}"))
    print(f"noted {len(gone)}, a more similar one was missed {missed} times")
    assert missed <= max(10, 0.02 * len(gone))


def main(verb, *rest):
    if verb == "make":
        make(int(rest[0]), int(rest[1]), float(rest[2]))
    elif verb == "pairs":
        pairs(rest[0])
    elif verb == "want":
        want(float(rest[0]), int(rest[1]), *rest[2:])
    elif verb == "shape":
        print(*shape(float(rest[0]), float(rest[1]), int(rest[2])))
    else:
        {"exact": judge_exact, "filter": judge_filter,
         "notes": judge_notes}[verb](float(rest[0]), *rest[1:])


main(*sys.argv[1:])
