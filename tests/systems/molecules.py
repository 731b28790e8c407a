"""molecules.py - RDKit: `bloomery similar` finds, among the fingerprints of
molecules that RDKit has made and written, the rows that RDKit itself finds most
similar, with the same similarity, to the last bit of the number.

    molecules.py BLOOMERY

The molecules are RDKit's own list. Its fingerprints are circular ones, 2048
bits, and the MACCS keys, 167 bits, of which many rows are equally similar.
(The name of this file is none that RDKit imports.)
"""
import itertools
import json
import os
import subprocess
import sys

from rdkit import Chem, DataStructs, RDConfig, RDLogger
from rdkit.Chem import MACCSkeys, rdMolDescriptors

MOLECULES, QUERIES, ROWS = 2000, 50, 10

# Weights of few bits: nothing is rounded before the division.
MEASURES = {
    "tanimoto": DataStructs.BulkTanimotoSimilarity,
    "dice": DataStructs.BulkDiceSimilarity,
    "tversky=0.75,0.25": lambda query, rows:
        DataStructs.BulkTverskySimilarity(query, rows, 0.75, 0.25),
}


def molecules():
    RDLogger.DisableLog("rdApp.*")
    path = os.path.join(RDConfig.RDDataDir, "NCI", "first_5K.smi")
    with open(path) as file:
        read = (Chem.MolFromSmiles(line.split()[0]) for line in file)
        whole = (molecule for molecule in read if molecule is not None)
        return list(itertools.islice(whole, MOLECULES))


def write(path, kind, rows):
    with open(path, "w") as file:
        file.write("#FPS1\n#num_bits=%d\n#type=%s\n"
                   % (rows[0].GetNumBits(), kind))
        for i, row in enumerate(rows):
            file.write("%s\t%d\n" % (DataStructs.BitVectToFPSText(row), i))


def ask(bloomery, *options):
    said = subprocess.run([bloomery, "similar", "--json", *options, "queries",
                           "library"], stdout=subprocess.PIPE)
    return [[(int(row["id"]), row["similarity"]) for row in answer["rows"]]
            for answer in json.loads(said.stdout)]


def same(what, ours, theirs):
    if ours == theirs:
        return
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            sys.exit("not ok - RDKit: %s of query %d: it has %s and we have %s"
                     % (what, i, b, a))
    sys.exit("not ok - RDKit: %s: %d answers to %d queries"
             % (what, len(ours), len(theirs)))


def first(similarities, least=0):
    """Returns the most similar rows; ties keep their order."""
    best = sorted(enumerate(similarities), key=lambda row: -row[1])[:ROWS]
    return [row for row in best if row[1] >= least]


def compare(bloomery, kind, rows):
    queries = rows[::len(rows) // QUERIES]
    write("queries", kind, queries)
    write("library", kind, rows)
    for measure, bulk in MEASURES.items():
        theirs = [bulk(query, rows) for query in queries]
        same("%s by %s" % (kind, measure),
             ask(bloomery, "--rows", str(ROWS), "--measure", measure),
             [first(all) for all in theirs])
        same("%s by %s, half" % (kind, measure),
             ask(bloomery, "--rows", str(ROWS), "--measure", measure,
                 "--threshold", "0.5"),
             [first(all, 0.5) for all in theirs])
    inside = [[i for i, row in enumerate(rows)
               if DataStructs.AllProbeBitsMatch(query, row)]
              for query in queries]
    same("%s within" % kind,
         [sorted(i for i, _ in answer) for answer in ask(bloomery, "--superset")],
         inside)


def main():
    all = molecules()
    compare(sys.argv[1], "morgan",
            [rdMolDescriptors.GetMorganFingerprintAsBitVect(molecule, 2, 2048)
             for molecule in all])
    compare(sys.argv[1], "maccs",
            [MACCSkeys.GenMACCSKeys(molecule) for molecule in all])
    print("ok - RDKit: the same rows and similarities of %d queries in %d "
          "molecules" % (QUERIES, len(all)))


main()
