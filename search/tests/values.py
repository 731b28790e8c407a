"""Values of members and columns, found by a slow and exact program.

    values.py make SEED FOLDER
    values.py compare FOLDER COMMAND json|csv QUERIES

`make` writes files of JSON lines, CSV and TSV into FOLDER, some compressed and
some with broken lines, and the list of all their values. `compare` makes an index
of them with COMMAND and looks up some of the values, and values that no file has.
Each record with a value must lie in a part that is named. The number of other
parts must be within five standard deviations of what the rate allows. The counts
of broken and short lines must be exact.
"""
import gzip
import json
import math
import os
import random
import subprocess
import sys

BLOCK, RATE = 4096, 0.01
MEMBERS = ["trace_id", "user.id", "/user/id", "a,b"]
COLUMNS = ["id", "the name", 'say "x", y']


def string(rng):
    """Returns a string as JSON spells it, and as a key."""
    parts = [rng.choice("abcdefghij") for _ in range(rng.randint(0, 8))]
    text = "".join(parts)
    spelled = text
    for add, spells in (("\n", ["\\n"]), ('"', ['\\"', "\\u0022"]),
                        ("\u00e9", ["\u00e9", "\\u00e9", "\\u00E9"]),
                        ("\U0001f33c", ["\U0001f33c", "\\ud83c\\udf3c"]),
                        ("/", ["/", "\\/"]), ("\\", ["\\\\"]), (",", [","])):
        if rng.random() < 0.15:
            text += add
            spelled += rng.choice(spells)
    return '"' + spelled + '"', text


def value(rng):
    """Returns a value as JSON spells it, and its key or None."""
    kind = rng.randint(0, 11)
    if kind < 6:
        return string(rng)
    if kind < 9:
        number = rng.choice(["%d", "%d.0", "-%d", "%de2", "%d.50"])
        number = number % rng.randint(1, 10**6)
        return number, number
    return rng.choice([("null", None), ("true", "true"), ("[1,2]", None),
                       ('{"x":1}', None)])


def object_line(rng):
    """Returns a line, and its keys by member; None if it is broken."""
    if rng.random() < 0.05:
        return rng.choice(["oops", '{"trace_id":"cut', '{"trace_id":"x"} {}',
                           "[1]", '{"trace_id":01}', '{"a" 1}']), None
    members, keys = [], {}
    for name, spelled in (("trace_id", ['"trace_id"', '"tr\\u0061ce_id"']),
                          ("user.id", ['"user.id"']), ("a,b", ['"a,b"'])):
        if rng.random() < 0.8:
            text, key = value(rng)
            members.append(rng.choice(spelled) + ":" + text)
            if key is not None:
                keys[name] = key
    if rng.random() < 0.7:
        text, key = value(rng)
        members.append('"user": {"x":[{}],"id" :' + text + " }")
        if key is not None:
            keys["/user/id"] = key
    members.append('"message":"%s"' % ("m" * rng.randint(0, 200)))
    rng.shuffle(members)
    return "{" + ", ".join(members) + "}", keys


def quoted(text, must):
    if must or any(c in text for c in '",\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def row_line(rng, order, tsv):
    """Returns a row, and its keys by column; None if it is too short."""
    cells = [string(rng)[1] for _ in order]
    if tsv:
        cells = [cell.replace("\n", " ") for cell in cells]
    short = rng.random() < 0.05
    keys = {} if short else None
    if short:
        cells = cells[:rng.randint(1, len(cells) - 1)]
        while cells[0] == "":
            cells[0] = string(rng)[1].replace("\n", " ")
    keys = {name: cell for name, cell in zip(order, cells)
            if name in COLUMNS}
    text = "\t".join(cells) if tsv else ",".join(
        quoted(cell, rng.random() < 0.2) for cell in cells)
    return text, keys, len(cells) < max(order.index(c) for c in COLUMNS) + 1


def write(path, data):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "wb") as out:
        out.write(data)
    os.utime(path, (1577836800, 1577836800))


