"""python_api.py - writes the page about every call of the Python package, from
the docstrings of its modules.

    python_api.py --write|--check PAGE

The text of PAGE up to the line "<!-- python-api begin -->" is written by hand.
--check prints a line if the rest is not current; exit status 1. The modules are
read, not imported, so nothing needs to be built. A docstring's paragraph of
arguments, "items: the number …. rate: …", becomes a list.
"""
import ast
import difflib
import inspect
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "bindings" / "python" / "src" / "bloomery"
BEGIN = "<!-- python-api begin -->\n"
RETURNS = {"_Bools": "array of bools", "_Numbers": "array of integers",
           "_F": "Filter", "Union[int, _T, None]": "int, or the default",
           "_T": "the result"}
HEADINGS = {"The whole": "The whole filter", "Costs": "Plans and advice"}


def banners(lines):
    """Returns the headings of a module's sections, by their lines."""
    found = re.compile(r" *# ---- (.*?) -*$")
    return [(i + 1, found.match(line)[1]) for i, line in enumerate(lines)
            if found.match(line)]


def decorated(node, name):
    return any(ast.unparse(d) == name for d in node.decorator_list)


def signature(node, name):
    """Returns a call as documents write it, without annotations."""
    args = node.args
    for every in (args.posonlyargs, args.args, args.kwonlyargs):
        for arg in every:
            arg.annotation = None
    for rest in args.vararg, args.kwarg:
        if rest is not None:
            rest.annotation = None
    text = ast.unparse(args)
    text = re.sub(r"^(self|cls)(, )?", "", text).replace("/, ", "")
    text = text.replace("_keys.CHUNK", "4096")
    returns = ast.unparse(node.returns) if node.returns else "None"
    for of, said in RETURNS.items():
        returns = returns.replace(of, said)
    return wrapped(f"{name}({text}) -> {returns}")


def wrapped(text):
    """Breaks a call that is wider than the page at its commas."""
    lines, at = [], text.index("(") + 1
    while len(text) > 80:
        cut = text.rindex(", ", 0, 80) + 1
        lines.append(text[:cut])
        text = " " * at + text[cut + 1:]
    return "\n".join([*lines, text])


NAME = re.compile(
    r"(?<![\w`.])((?:\w+\.)*\w+\(\)(?:\.\w+)*|f\[key\]|f [|&-]=? other"
    r"|\w*_\w+|\w+=(?:\"[^\"]*\"|\w+)|[A-Z]\w+Error)(?![\w`])"
    r"|(`[^`]*`|\"[^\"]*\")")


def marked(text):
    """Sets names of the program in backquotes, except within quotes."""
    return NAME.sub(lambda m: m[2] or f"`{m[1]}`", text)


def listed(text, names):
    """Returns a paragraph of arguments as a list; None: it is another one."""
    word = "|".join(map(re.escape, names))
    begins = re.compile(rf"(?:^|(?<=[.;] ))((?:{word})(?:, (?:{word}))*): ")
    if not names or not begins.match(text):
        return None
    _, *parts = begins.split(text)
    items = []
    for words, said in zip(parts[::2], parts[1::2]):
        words = ", ".join(f"`{w}`" for w in words.split(", "))
        items.append(filled(f"- {words}: {marked(said.strip())}", "  "))
    return "\n".join(items)


def filled(text, indent=""):
    lines = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= 80:
            lines[-1] += " " + word
        else:
            lines.append((indent if lines else "") + word)
    return "\n".join(lines)


def described(node, names=()):
    """Returns a docstring as Markdown."""
    out = []
    for part in inspect.cleandoc(ast.get_docstring(node)).split("\n\n"):
        if part.startswith(">>>"):
            out.append(f"```python\n{part}\n\n```")
            continue
        text = " ".join(part.split())
        out.append(listed(text, names) or filled(marked(text)))
    return "\n\n".join(out)


def arguments(node):
    args = node.args
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs,
                            args.vararg, args.kwarg) if a is not None]


