"""surfaces.py - filters built by one interface, queried through every other.

    surfaces.py --check|--write PAGE BUILD [PSQL...]

BUILD has the command and the results of `make bindings WHAT=python`, and so on
for sqlite, wasm, rust and go; PSQL is a command for a database with the extension. Missing
interfaces are skipped. Each interface builds a filter from four keys of a class,
as its users would write them, and all interfaces look these keys up. An answer
must be "found" or an error: "no" for a key that was added fails. The keys of the
class NULL are not keys, so they are never found. All interfaces must also show
the same fields of a filter, with the same values, and have the names of
bindings/names.md (names.py).

The answers are in a table of PAGE, docs/reference/surfaces.md: --write replaces
it, and --check fails if an answer differs from it. Prints a line for each
failure, and "N passed, N failed".
"""
import base64
import datetime
from decimal import Decimal
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

import names

FOUND, ERROR, NO = "found", "error", "no"

CLASSES = {
    "text": ["apple", "pear tree", "O'Hara", "Z"],
    "numbers as text": ["7", "007", "-1", "1.5"],
    "integers": [7, -1, 2147483648, 9007199254740993],
    "floats equal to integers": [7.0, -1.0, 1000.0, 2147483648.0],
    "numbers beyond doubles": [Decimal("1e400"), Decimal("-1e400"),
                               Decimal("1e-400"), Decimal("1e30")],
    "bytes": [b"\x00\x01", b"\xff\xfe", b"abc", b"\x80"],
    "dates": [datetime.date(2026, 11, 26), datetime.date(1970, 1, 1),
              datetime.date(2000, 2, 29), datetime.date(1999, 12, 31)],
    "UUIDs": [uuid.UUID(int=n * 0x0123456789abcdef0123456789abcd)
              for n in (1, 2, 3, 5)],
    "empty": ["", "", "", ""],
    "NULL": [None, None, None, None],
    "non-ASCII": ["Ärger", "日本", "é", "🌱"],
}


def written(key):
    """Returns the key as a person writes it."""
    if isinstance(key, bytes):
        return key.hex()
    return key.isoformat() if isinstance(key, datetime.date) else str(key)


def raw(key):
    """Returns the key as a protocol carries it."""
    return key if isinstance(key, bytes) else written(key).encode()


class Surface:
    """Builds filters from keys, and queries keys. An exception is an error."""
    def __init__(self, folder):
        self.folder = folder

    def build_all(self, jobs):
        """jobs: {class: keys}. Returns {class: image, or None}."""
        return {name: self.attempt(self.build, keys)
                for name, keys in jobs.items()}

    def query_all(self, jobs):
        """jobs: [(image, key)]. Returns an answer for each."""
        return [self.attempt(self.query, image, key) or ERROR
                for image, key in jobs]

    def attempt(self, verb, *arguments):
        try:
            return verb(*arguments)
        except Refused:
            return None

    def info(self, image):
        """Returns the fields of a filter that apply; None: the surface has no
        such call, or another test compares its fields."""
        return None

    def file(self, image):
        path = self.folder / "f.bly"
        path.write_bytes(image)
        return str(path)

    def end(self):
        pass


class Refused(Exception):
    pass


# ---- The command and serve ----------------------------------------------------

class Command(Surface):
    title = "command"

    def __init__(self, folder, build):
        super().__init__(folder)
        self.program = str(build / "bloomery")

    def options(self, key):
        if isinstance(key, bytes):      # lines cannot hold all bytes
            raise Refused
        return []

    def run(self, words, lines):
        if None in lines:
            raise Refused
        text = "".join(written(key) + "\n" for key in lines)
        done = subprocess.run([self.program, *words], input=text.encode(),
                              capture_output=True, check=False)
        if done.returncode > 1:
            raise Refused
        return done.returncode

    def build(self, keys):
        path = self.folder / "built.bly"
        self.run(["build", "--force", "-o", str(path), "-n", "4",
                  *self.options(keys[0]), "-"], keys)
        return path.read_bytes()

    def query(self, image, key):
        status = self.run(["query", *self.options(key), self.file(image)],
                          [key])
        return NO if status else FOUND


    def info(self, image):
        done = subprocess.run([self.program, "info", "--json",
                               self.file(image)], capture_output=True,
                              check=True)
        return {name: value for name, value in json.loads(done.stdout).items()
                if name != "file"}

    def made(self, *words, lines=b"a\nb\n"):
        """Returns the image that `bloomery build` makes."""
        return subprocess.run([self.program, "build", "-o-", *words, "-"],
                              input=lines, capture_output=True,
                              check=True).stdout


