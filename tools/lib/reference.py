"""Generates the parts of docs/reference that come from help texts and headers.

`run` runs a program of the build with arguments, and returns its output.
"""
import glob
import json
import math
import os
import re
import subprocess
import tempfile


def groups(text):
    """Yields the heading and the indented lines of each group of a help text."""
    for heading, lines in re.findall(r"(?m)^([A-Z][^\n]*):\n((?:  .*\n)+)", text):
        if not heading.startswith(("Examples", "Options", "Topics")):
            yield heading, lines


def rows(lines):
    """Yields each term of a group with its text."""
    for term, text in re.findall(r"(?m)^  (\S.*?)  +(\S.*(?:\n {8,}\S.*)*)", lines):
        yield term, " ".join(text.split())


def commands(run):
    """Returns a table of commands for each group of the help."""
    parts = []
    for heading, lines in groups(run("--help")):
        parts += [f"\n## {heading}\n\n| command | what it does |\n|---|---|\n"]
        parts += [f"| `{name}` | {text} |\n" for name, text in rows(lines)]
    return "".join(parts) + "\n"


def options(run):
    """Returns a table of all options with the commands that take each. An option
    that has a letter in some commands only gets a row for each spelling."""
    names = [name for _, lines in groups(run("--help")) for name, _ in rows(lines)]
    taken = {}
    for name in names:
        found = re.findall(
            r"(?m)^  (?:(-\w), |    )(--[\w-]+)(?: (\S+(?: \S+)*))?(?:  .*)?$",
            run(name, "--help"))
        for short, long, value in found:
            values, by = taken.setdefault((long, short), ([], []))
            values.append(value)
            by.append(name)
    table = ["| option | commands |\n|---|---|\n"]
    for (long, short), (values, by) in sorted(taken.items()):
        shown = [f"`{short}`"] if short else []
        value = max(sorted(values), key=values.count)
        shown.append(f"`{long} {value}`" if value else f"`{long}`")
        which = "all" if len(by) == len(names) else ", ".join(by)
        table.append(f"| {', '.join(shown)} | {which} |\n".replace("|`", "\\|`"))
    return "".join(table)


def statuses(run):
    """Returns a table of what the exit status of each command means."""
    table = ["| command | status |\n|---|---|\n"]
    for heading, lines in groups(run("help", "exit-status")):
        if heading == "Commands":
            table += [f"| `{name}` | {text} |\n" for name, text in rows(lines)]
    return "".join(table)


def page(path):
    """Returns the header, the functions and the summary of a page of section 3,
    or None for a page that refers to another or is not about functions."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\\(.)", r"\1", file.read())
    name = re.search(r"\.SH NAME\n(.*) - (.*)", text)
    header = re.search(r"#include <(.*)>\n\.PP", text)
    return (header[1], name[1].split(", "), name[2]) if name and header else None


def sections(header):
    """Returns the summary of a header, and a list of its functions, each with
    the heading before it."""
    for folder in "include", "search", "similar", "programs/redis":
        if os.path.exists(f"{folder}/{header}"):
            path = f"{folder}/{header}"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    summary = " ".join(re.match(r"/\* \S+ - ((?:.|\n)+?)\n \*(?:/|\n)",
                                text)[1].replace("\n *", "").split())
    found, heading = [], None
    for title, function in re.findall(
            r"(?m)^/\* ==== (.*?) =+|^BLY_(?:API|INLINE) [^;{]*?(bly_\w+) *\(",
            text):
        heading = title or heading
        if function:
            found.append((function, heading))
    return path, summary, found


def plain(text):
    """Returns a text without marks of Markdown."""
    return re.sub(r"([*<|])", r"\\\1", text)


def functions(_):
    """Returns tables of the public functions, by header and section."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tools/make/man3", folder], check=True)
        pages = [page(os.path.join(folder, name)) for name in os.listdir(folder)]
    known = {}
    for header, names, summary in filter(None, pages):
        known.setdefault(header, {})[names[0]] = names, summary
    parts = []
    for header in sorted(known, key=lambda name: ("/" in name, name)):
        path, summary, found = sections(header)
        parts.append(f"\n## {os.path.basename(header)}: {summary.rstrip('.')}\n")
        heading = ""
        for name, title in found:
            if name not in known[header]:
                continue
            title = title if "/" not in header else None
            if title != heading:
                heading = title
                parts.append("\n" + (f"### {title}\n\n" if title else "")
                             + f"| [`<{header}>`](../../{path}) | what they do |\n"
                             "|---|---|\n")
            names, text = known[header].pop(name)
            shown = ", ".join(f"`{name}`" for name in names)
            parts.append(f"| {shown} | {plain(text)} |\n")
    return "".join(parts) + "\n"


def rates(_):
    """Returns a table of the rates of Bloom filters, by bits per key and probes.
    """
    probes = 1, 2, 3, 4, 6, 8, 12, 16
    table = ["| m/n | best k | its rate | "
             + " | ".join(f"k = {k}" for k in probes) + " |\n",
             "|--:|--:|--:|" + "--:|" * len(probes) + "\n"]
    for bits in range(2, 33):
        rate = {k: (-math.expm1(-k / bits)) ** k for k in range(1, 32)}
        best = min(rate, key=rate.get)
        cells = [bits, best] + [f"{rate[k] * 100:.2g} %" for k in (best, *probes)]
        table.append("| " + " | ".join(map(str, cells)) + " |\n")
    return "".join(table)


