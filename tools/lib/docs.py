"""Generates pages of the book, and parts of them: see tools/make/docs.

A page of docs/choosing has, for each kind of its families, the first sections
of the essay at the head of the kind's file, and what BUILD/bloomery prints
about the kind. A page of docs/format/kinds about another system's format has
these, and the sections about its bytes.
"""
import csv
import glob
import json
import os
import re
import subprocess
import sys
import textwrap

import reference

PAGES = {
    "sets": (["sets"], "Sets that grow",
             "Keys can be added to these kinds at any time, but never "
             "removed."),
    "removable": (["removable"], "Sets with removal",
                  "Keys can be added to these kinds and removed again; most "
                  "kinds also count repeats. Remove only keys that were added: "
                  "[Removing keys](../guide/removing-keys.md) explains why."),
    "frozen": (["frozen"], "Frozen sets",
               "These kinds are built from all keys at once and cannot be "
               "changed afterwards. In return, they are the smallest."),
    "special": (["forgetting", "labelled", "exact"],
                "Streams, labels and exact answers",
                "`stable` forgets old keys of an endless stream. `bloomier`, "
                "`approximator` and `spatial` store a number with each key. "
                "`egh` has no false positives, and `invertible` lists how two "
                "sets differ."),
    "compound": (["compound"], "Kinds made of kinds",
                 "Each of these kinds is made of filters of another kind, which "
                 "the option `of` selects in most of them."),
}
RANGE = 25              # the most characters of values that are shown
SECTIONS = ["WHAT IT IS", "WHEN TO USE IT", "WHEN NOT TO", "COST"]
UNSHOWN = ["BUILD", "PAPERS"]             # on pages of formats


def run(*arguments, program="bloomery"):
    """Returns what a program prints."""
    return subprocess.run([os.path.join(BUILD, program), *arguments], check=True,
                          text=True, stdout=subprocess.PIPE).stdout


def fill(text, later=""):
    """Returns a text in lines of at most 80 columns."""
    lines = textwrap.wrap(text, 80, subsequent_indent=later,
                          break_long_words=False, break_on_hyphens=False)
    for line in lines[1:]:
        if re.match(r"([-+*#>]|\d+[.)]) ", line.lstrip()):
            raise ValueError("would begin a list: " + line)
    return "\n".join(lines)


def essay(path):
    """Returns the lines of each section of the essay at the head of a file."""
    sections, heading = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(" */"):
                return sections
            text = re.sub(r"^ \* ?", "", line.rstrip())
            if re.match(r"[A-Z][A-Z ]+( \(.*)?$", text):
                heading = text.split(" (")[0]
                sections[heading] = []
            elif heading:
                sections[heading].append(text)
    raise ValueError(path + ": the essay has no end")


def blocks(lines):
    """Yields the paragraphs, lists and indented blocks of a section. A blank
    line between indented lines belongs to their block."""
    found = []
    for part in "\n".join(lines).strip("\n").split("\n\n"):
        if found and part.startswith(" ") and found[-1].startswith(" "):
            found[-1] += "\n\n" + part
        else:
            found.append(part)
    for block in found:
        if block.startswith("- "):
            yield "\n".join(fill(" ".join(item.split()), "  ")
                            for item in re.split(r"\n(?=- )", block))
        elif block.startswith(" "):
            yield "```text\n" + textwrap.dedent(block) + "\n```"
        else:
            yield fill(" ".join(block.split()))


def section(heading, lines):
    """Returns a section as Markdown that begins with its heading in bold."""
    first, *others = blocks(lines)
    lead = heading.capitalize()
    if first.startswith(("- ", "```")):
        parts = [f"**{lead}:**\n{first}"]
    else:
        parts = [fill(f"**{lead}.** " + " ".join(first.split()))]
    return "\n\n".join(parts + others)


def source(name):
    """Returns the path of a kind's file."""
    paths = (glob.glob(f"src/kinds/*/{name}.c")
             + glob.glob(f"src/kinds/*/{name}/{name}.c"))
    return paths[0]