def make_json(rng, folder, facts):
    for i in range(6):
        end = rng.choice(["\n", "\r\n"])
        name = "log%d.jsonl%s" % (i, rng.choice(["", ".gz"]))
        data = b"\xef\xbb\xbf" if i == 0 else b""
        for _ in range(rng.randint(0, 150)):
            line, keys = object_line(rng)
            facts["json"]["faults"] += keys is None
            for member, key in (keys or {}).items():
                facts["json"]["values"].append([member, key, name, len(data)])
            data += (line + end).encode()
        write(os.path.join(folder, "json", name),
              data[:-len(end)] if i % 2 and data else data)


def make_csv(rng, folder, facts):
    for i in range(6):
        tsv = i % 3 == 2
        end = rng.choice(["\n", "\r\n"])
        name = "table%d.%s%s" % (i, "tsv" if tsv else "csv",
                                 rng.choice(["", ".gz"]))
        order = COLUMNS + ["other", "more"]
        rng.shuffle(order)
        head = "\t".join(order) if tsv else ",".join(
            quoted(c, False) for c in order)
        data = (b"\xef\xbb\xbf" if i == 0 else b"") + (head + end).encode()
        for _ in range(rng.randint(0, 150)):
            line, keys, short = row_line(rng, order, tsv)
            facts["csv"]["faults"] += short
            for column, key in keys.items():
                facts["csv"]["values"].append([column, key, name, len(data)])
            data += (line + end).encode()
        write(os.path.join(folder, "csv", name), data)


def make(seed, folder):
    rng = random.Random(int(seed))
    facts = {kind: {"faults": 0, "values": []} for kind in ("json", "csv")}
    for kind in facts:
        os.makedirs(os.path.join(folder, kind))
    make_json(rng, folder, facts)
    make_csv(rng, folder, facts)
    with open(os.path.join(folder, "facts"), "w", encoding="utf-8") as out:
        json.dump(facts, out)


def listed(names):
    return ",".join('"' + name.replace('"', '""') + '"'
                    if '"' in name or "," in name else name for name in names)


def named(command, index, query):
    """Returns the parts that `which` names."""
    done = subprocess.run([command, "which", "--json", index, "--field", query],
                          capture_output=True, check=False)
    if done.returncode > 1 or done.stderr:
        sys.exit("%r: status %d, %r" % (query, done.returncode, done.stderr))
    return [(os.path.basename(p["file"]), p["offset"], p["bytes"])
            for p in json.loads(done.stdout)]


def compare(folder, command, kind, queries):
    with open(os.path.join(folder, "facts"), encoding="utf-8") as text:
        facts = json.load(text)[kind]
    names = MEMBERS if kind == "json" else COLUMNS
    rule = ("json-field=" if kind == "json" else "column=") + listed(names)
    index = os.path.join(folder, kind + ".blx")
    done = subprocess.run([command, "index", "-q", "--json", "-o", index, "-b",
                           str(BLOCK), "-p", str(RATE), "--by", rule, "-r",
                           os.path.join(folder, kind)],
                          capture_output=True, check=True)
    report = json.loads(done.stdout)
    faults = report["not_objects" if kind == "json" else "too_short"]
    if faults != facts["faults"]:
        sys.exit("%d faults, not %d" % (faults, facts["faults"]))
    rng = random.Random(7)
    asked = [v[:2] for v in rng.choices(facts["values"], k=int(queries))]
    asked += [[rng.choice(names), "none%d" % i] for i in range(int(queries))]
    wrong = 0
    for name, key in asked:
        parts = named(command, index, name + "=" + key)
        there = {(file, at) for member, value, file, at in facts["values"]
                 if (member, value) == (name, key)}
        for file, at in there:
            if not any(f == file and o <= at < o + n for f, o, n in parts):
                sys.exit("missed: %r of %r at %s:%d" % (key, name, file, at))
        wrong += sum(not any(f == file and o <= at < o + n for file, at in there)
                     for f, o, n in parts)
    tries = len(asked) * report["documents"]
    if wrong > RATE * tries + 5 * math.sqrt(RATE * tries):
        sys.exit("%d of %d parts are named wrongly" % (wrong, tries))


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])