def a_call(node, prefix=""):
    name = prefix + node.name
    if decorated(node, "property"):
        returns = ast.unparse(node.returns)
        return f"```text\n{name} -> {returns}\n```\n\n{described(node)}"
    return f"```text\n{signature(node, name)}\n```\n\n" \
        f"{described(node, arguments(node))}"


def a_record(node):
    fields = [f"`{line.target.id}`" for line in node.body
              if isinstance(line, ast.AnnAssign)]
    return f"{described(node)}\n\n{filled('Fields: ' + ', '.join(fields) + '.')}"


def public(nodes):
    return [n for n in nodes if isinstance(n, (
        ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not n.name.startswith("_") and not decorated(n, "overload")]


def the_filter(node, sections):
    """Returns the class Filter, its calls under the headings of the source."""
    init = next(n for n in node.body if getattr(n, "name", "") == "__init__")
    out = [f"```text\n{signature(init, 'Filter')[:-len(' -> None')]}\n```",
           described(node, arguments(init))]
    heads = [s for s in sections if node.lineno < s[0] < node.end_lineno]
    for i, (line, title) in enumerate(heads):
        end = heads[i + 1][0] if i + 1 < len(heads) else node.end_lineno + 1
        out.append(f"## {HEADINGS.get(title, title)}")
        for member in public(node.body):
            if line < member.lineno < end:
                of = "Filter." if decorated(member, "classmethod") else "f."
                out += [f"### Filter.{member.name}", a_call(member, of)]
    return out


def the_package():
    text = (SOURCE / "__init__.py").read_text()
    facts = (SOURCE / "_facts.py").read_text()
    sections = banners(text.splitlines())
    exported = set(ast.literal_eval(re.search(
        r"^__all__ = (\[.*?\])", text, re.M | re.S)[1])) | {"hash"}
    out, rest, records = [], [], []
    for node in public([*ast.parse(text).body, *ast.parse(facts).body]):
        if node.name not in exported:
            continue
        if node.name == "Filter":
            out += ["## Filter", *the_filter(node, sections)]
        elif isinstance(node, ast.ClassDef):
            records += [f"### {node.name}", a_record(node)]
        else:
            rest += [f"### {node.name}", a_call(node)]
    return [*out, "## Functions", *rest, "## Records", *records]


def the_errors():
    """Returns a table of the exceptions."""
    rows = ["| class | also a | when |", "|---|---|---|"]
    for node in public(ast.parse((SOURCE / "_errors.py").read_text()).body):
        if not isinstance(node, ast.ClassDef):
            continue
        also = ", ".join(f"`{ast.unparse(b)}`" for b in node.bases
                         if ast.unparse(b) != "Error")
        when = marked(" ".join(ast.get_docstring(node).split()))
        rows.append(f"| `{node.name}` | {also} | {when} |")
    return ["## Errors", "\n".join(rows)]


def the_loop():
    module = ast.parse((SOURCE / "aio.py").read_text())
    calls = [f"### aio.{node.name}\n\n{a_call(node, 'aio.')}"
             for node in public(module.body)]
    return ["## asyncio", described(module), *calls]


def page(old):
    head, begin, _ = old.partition(BEGIN)
    if not begin:
        raise SystemExit(f"python_api.py: the page has no line {BEGIN.strip()}")
    return head + begin + "\n" + "\n\n".join(
        [*the_package(), *the_errors(), *the_loop()]) + "\n"


def main(how, path):
    path = pathlib.Path(path)
    old = path.read_text()
    new = page(old)
    if how == "--write":
        path.write_text(new)
    elif new != old:
        changed = next(line for line in difflib.unified_diff(
            old.splitlines(), new.splitlines(), lineterm="", n=0)
            if line[0] in "-+" and line[:3] not in ("---", "+++"))
        print(f"{path.name} is not current (tools/make/python-api --write): "
              f"{changed}")
        raise SystemExit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