def option(row):
    """Returns an option as an item of a list, without long or huge values."""
    values = "=" + row["range"]
    if len(values) > RANGE or re.search(r"\d{9}", values):
        values = ""
    default = "" if row["default"] == "chosen" else f"; default {row['default']}"
    return fill(f"- `{row['name']}{values}`: {row['help']}{default}", "  ")


def about(kind):
    """Returns the paragraphs about a kind, and its options."""
    tier = {"core": "A core kind. ", "more": "A kind for rarer needs. ",
            "experimental": "Experimental: its format may still change. ",
            }[kind["tier"]]
    if kind["family"] == "foreign":
        tier = f"Written by {kind['writer']}. "
    sections = essay(source(kind["name"]))
    facts = f"{tier}Abilities: {', '.join(kind['abilities'])}."
    also = ", ".join(f"`{a['name']}`" for a in kind["aliases"])
    if also:
        facts += f" Also called {also}."
    parts = [section(heading, sections[heading]) for heading in SECTIONS]
    if kind["options"]:
        parts.append("\n".join(["**Options:**",
                                *(option(row) for row in kind["options"])]))
    parts.append(fill(facts))
    return parts


def half_page(kind):
    """Returns the half page about a kind."""
    name = kind["name"]
    head = f"## {name}"
    if os.path.exists(f"docs/pictures/kinds/{name}.svg"):
        head += f"\n![The layout of {name}](../pictures/kinds/{name}.svg)"
    return "\n\n".join([head, *about(kind)])


def page(name, kinds):
    """Returns a page of docs/choosing."""
    families, title, text = PAGES[name]
    parts = [f"# {title}",
             "<!-- Generated by tools/make/docs from the essays in "
             + ", ".join(f"src/kinds/{family}" for family in families) + " -->",
             fill(text + " `bloomery kinds NAME` prints the options with all "
                  "their values.")]
    parts += [half_page(kind) for family in families
              for kind in kinds if kind["family"] == family]
    return "\n\n".join(parts) + "\n"


def format_page(kind):
    """Returns the page of docs/format/kinds about another system's format."""
    name = kind["name"]
    parts = [f"# The format {name}",
             f"<!-- Generated by tools/make/docs from {source(name)} -->",
             *about(kind)]
    for heading, lines in essay(source(name)).items():
        if heading not in [*SECTIONS, *UNSHOWN]:
            parts += ["## " + heading.capitalize(), *blocks(lines)]
    return "\n\n".join(parts) + "\n"


def link(name, folder):
    """Returns the name of a kind as a link from a folder: to its half page, or
    to the page of a format."""
    path = os.path.relpath(f"docs/format/kinds/{name}.md", folder)
    for family_page, (families, _, _) in PAGES.items():
        if source(name).split("/")[2] in families:
            path = os.path.relpath(f"docs/choosing/{family_page}.md", folder)
            path += "#" + name
    return f"[`{name}`]({path})"


def formats(folder):
    """Returns the table of other systems' formats, with links."""
    return re.sub(r"(?m)^\| `(\w+)`", lambda row: "| " + link(row[1], folder),
                  run("formats", "--markdown"))