class CommandAs(Command):
    title = "command, --as"

    def info(self, image):
        return None

    def options(self, key):
        if isinstance(key, (int, float, Decimal)):
            return ["--as", "number"]
        return ["--as", "hex"] if isinstance(key, (bytes, uuid.UUID)) else []


class Serve(Surface):
    title = "serve"

    def __init__(self, folder, build):
        super().__init__(folder)
        self.program = str(build / "bloomery")

    def build_all(self, jobs):
        return {}

    def query(self, image, key):
        if key is None:
            raise Refused
        words = urllib.parse.quote(raw(key), safe="")
        done = subprocess.run(
            [self.program, "serve", "--protocol", "tcp_table",
             self.file(image)], input=f"get {words}\n", text=True,
            capture_output=True, check=True)
        return {"200": FOUND, "500": NO, "400": ERROR}[done.stdout[:3]]


# ---- Python and SQLite --------------------------------------------------------

class Python(Surface):
    title = "Python"

    def build(self, keys):
        from bloomery import Filter
        try:
            image = bytes(Filter.build("standard", keys, items=4))
        except (TypeError, ValueError) as error:
            raise Refused from error
        return image

    def query(self, image, key):
        from bloomery import Filter
        try:
            there = key in Filter.open(self.file(image))
            return FOUND if there else NO
        except (TypeError, ValueError) as error:
            raise Refused from error


    def info(self, image):
        from bloomery import Filter
        info = vars(Filter.open(self.file(image)).info())
        text = json.dumps({name: value for name, value in info.items()
                           if value is not None})
        return json.loads(text, parse_constant=lambda infinity: None)


class Sqlite(Surface):
    title = "SQLite"

    def __init__(self, folder, build):
        super().__init__(folder)
        self.base = sqlite3.connect(":memory:")
        self.base.enable_load_extension(True)
        self.base.load_extension(str(build / "bloomery_sqlite"))
        self.base.execute("CREATE TABLE keys(k)")

    @staticmethod
    def value(key):
        if isinstance(key, Decimal):
            return float(key)           # as SQLite reads a literal of it
        plain = key is None or isinstance(key, (str, int, float, bytes))
        return key if plain else written(key)

    def build(self, keys):
        self.base.execute("DELETE FROM keys")
        self.base.executemany("INSERT INTO keys VALUES (?)",
                              [(self.value(key),) for key in keys])
        return self.ask("SELECT bloomery_build(k, 'standard', 0.01, 4) "
                        "FROM keys")

    def query(self, image, key):
        found = self.ask("SELECT bloomery_contains(?, ?)", image,
                         self.value(key))
        return FOUND if found else NO

    def info(self, image):
        return json.loads(self.ask("SELECT bloomery_info(?)", image))

    def ask(self, text, *values):
        try:
            return self.base.execute(text, values).fetchone()[0]
        except sqlite3.Error as error:
            raise Refused from error


# ---- PostgreSQL ---------------------------------------------------------------

