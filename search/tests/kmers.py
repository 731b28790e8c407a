"""K-mers of FASTA and FASTQ files, counted exactly: the expected answers of
`bloomery index --by kmers=K` and `bloomery which --sequences`.

    kmers.py make SEED FOLDER       writes files and queries at random
    kmers.py compare K MIN SHARE QUERIES FILE... <OUT
                                    says what is wrong with the lines printed
"""
import gzip
import random
import sys
from collections import Counter

PAIR = dict(zip("ACGT", "TGCA"))


def records(path):
    """Yields the name and the bases of each record."""
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    lines = [line.rstrip("\r") for line in data.decode().split("\n")]
    if data.lstrip()[:1] == b"@":
        while not lines[-1]:
            lines.pop()
        lines += [""] * (-len(lines) % 4)   # the quality of an empty sequence
        for i in range(0, len(lines), 4):
            yield lines[i][1:].split(" ")[0], lines[i + 1]
        return
    name, bases = "", []
    for line in lines:
        if line.startswith(">"):
            yield name, "".join(bases)
            name, bases = line[1:].split(" ")[0], []
        else:
            bases.append(line)
    yield name, "".join(bases)


def kmers(bases, k):
    bases = bases.upper().replace("U", "T")
    for i in range(len(bases) - k + 1):
        kmer = bases[i:i + k]
        if set(kmer) <= set("ACGT"):
            yield min(kmer, "".join(PAIR[base] for base in reversed(kmer)))


def kept(path, k, least):
    counts = Counter(kmer for _, bases in records(path) for kmer in kmers(bases, k))
    return {kmer for kmer, n in counts.items() if n >= least}


def fold(rng, bases):
    """Changes some bases to lower case, U or N."""
    return "".join(rng.choice([b, b, b, b.lower(), b.replace("T", "U")])
                   if rng.random() < 0.05 else
                   rng.choice("NRY-") if rng.random() < 0.002 else b for b in bases)


def mutate(rng, bases, rate):
    return "".join(rng.choice("ACGT") if rng.random() < rate else b for b in bases)


def other(bases):
    return "".join(PAIR[b] for b in reversed(bases))


def fasta(rng, path, sequences):
    end = rng.choice(["\n", "\r\n"])
    with gzip.open(path, "wb") if path.endswith("gz") else open(path, "wb") as f:
        for i, bases in enumerate(sequences):
            wide = rng.choice([7, 60, len(bases) + 1])
            lines = [f">{path.split('/')[-1]}.{i} GATTACAGATTACAGATTACA"]
            lines += [bases[j:j + wide] for j in range(0, len(bases), wide)]
            lines += [""] * rng.choice([0, 0, 1])
            f.write((end.join(lines) + end).encode())


def fastq(rng, path, reads):
    end = rng.choice(["\n", "\r\n"])
    with gzip.open(path, "wb") if path.endswith("gz") else open(path, "wb") as f:
        text = end.join(end.join([
            f"@{path.split('/')[-1]}.{i} GATTACAGATTACAGATTACA", bases,
            "+" + rng.choice(["", "ACGTACGTACGTACGTACGTACGT"]),
            "".join(rng.choice("@>+ACGT") for _ in bases)])
            for i, bases in enumerate(reads))
        f.write((text + end * rng.randrange(3)).encode())


def make(seed, folder):
    rng = random.Random(seed)
    genomes = ["".join(rng.choices("ACGT", k=rng.choice([40, 500, 2000])))
               for _ in range(5)]
    genomes.append(mutate(rng, genomes[0], 0.01))
    some = []
    for i, genome in enumerate(genomes):
        suffix = rng.choice(["", ".gz"])
        cut = rng.randrange(len(genome))
        fasta(rng, f"{folder}/g{i}.fa{suffix}",
              [fold(rng, genome[:cut]), fold(rng, genome[cut:])])
        reads = []
        for _ in range(4 * len(genome) // 80):
            at = rng.randrange(len(genome))
            read = mutate(rng, genome[at:at + rng.choice([5, 80, 150])], 0.01)
            reads.append(fold(rng, rng.choice([read, other(read)])))
        fastq(rng, f"{folder}/r{i}.fq{suffix}", reads + [""])
        some += reads[:10]
    fastq(rng, f"{folder}/queries.fq", some + ["ACGT" * 40, "", "N" * 50])
    fasta(rng, f"{folder}/queries.fa", some + genomes)
    with open(f"{folder}/queries.fa", "a") as f:
        print(">strange\n" + "".join(rng.choices("ACGT", k=3000)), file=f)


def compare(k, least, share, queries, files):
    """Checks the lines on stdin. Returns what is wrong with them."""
    got = {}
    for line in sys.stdin:
        query, path, found, asked, part, chance = line.rstrip("\n").split("\t")
        found, asked, chance = int(found), int(asked), float(chance)
        if (query, path) in got or abs(found / asked - float(part)) > 6e-5:
            return f"printed twice, or another share: {line}"
        if found < share * asked - 1e-9 or found > asked:
            return f"too few or too many: {line}"
        got[query, path] = found, asked, chance
    there = {path: kept(path, k, least) for path in files}
    order = []
    for name, bases in records(queries):
        asked = set(kmers(bases, k))
        for path in sorted(files):
            found = len(asked & there[path])
            line = got.get((name, path))
            order += [(name, path)] * (line is not None)
            if line is None:
                if asked and found >= share * len(asked) - 1e-9:
                    return f"lost: {name} in {path}: {found} of {len(asked)}"
            elif line[1] != len(asked) or line[0] < found:
                return f"{name} in {path}: {line}, not {found} of {len(asked)}"
            elif name == "strange" and there[path] and found < len(asked):
                # Bits that are set, of 2.8 for each k-mer, and then k-mers.
                n, p = len(asked) - found, line[2] / line[1]
                if abs(line[0] - found - n * p) > 6 * n * (p * (1 - p) * (
                        1 / n + 1 / (2.8 * len(there[path])))) ** 0.5:
                    return f"not what chance gives in {path}: {line}"
    return None if order == list(got) else "in another order"


def main():
    what, *rest = sys.argv[1:]
    if what == "make":
        return make(int(rest[0]), rest[1])
    return compare(int(rest[0]), int(rest[1]), float(rest[2]), rest[3], rest[4:])


sys.exit(main())
