"""exact.py MOLECULES QUERIES: RDKit's exact results for some molecules of its own
list, and for parts of them.

Writes library.smi and query.smi, in RDKit's spelling; hits, which queries are in
which molecules, found atom by atom; and RDKit's own fingerprints of molecules and
queries: rdkit.fps of paths, pattern.fps, which are for parts, and ecfp2.fps,
circular ones; rdkit-query.fps and so on.
"""
import itertools
import os
import sys

from rdkit import Chem, DataStructs, RDConfig, RDLogger
from rdkit.Chem import rdMolDescriptors
from rdkit.Chem.Scaffolds import MurckoScaffold

# Functional groups and rings that chemists search for.
KNOWN = """C CC CCC C1CC1 CO CCO C=O CC(=O)O COC(C)=O CN C#N N=N N(=O)=O [O-][N+]=O
c1ccccc1 c1ccncc1 c1ccsc1 c1ccoc1 c1ccc2ccccc2c1 O=C1C=CC(=O)C=C1 NC=O NS(=O)=O S(=O)=O
CCl CBr CI CF FC(F)F ClC(Cl)Cl C1CCCCC1 C1CCCC1 C1CCNCC1 C1COCCN1 c1ccc(cc1)-c1ccccc1
c1ncnc2[nH]cnc12 NN SS CS C=C C#C C=CC=C OP=O [Si] [Hg] C1CCC2C(C1)CCC1C2CCC2CCCC12"""


def molecules(most):
    path = os.path.join(RDConfig.RDDataDir, "NCI", "first_5K.smi")
    with open(path) as file:
        read = (Chem.MolFromSmiles(line.split()[0]) for line in file)
        yield from itertools.islice((m for m in read if m is not None), most)


def written(all_):
    """Returns molecules as they are when read back, with their text."""
    for molecule in all_:
        text = Chem.MolToSmiles(molecule)
        again = Chem.MolFromSmiles(text)
        if again is not None and again.GetNumAtoms() > 0:
            yield text, again


def parts(library, most):
    """Returns the known groups, and rings of various molecules."""
    known = (Chem.MolFromSmiles(text) for text in KNOWN.split())
    of_some = (MurckoScaffold.GetScaffoldForMol(molecule) for _, molecule in
               library[::max(1, len(library) // most)])
    seen = dict(written(itertools.chain((m for m in known if m), of_some)))
    return list(seen.items())[:most]


def fps(path, kind, rows):
    with open(path, "w") as file:
        file.write("#FPS1\n#num_bits=2048\n#type=%s\n" % kind)
        for i, row in enumerate(rows, 1):
            file.write("%s\t%d\n" % (DataStructs.BitVectToFPSText(row), i))


def main():
    RDLogger.DisableLog("rdApp.*")
    library = list(written(molecules(int(sys.argv[1]))))
    queries = parts(library, int(sys.argv[2]))
    for name, some in (("library", library), ("query", queries)):
        with open(name + ".smi", "w") as file:
            for i, (text, _) in enumerate(some, 1):
                file.write("%s %d\n" % (text, i))
    with open("hits", "w") as file:
        for i, (_, query) in enumerate(queries, 1):
            for j, (_, molecule) in enumerate(library, 1):
                if molecule.HasSubstructMatch(query):
                    file.write("%d\t%d\n" % (i, j))
    kinds = {
        "rdkit": Chem.RDKFingerprint, "pattern": Chem.PatternFingerprint,
        "ecfp2": lambda molecule:
            rdMolDescriptors.GetMorganFingerprintAsBitVect(molecule, 1, 2048),
    }
    for kind, make in kinds.items():
        for name, some in (("", library), ("-query", queries)):
            fps(kind + name + ".fps", kind, (make(m) for _, m in some))


main()