class Postgresql(Surface):
    title = "PostgreSQL"

    def __init__(self, folder, psql):
        super().__init__(folder)
        self.psql = psql

    @staticmethod
    def typed(key):
        if key is None:
            return "NULL::text"
        kind = {str: "text", int: "bigint", float: "float8", bytes: "bytea",
                Decimal: "numeric",
                datetime.date: "date", uuid.UUID: "uuid"}[type(key)]
        return f"{Postgresql.literal(key)}::{kind}"

    @staticmethod
    def literal(key):
        if key is None:
            return "NULL"
        text = "\\x" + key.hex() if isinstance(key, bytes) else written(key)
        return "'" + text.replace("'", "''") + "'"

    def run(self, statements):
        """Returns each statement's output, or None if it failed."""
        script = "".join(f"\\echo @@\n{one};\n" for one in statements)
        done = subprocess.run(
            [*self.psql, "-XAtq", "-v", "ON_ERROR_STOP=0", "-f", "-"],
            input=script, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=True)
        answers = done.stdout.split("@@\n")[1:]
        assert len(answers) == len(statements), done.stdout[:500]
        return [None if "ERROR:" in one else one.strip() for one in answers]

    def build_all(self, jobs):
        answers = self.run([
            "SELECT encode(bloomery_build(k, 'standard', 0.01, 4)::bytea, 'hex')"
            " FROM (VALUES " + ", ".join(f"({self.typed(key)})"
                                         for key in keys) + ") AS v(k)"
            for keys in jobs.values()])
        return {name: bytes.fromhex(one) if one is not None else None
                for name, one in zip(jobs, answers)}

    def query_all(self, jobs):
        answers = self.run([
            f"SELECT bloomery('\\x{image.hex()}'::bytea) @> {self.key(key)}"
            for image, key in jobs])
        return [ERROR if one is None else FOUND if one == "t" else NO
                for one in answers]

    def info(self, image):
        return json.loads(self.run([
            f"SELECT bloomery_info(bloomery('\\x{image.hex()}'::bytea))"])[0])

    def key(self, key):
        return self.typed(key)


class PostgresqlUntyped(Postgresql):
    title = "PostgreSQL, untyped"

    def info(self, image):
        return None

    def build_all(self, jobs):
        return {}

    def key(self, key):
        return self.literal(key)


# ---- JavaScript ---------------------------------------------------------------

class Javascript(Surface):
    title = "JavaScript"
    program = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const { load, Filter } = await import(pathToFileURL(process.argv[2]).href);
await load();
const value = ([type, text]) => type === "bytes" ? Buffer.from(text, "base64")
    : type === "integer" ? (Number.isSafeInteger(Number(text)) ? Number(text)
                                                               : BigInt(text))
    : type === "float" ? Number(text)
    : type === "date" ? new Date(text) : type === "null" ? null : text;
