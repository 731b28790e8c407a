"""trace.py - records which bytes of a filter a lookup reads, for each kind:
trace.py BUILD LIBRARY FILE, with the library that tools/make/pictures makes."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# The largest set is taken whose image has at most so many bytes.
MOST = {"buffered": 17000, "fuse": 27000, "ribbon": 13000}
MOST_ELSE = 3072
FEW = {"egh": 10}       # its size rises with the square of that
COUNTS = [24000, 9000, 2400, 2000, 1500, 1000, 700, 500, 300, 200, 100, 50, 10]
OPTIONS = {"egh": ["-H", "decimal"], "cascade": ["--without", "others"]}
LABELS = {"bloomier", "approximator", "spatial", "attenuated"}
SPECS = {"spatial": "spatial:areas=3", "floom": "floom:b=10",
         "egh": "egh:universe=1000000"}


class Read(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint32), ("bytes", ctypes.c_uint32)]


def known(kind, i):
    return str(i) if kind == "egh" else f"key-{i}"


def unknown(kind, i):
    return str(9999 - i) if kind == "egh" else f"other-{i}"


def build(program, kind, n):
    """The bytes of a filter of n keys; None if the kind has none."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        label = "\t1" if kind in LABELS else ""
        path.joinpath("keys").write_text(
            "".join(f"{known(kind, i)}{label}\n" for i in range(n)))
        path.joinpath("others").write_text(
            "".join(unknown(kind, i) + "\n" for i in range(4 * n)))
        words = ["-f", "1", "-l", "2"] if kind in LABELS else []
        done = subprocess.run(
            [program, "build", "-k", SPECS.get(kind, kind), "-n", str(n), "-p",
             "1%", *OPTIONS.get(kind, []), *words, "-o", "f.bly", "keys"],
            cwd=folder, stderr=subprocess.PIPE)
        if done.returncode != 0:
            return None
        return path.joinpath("f.bly").read_bytes()


def geometry(image):
    return [int.from_bytes(image[80 + 8 * i:88 + 8 * i], "little")
            for i in range(4)]


def look_up(library, key):
    """The answer, and the runs of bytes that were read after the header."""
    answer = library.trace_ask(key.encode(), len(key))
    reads = ctypes.cast(library.trace_reads(), ctypes.POINTER(Read))
    touched = set()
    for i in range(library.trace_count()):
        touched.update(range(reads[i].offset,
                             reads[i].offset + reads[i].bytes))
    runs = []
    for at in sorted(touched):
        if at < 128:
            continue
        if runs and sum(runs[-1]) == at:
            runs[-1][1] += 1
        else:
            runs.append([at, 1])
    return answer, runs


def trace(library, program, kind):
    for n in COUNTS:
        if n > FEW.get(kind, n):
            continue
        file = build(program, kind, n)
        if file is None or library.trace_open(file, len(file)) < 0:
            continue
        bytes_ = library.trace_bytes()
        if bytes_ <= MOST.get(kind, MOST_ELSE) or n == COUNTS[-1]:
            break
    else:
        raise SystemExit(f"{kind}: no filter")
    image = ctypes.string_at(library.trace_image(), bytes_)
    answer, there = look_up(library, known(kind, 7))
    if answer != 1:
        raise SystemExit(f"{kind}: a key is not found")
    absent = next(runs for i in range(1000)
                  for answer, runs in [look_up(library, unknown(kind, i))]
                  if answer == 0)
    ones = "" if bytes_ > MOST_ELSE else "".join(f"{min(15, word.bit_count() // 4):x}" for word in
                   (int.from_bytes(image[i:i + 8], "little")
                    for i in range(0, bytes_, 8)))
    return {"kind": kind, "keys": n, "bytes": bytes_,
            "geometry": geometry(image), "there": there, "absent": absent,
            "ones": ones}


def main(build_folder, library_path, out):
    os.environ["BLY_CPU"] = "portable"
    library = ctypes.CDLL(library_path)
    library.trace_reads.restype = ctypes.c_void_p
    library.trace_image.restype = ctypes.c_void_p
    library.trace_bytes.restype = ctypes.c_size_t
    program = pathlib.Path(build_folder).resolve() / "bloomery"
    kinds = json.loads(subprocess.run([program, "kinds", "--json"], check=True,
                                      capture_output=True).stdout)
    lines = [json.dumps(trace(library, program, kind["name"]),
                        separators=(",", ":")) for kind in kinds]
    pathlib.Path(out).write_text("[\n" + ",\n".join(lines) + "\n]\n")


main(*sys.argv[1:])