def comparison(folder):
    """Returns the table that compares the core kinds. A cascade is planned for a
    hundred other keys per member."""
    verbs = ["add", "remove", "count", "unite"]
    rows = ["| kind | what it is | bits per key at 1 % | at 0.1 % "
            "| cache lines, present key | absent key | " + " | ".join(verbs)
            + " | grow |",
            "|---|---|--:|--:|--:|--:|" + "---|" * (len(verbs) + 1)]
    for kind in KINDS:
        if kind["tier"] != "core":
            continue
        name, can = kind["name"], kind["abilities"]
        spec = name + (":others=100000000" if name == "cascade" else "")
        plans = [json.loads(run("plan", "-k", spec, "-n", "1M", "-p", rate,
                                "--json")) for rate in ("1%", "0.1%")]
        cells = [link(name, folder), kind["summary"]]
        cells += [f"{plan['bits_per_key']:.1f}" for plan in plans]
        cells += [f"{plans[0][key]:.1f}"
                  for key in ("lines_present", "lines_absent")]
        cells += ["yes" if verb in can else "" for verb in verbs]
        cells.append("yes" if "grow" in can or "resize" in can else "")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def names():
    """Returns the table of the names of each operation, from names.h."""
    with open("src/base/names.h", encoding="utf-8") as file:
        rows = re.findall(r"X\(([^()]*)\)", file.read().split("NAMES_TABLE", 1)[1])
    out = ["| operation | C | C++ | Python | SQLite | PostgreSQL | JavaScript "
           "| Rust | Go | Redis | command |", "|---" * 11 + "|"]
    for row in rows:
        purpose, *each = re.findall(r'"([^"]*)"', row)
        cells = [purpose] + [f"`{name}`" if name else "" for name in each]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def speeds():
    """Returns the rows of the measurements."""
    with open("docs/pictures/speed.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def speed(folder):
    """Returns the table of the command's times beside those of other tools."""
    rows = ["| job | tool | seconds |", "|---|---|--:|"]
    rows += [f"| {row['job']} | `{row['tool']}` | {row['value']} |"
             for row in speeds() if row["unit"] == "s"]
    return "\n".join(rows) + "\n"


def unmeasured():
    """Yields each time in a text about speed that was not measured."""
    known = {(row["value"], row["unit"]) for row in speeds()}
    for path, heading, pattern in TIMES:
        with open(path, encoding="utf-8") as file:
            text = re.search(rf"(?ms)^{heading}\n.*?(?=^## |\Z)", file.read())[0]
        found = re.findall(pattern, text)
        if not found:
            yield f"{path}: no time after '{heading}'"
        for time in found:
            value, unit = time if isinstance(time, tuple) else (time, "ns")
            if (value, unit) not in known:
                yield (f"{path}: {value} {unit} is not in "
                       "docs/pictures/speed.csv")


# Texts with times: the page, the heading, and how a time is written. In the
# second, only the lookups of `blocked` and its peer.
TIMES = [
    ("README.md", "## Speed", r"\b(\d[\d.]*)\s(n?s)\b"),
    ("docs/reference/performance.md", "## Where a peer is ahead",
     r"(?m)^\| (?:Boost's `[^`]*`|`blocked`) \| ([\d.]+) \|"),
]
PARTS = {
    "comparison": comparison,
    "formats": formats,
    "speed": speed,
    "names": lambda folder: names(),
    "redis": lambda folder: run(program="redis-commands"),
    "serve": lambda folder: "```text\n" + re.search(
        r"(?s)Options:.*", run("serve", "--help"))[0] + "```\n",
    **{name: lambda folder, make=make: make(run)
       for name, make in reference.PARTS.items()},
}


def fresh(path):
    """Returns the text of a page with its generated parts made anew."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return re.sub(r"(?ms)^(<!-- (\w+) begin -->\n).*?^(<!-- \2 end -->)$",
                  lambda part: part[1] + PARTS[part[2]](os.path.dirname(path))
                  + part[3], text)


def main():
    """Writes or checks all of them; returns the exit status."""
    pages = {f"docs/choosing/{name}.md": page(name, KINDS) for name in PAGES}
    for kind in json.loads(run("formats", "--json")):
        pages[f"docs/format/kinds/{kind['name']}.md"] = format_page(kind)
    for path in ["README.md", "bindings/names.md",
                 *sorted(glob.glob("docs/**/*.md", recursive=True))]:
        if path not in pages:
            pages[path] = fresh(path)
    stale = 0
    for path, text in pages.items():
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    continue
        if MODE == "--write":
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            print(f"docs: wrote {path}")
        else:
            print(f"docs: {path} is not current: run make docs")
            stale = 1
    for fault in unmeasured():
        print(f"docs: {fault}")
        stale = 1
    return stale


MODE, BUILD = sys.argv[1:]
KINDS = json.loads(run("kinds", "--json"))
sys.exit(main())