const attempt = (verb) => {
    try { return verb(); } catch { return "error"; }
};
const jobs = JSON.parse(readFileSync(0, "utf8"));
const field = (_, v) => typeof v === "bigint" ? { big: `${v}` } : v;
const snake = (name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
console.log(JSON.stringify(jobs.map(({ keys, image, info }) => attempt(() => {
    if (info !== undefined)
        return Object.fromEntries(Object.entries(
            Filter.fromBytes(Buffer.from(info, "base64")).info()).map(
            ([name, v]) => [snake(name), v]));
    if (image === undefined)
        return Buffer.from(Filter.build("standard", keys.map(value),
                                        { items: 4 }).pack())
            .toString("base64");
    const filter = Filter.fromBytes(Buffer.from(image, "base64"));
    return filter.contains(value(keys[0])) ? "found" : "no";
})), field));
"""

    def __init__(self, folder, build):
        super().__init__(folder)
        self.module = str(build / "wasm" / "bloomery.js")
        (folder / "run.mjs").write_text(self.program)

    @staticmethod
    def value(key):
        if isinstance(key, bytes):
            return "bytes", base64.b64encode(key).decode()
        kind = {int: "integer", float: "float", Decimal: "float",
                datetime.date: "date",
                type(None): "null"}.get(type(key), "text")
        return kind, written(key)

    def run(self, jobs):
        done = subprocess.run(
            ["node", "--no-warnings", self.folder / "run.mjs", self.module],
            input=json.dumps(jobs), text=True, capture_output=True, check=True)
        return json.loads(done.stdout)

    def build_all(self, jobs):
        images = self.run([{"keys": [self.value(key) for key in keys]}
                           for keys in jobs.values()])
        return {name: None if one == "error" else base64.b64decode(one)
                for name, one in zip(jobs, images)}

    def query_all(self, jobs):
        return self.run([{"keys": [self.value(key)],
                          "image": base64.b64encode(image).decode()}
                         for image, key in jobs])

    def info(self, image):
        image = base64.b64encode(image).decode()
        return json.loads(json.dumps(self.run([{"info": image}])[0]),
                          object_hook=lambda o: int(o["big"]) if "big" in o
                          else o)


# ---- Rust and Go --------------------------------------------------------------

class Compiled(Surface):
    """A program that answers lines. `build KEY...` is answered by the image in
    hexadecimal digits, `query IMAGE KEY` by found or no, and both by error. A KEY
    is the first letter of its type and the value, in hexadecimal digits. Dates
    and UUIDs are written, as neither language has keys of these types."""
    def __init__(self, folder, build):
        super().__init__(folder)
        self.compile(folder, build)

    @staticmethod
    def key(key):
        if key is None:
            return "n"
        kind = {int: "i", float: "f", Decimal: "f", bytes: "b"}
        return kind.get(type(key), "t") + raw(
            key if isinstance(key, bytes) else written(key)).hex()

    def run(self, jobs):
        done = subprocess.run([self.folder / "run"], text=True, check=True,
                              input="".join(" ".join(job) + "\n"
                                            for job in jobs),
                              capture_output=True)
        return done.stdout.split()

    def build_all(self, jobs):
        images = self.run(["build", *map(self.key, keys)]
                          for keys in jobs.values())
        return {name: None if one == ERROR else bytes.fromhex(one)
                for name, one in zip(jobs, images)}

    def query_all(self, jobs):
        return self.run(["query", image.hex(), self.key(key)]
                        for image, key in jobs)


class Rust(Compiled):
    title = "Rust"
    program = """
use bloomery::{Filter, Key, Value};

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

enum Typed { Text(String), Bytes(Vec<u8>), Integer(i64), Real(f64) }

impl Key for Typed {
    fn value(&self) -> Value<'_> {
        match self {
            Typed::Text(key) => key.value(),
            Typed::Bytes(key) => key.value(),
            Typed::Integer(key) => key.value(),
            Typed::Real(key) => key.value(),
        }
    }
}

fn typed(key: &str) -> Option<Typed> {
    let value = bytes(&key[1..]);
    let text = || String::from_utf8(value.clone()).unwrap();
    Some(match &key[..1] {
        "t" => Typed::Text(text()),
        "b" => Typed::Bytes(value),
        "i" => Typed::Integer(text().parse().unwrap()),
        "f" => Typed::Real(text().parse().unwrap()),
        _ => return None,
    })
}

fn answer(job: &[&str]) -> Option<String> {
    if job[0] == "build" {
        let keys: Option<Vec<Typed>> = job[1..].iter().map(|key| typed(key)).collect();
        let image = Filter::builder().kind("standard").items(4).build_from(keys?).ok()?;
        let image = image.to_bytes().ok()?;
        return Some(image.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let found = Filter::from_bytes(&bytes(job[1])).ok()?.contains(&typed(job[2])?).ok()?;
    Some(if found { "found" } else { "no" }.into())
}

fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let job: Vec<&str> = line.split(' ').collect();
        println!("{}", answer(&job).unwrap_or_else(|| "error".into()));
    }
}
"""

    def compile(self, folder, build):
        crates = build / "rust" / "target" / "debug"
        (folder / "run.rs").write_text(self.program)
        subprocess.run(
            ["rustc", "--edition", "2021", "-o", folder / "run", "-L",
             f"dependency={crates / 'deps'}", "--extern",
             f"bloomery={crates / 'libbloomery.rlib'}", folder / "run.rs"],
            check=True)


class Go(Compiled):
    title = "Go"
    program = """
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"

	"bloomery.invalid/bloomery"
)

func bytes(digits string) []byte {
	data, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return data
}

