"""names.py - looks for the names of bindings/names.md in every binding.

surfaces.py calls check() with the build folder. Missing bindings are skipped.
Every name of the table must exist, be it as a function, a method, an aggregate,
a command or an option.
"""
import inspect
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = ["C", "C++", "Python", "SQLite", "PostgreSQL", "JavaScript",
             "Rust", "Go", "Redis", "command"]

SCRIPT = """
const { pathToFileURL } = await import("node:url");
const bloomery = await import(pathToFileURL(process.argv[1]).href);
const own = (object) => Object.getOwnPropertyNames(object);
console.log(JSON.stringify({ module: own(bloomery),
    static: own(bloomery.Filter), method: own(bloomery.Filter.prototype) }));
"""


def rows():
    """Yields the purpose and the names of each operation."""
    table = (ROOT / "bindings/names.md").read_text()
    table = re.search(r"(?s)names begin -->\n(.*?)<!-- names end", table)[1]
    for row in table.splitlines()[2:]:
        purpose, *names = [cell.strip() for cell in row.strip()[1:-1].split("|")]
        yield purpose, [name.strip("`") for name in names]


def text(*globs):
    """Returns the contents of files of the tree."""
    return "\n".join(path.read_text() for glob in globs
                     for path in sorted(ROOT.glob(glob)))


def c():
    """Returns a test for a function, or for a member of a struct."""
    headers = text("include/*.h", "include/bloomery/*.h")
    def there(name):
        if name.isupper():
            return re.search(rf"\b{name}\b", headers)
        struct, _, member = name.partition(".")
        if member:
            return re.search(rf"(?s)typedef struct {{[^}}]*\b{member}\b[^}}]*}} "
                             rf"{struct};", headers)
        return re.search(rf"\b{name} *\(", headers)
    return there


def cpp():
    """Returns a test for a class, a method or a function."""
    header = text("include/bloomery.hpp")
    def there(name):
        if name.isupper():
            return c()(name)
        last = name.rpartition("::")[2]
        return re.search(rf"\bclass {name} {{|\b{last}\(", header)
    return there


def python():
    """Returns a test for a function, a method or an argument."""
    try:
        import bloomery
    except ImportError:
        return None
    arguments = {*inspect.signature(bloomery.Filter).parameters,
                 *inspect.signature(bloomery.Filter.open).parameters}
    def there(name):
        if name.partition("=")[0] in arguments:
            return True
        last = name.rpartition(".")[2]
        return hasattr(bloomery.Filter, last) or hasattr(bloomery, last)
    return there


def sqlite(build):
    """Returns a test for a function or a limit of SQLite."""
    library = build / "bloomery_sqlite.so"
    if not library.exists():
        return None
    base = sqlite3.connect(":memory:")
    base.enable_load_extension(True)
    base.load_extension(str(library.with_suffix("")))
    known = {name for (name,) in base.execute(
        "SELECT name FROM pragma_function_list "
        "UNION SELECT name FROM pragma_module_list")}
    return lambda name: name in known or hasattr(sqlite3, name)


def postgresql():
    """Returns a test for a function or an aggregate."""
    script = text("bindings/postgresql/bloomery--*.sql")
    return lambda name: re.search(rf"CREATE (FUNCTION|AGGREGATE) {name}\(",
                                  script)


def javascript(build):
    """Returns a test for a function, a method, or an option of one."""
    module = build / "wasm" / "bloomery.js"
    if not module.exists() or shutil.which("node") is None:
        return None
    out = subprocess.run(["node", "--no-warnings", "--input-type=module", "-e",
                          SCRIPT, str(module)], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    known = json.loads(out)
    types = text("bindings/wasm/bloomery.d.ts")
    def there(name):
        if name.startswith("Filter."):
            return name[7:] in known["static"]
        if name == "new Filter":
            return "Filter" in known["module"]
        return (name in known["method"] or name in known["module"]
                or re.search(rf"(?m)^    {name}\?:", types))
    return there


def rust():
    """Returns a test for a public function or method."""
    source = text("bindings/rust/bloomery/src/*.rs")
    return lambda name: re.search(
        rf"\bpub (unsafe )?fn {name.rpartition('::')[2]}\b", source)


def go():
    """Returns a test for a function or a method of Go."""
    module = text("bindings/go/*.go")
    return lambda name: re.search(rf"(?m)^func (\(f \*Filter\) )?{name}\(",
                                  module)


def redis(build):
    """Returns a test for a command of the module."""
    program = build / "redis-commands"
    if not program.exists():
        return None
    known = set(re.findall(r"(?m)^\| `([A-Z.]+)`", subprocess.run(
        [str(program)], check=True, text=True, stdout=subprocess.PIPE).stdout))
    return lambda name: name in known


def command(build):
    """Returns a test for a subcommand or an option."""
    def run(*words):
        return subprocess.run([str(build / "bloomery"), *words], text=True,
                              check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    def there(name):
        words = name.split()
        if words[0] == "bloomery" and words[1] == "--version":
            return run("--version").returncode == 0
        verb = words[1] if words[0] == "bloomery" else "query"
        told = run(verb, "--help")
        return told.returncode == 0 and all(
            re.search(rf"(?m)(^| ){word}\b", told.stdout)
            for word in words if word.startswith("-"))
    return there


def check(build):
    """Yields "" for each name that is there, and a line for each that is not."""
    tests = dict(zip(LANGUAGES, [
        c(), cpp(), python(), sqlite(build), postgresql(), javascript(build),
        rust(), go(), redis(build), command(build)]))
    for language, there in tests.items():
        for _, names in rows():
            name = names[LANGUAGES.index(language)]
            if there is not None and name:
                yield "" if there(name) else f"{language} has no {name}"