def overhead_of(plan, rate):
    """Returns a cell with the bits per key of a plan above log2(1/rate), as a
    share of it, or a dash if the kind does not keep the rate."""
    if plan.get("rate", 1) > 1.000001 * rate:
        return "–"
    share = 100 * (plan["bits_per_key"] / math.log2(1 / rate) - 1)
    return f"{share:.1f}" if share < 99.95 else f"{share:.0f}"


def overhead(run):
    """Returns a table for each number of keys, of the overhead of all kinds over
    the least possible bits per key, by the requested rate."""
    rates = "1", "0.7", "0.5", "0.3", "0.1", "0.01", "0.0001", "0.000001"
    parts = []
    for keys in 10**3, 10**5, 10**7, 10**8:
        cells = {}
        for percent in rates:
            for plan in json.loads(run("plan", "--all", "--json", "-n", str(keys),
                                       "-p", percent + "%")):
                cells.setdefault(plan["kind"], []).append(
                    overhead_of(plan, float(percent) / 100))
        parts.append(f"\n### {keys:,} keys\n\n| kind | "
                     + " | ".join(f"{rate} %" for rate in rates) + " |\n|---|"
                     + "--:|" * len(rates) + "\n")
        parts += [f"| `{kind}` | {' | '.join(row)} |\n"
                  for kind, row in cells.items() if set(row) != {"–"}]
    return "".join(parts) + "\n"


# The slots whose functions choose a body by the processor, by what they end in.
JOBS = {"contains_here": "key by key", "contains_many": "batches",
        "get_many": "labels", "add_many": "adds", "add_each": "adds",
        "remove_many": "removals", "count_many": "counts"}
LEVELS = ["avx512", "avx2", "vector4", "neon"]
ORDER = [job + only for job in dict.fromkeys(JOBS.values())
         for only in ("", " (NEON)")]


def levels_of(name, parts, seen):
    """Returns the levels of vectors that a function or a macro can come to, in
    its file. Those of a body for one level are not looked at."""
    seen.add(name)
    found = {"avx2" if level.startswith("bmi") else level for level in
             re.findall(r"_(avx512|avx2|bmi2?|neon)(?:_\w*)?\b", parts[name])}
    if "CPU_VECTOR4" in parts[name]:
        found.add("vector4")
    for other in set(re.findall(r"\b\w+\b", parts[name])) & parts.keys() - seen:
        if not re.search(r"_(avx512|avx2|bmi2?|neon)\b", other):
            found |= levels_of(other, parts, seen)
    return found


def choosers(text):
    """Yields each function of a slot, its job, and its levels of vectors."""
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    parts = dict(re.findall(r"(?ms)^(?:[A-Za-z][^\n;#]*?\b)?([a-z]\w*)\([^;{}]*\)\n"
                            r"\{\n(.*?)^\}", text))
    for name, body in re.findall(r"(?m)^#define (\w+)\([^)]*\)((?:.*\\\n)*.*)", text):
        parts[name] = parts.get(name, "") + body
    for name in list(parts):
        for end, job in JOBS.items():
            levels = levels_of(name, parts, set()) if name.endswith("_" + end) else ()
            if levels:
                yield name, job, levels


def kinds_of(path, name):
    """Returns the kinds that a function of a file belongs to: those that name
    it, if the file is a part of several."""
    parts = path[:-2].split("/")
    if parts[1] == "kinds":
        return [parts[3]]
    found = []
    for kind in sorted(glob.glob("src/kinds/*/*.c")):
        with open(kind, encoding="utf-8") as file:
            if re.search(rf"\b{name}\b", file.read()):
                found.append(os.path.basename(kind)[:-2])
    return found


def bodies(run):
    """Returns the table of kinds with vector instructions, from the functions
    that choose among them."""
    found = {}
    for path in sorted(glob.glob("src/kinds/**/*.c", recursive=True)
                       + glob.glob("src/bodies/*.c")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name, job, levels in choosers(text):
            for kind in kinds_of(path, name):
                for level in levels:
                    found.setdefault(kind, {}).setdefault(level, set()).add(job)
    rows = ["| kind | AVX-512 | AVX2, BMI2 | SSE2, NEON, WebAssembly |",
            "|---|---|---|---|"]
    for kind, jobs in sorted(found.items()):
        jobs["vector4"] = jobs.get("vector4", set()) | {
            job + " (NEON)" for job in jobs.get("neon", ())}
        cells = [", ".join(sorted(jobs.get(level, ()), key=ORDER.index))
                 for level in LEVELS[:3]]
        rows.append("| " + " | ".join([f"`{kind}`"] + cells) + " |")
    return "\n".join(rows) + "\n"


PARTS = {"commands": commands, "options": options, "statuses": statuses,
         "functions": functions, "rates": rates, "overhead": overhead,
         "bodies": bodies}