func typed(key string) any {
	value := bytes(key[1:])
	switch key[0] {
	case 't':
		return string(value)
	case 'b':
		return value
	case 'i':
		n, _ := strconv.ParseInt(string(value), 10, 64)
		return n
	case 'f':
		real, _ := strconv.ParseFloat(string(value), 64)
		return real
	}
	return nil
}

func build(keys []string) (string, error) {
	f, err := bloomery.New("standard", bloomery.WithItems(4))
	for _, key := range keys {
		if err == nil {
			_, err = f.Add(typed(key))
		}
	}
	if err != nil {
		return "", err
	}
	data, err := f.Pack()
	return hex.EncodeToString(data), err
}

func query(image, key string) (string, error) {
	f, err := bloomery.Unpack(bytes(image))
	if err != nil {
		return "", err
	}
	found, err := f.Contains(typed(key))
	if found {
		return "found", err
	}
	return "no", err
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		job := strings.Split(lines.Text(), " ")
		var answer string
		var err error
		if job[0] == "build" {
			answer, err = build(job[1:])
		} else {
			answer, err = query(job[1], job[2])
		}
		if err != nil {
			answer = "error"
		}
		fmt.Println(answer)
	}
}
"""

    def compile(self, folder, build):
        (folder / "run.go").write_text(self.program)
        (folder / "go.mod").write_text(
            "module surface\ngo 1.19\nrequire bloomery.invalid/bloomery v0.0.0\n"
            f"replace bloomery.invalid/bloomery => {build}/go/bloomery\n")
        environment = {"GOCACHE": str(build / "go-cache"), **os.environ,
                       "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
        subprocess.run(["go", "build", "-o", "run", "."], cwd=folder,
                       env=environment, check=True)


# ---- Redis --------------------------------------------------------------------

class Redis(Surface):
    title = "Redis"

    def __init__(self, folder, build):
        super().__init__(folder)
        path = str(folder / "s")
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
             "--dir", str(folder), "--loadmodule", str(build / "bloomery.so")],
            stdout=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(500):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.02)
        self.answers = self.socket.makefile("rb")

    def say(self, *words):
        words = [word if isinstance(word, bytes) else word.encode()
                 for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        line = self.answers.readline().rstrip(b"\r\n")
        if line[:1] == b"-":
            raise Refused
        if line[:1] == b"$":
            return self.answers.read(int(line[1:]) + 2)[:-2]
        return line

    def build(self, keys):
        if None in keys:
            raise Refused
        form = "bytes" if isinstance(keys[0], bytes) else "text"
        self.say("DEL", "f")
        self.say("BLY.BUILD", "f", "standard", "CAPACITY", "4", "UNKEYED",
                 "KEYS", form, "ITEMS", *[raw(key) for key in keys])
        return self.say("BLY.DUMP", "f")

    def query(self, image, key):
        if key is None:
            raise Refused
        self.say("BLY.RESTORE", "f", image, "REPLACE")
        return FOUND if self.say("BLY.CONTAINS", "f", raw(key)) == b":1" else NO

    def end(self):
        self.socket.close()
        self.server.terminate()
        self.server.wait()


# ---- All of them --------------------------------------------------------------

def surfaces(build, psql, folder):
    """The available interfaces, each with its own folder."""
    def room(name):
        path = folder / name
        path.mkdir()
        return path

    yield Command(room("command"), build)
    yield CommandAs(room("as"), build)
    yield Serve(room("serve"), build)
    try:
        import bloomery  # noqa: F401
        yield Python(room("python"))
    except ImportError:
        pass
    if (build / "bloomery_sqlite.so").exists():
        yield Sqlite(room("sqlite"), build)
    if psql:
        yield Postgresql(room("postgresql"), psql)
        yield PostgresqlUntyped(room("untyped"), psql)
    if (build / "wasm" / "bloomery.wasm").exists() and shutil.which("node"):
        yield Javascript(room("javascript"), build)
    if (build / "rust/target/debug/libbloomery.rlib").exists():
        yield Rust(room("rust"), build)
    if (build / "go/bloomery/bloomery.c").exists() and shutil.which("go"):
        yield Go(room("go"), build)
    if (build / "bloomery.so").exists() and shutil.which("redis-server"):
        yield Redis(room("redis"), build)


def cell(answers):
    """Returns an interface's answers for the four keys."""
    return " or ".join(one for one in (FOUND, NO, ERROR) if one in answers)


def is_wrong(name, answers):
    """Returns whether an added key is denied, or a NULL found."""
    return (FOUND if name == "NULL" else NO) in answers


def answers_of(there):
    """{(class, builder): {asker: four answers}}, in the order of the table."""
    built = {one.title: one.build_all(CLASSES) for one in there}
    rows = [(name, title, images[name]) for name in CLASSES
            for title, images in built.items() if images.get(name)]
    jobs = [(image, key) for name, _, image in rows for key in CLASSES[name]]
    asked = {one.title: one.query_all(jobs) for one in there}
    return {(name, title): {asker: answers[4 * i:4 * i + 4]
                            for asker, answers in asked.items()}
            for i, (name, title, _) in enumerate(rows)}


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table(answers, titles):
    yield line(["keys", "built by", *titles])
    yield "|---|---|" + "---|" * len(titles)
    for (name, builder), cells in answers.items():
        yield line([name, builder, *[cell(cells[one]) for one in titles]])


def read_table(page):
    """{(class, builder, asker): cell}"""
    rows = [[cell.strip() for cell in text.strip("|").split("|")]
            for text in page[page.index("| keys |"):].splitlines()
            if text.startswith("|")]
    return {(row[0], row[1], asker): one for row in rows[2:]
            for asker, one in zip(rows[0][2:], row[2:])}


def failures(answers, published):
    for (name, builder), cells in answers.items():
        for asker, some in cells.items():
            known = published.get((name, builder, asker), "nothing")
            where = f"{name}, built by {builder}, asked by {asker}"
            if is_wrong(name, some):
                yield f"{where}: {', '.join(some)}"
            elif cell(some) != known:
                yield f"{where}: {cell(some)}, where the page has {known}"


# ---- Fields -------------------------------------------------------------------

def filters(command):
    """Filters that together have every field that an image can have."""
    yield command.made("-k", "standard", "-n", "10")
    yield command.made("-k", "standard", "-n", "10", "--seed", str(2 ** 63))
    yield command.made("-k", "stable", "-n", "10")
    yield command.made("-k", "gcs")
    yield command.made("-k", "layered", "-n", "10")
    yield command.made("-k", "spatial", "-n", "10", "-t", ",", "-f", "1", "-l",
                       "2", lines=b"a,1\nb,2\n")


def fields_that_differ(there):
    """Compares the fields and values of each surface with the command's. Yields
    a line for each filter and surface: "" if all are equal."""
    for image in filters(there[0]):
        right = there[0].info(image)
        for one in there[1:]:
            fields = one.info(image)
            if fields is not None:
                differ = sorted({name for name in {*right, *fields}
                                 if name not in right or name not in fields
                                 or right[name] != fields[name]})
                yield differ and (f"{one.title}: {', '.join(differ)} of a "
                                  f"{right['kind']} filter differ")


def main():
    verb, path = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        there = list(surfaces(pathlib.Path(sys.argv[3]).resolve(),
                              sys.argv[4:], pathlib.Path(folder)))
        try:
            answers = answers_of(there)
            fields = list(fields_that_differ(there))
            fields += names.check(pathlib.Path(sys.argv[3]).resolve())
        finally:
            for one in there:
                one.end()
    page = path.read_text()
    if verb == "--write":
        at = page.index("| keys |")
        page = page[:at] + "\n".join(table(answers, [one.title for one in
                                                     there])) + "\n"
        path.write_text(page)
    wrong = [*failures(answers, read_table(page)), *filter(None, fields)]
    for one in wrong:
        print("not ok -", one)
    print(f"{sum(map(len, answers.values())) + len(fields) - len(wrong)} passed, "
          f"{len(wrong)} failed")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
