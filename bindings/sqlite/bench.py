"""A semi-join by SQLite alone, and with a filter, and inserts into a stored filter:
`make bench WHAT=sqlite`.

    python3 bench.py BUILD

Which of 200 000 log lines name one of a million keys, of which one line in fifty
does? They come in no order, or, which SQLite likes best, in that of the keys. These
are in a table with an index, in a file; a filter of them is a row of another. Each
statement runs alone, first once and then three times; the least is told, in
milliseconds of this process, with the share of SQLite alone.

Then keys are inserted into a table with an index, and into a stored filter: many in
one transaction, and each in a transaction of its own. All keys are new. The least of
some runs is printed, in microseconds of the clock for each key, with its ratio to the
index. The disk decides about transactions that wait for it.
"""
import os
import sqlite3
import sys
import tempfile
import time

KEYS, LINES, RUNS = 1_000_000, 200_000, 3
# Keys of a run, and runs. Transactions that wait for the disk are few; the others
# include writing the pages when the log is long.
MANY, SINGLE, WAITING = (200_000, 3), (8_000, 3), (50, 20)

# Numbers in no order, each once: a multiplication by a prime. What is missing lies
# among what is there, and no line is near the one before it in the index.
SCATTERED = "(({}) * 2654435761 % 4294967291)"
LINE = SCATTERED.format("iif(value % 50, 100000000 + value, value * 2)")
KEY = SCATTERED.format("value")
ASKED = {
    "text": (f"SELECT 'user-' || {KEY} || '@example.org' AS k",
             f"SELECT 'user-' || {LINE} || '@example.org' AS k"),
    "integers": (f"SELECT {KEY} AS k", f"SELECT {LINE} AS k"),
    "integers, the lines in their order":
        ("SELECT value * 7919 AS k",
         "SELECT value * 5 * 7919 + iif(value % 50, 1, 0) AS k"),
}
QUERIES = {
    "SQLite alone": "SELECT count(*) FROM log WHERE k IN (SELECT k FROM seen)",
    "a filter first": "SELECT count(*) FROM log WHERE bloomery_contains((SELECT "
                      "bloomery_open(b) FROM filter), k) AND k IN (SELECT k "
                      "FROM seen)",
    "the filter's file as a table":
        "SELECT count(*) FROM log JOIN file ON file.key = log.k WHERE +file.key "
        "IN (SELECT k FROM seen)",
    "a stored filter":
        "SELECT count(*) FROM log JOIN stored ON stored.key = log.k WHERE "
        "+stored.key IN (SELECT k FROM seen)",
    "a filter alone": "SELECT count(*) FROM log WHERE bloomery_contains((SELECT "
                      "bloomery_open(b) FROM filter), k)",
    "no question, to compare": "SELECT count(*) FROM log WHERE k <> 'x'",
}
EXACT = ("a filter first", "the filter's file as a table", "a stored filter")


def numbers(n, text):
    """Rows of `text` for value from 1 to n."""
    return (f"WITH RECURSIVE series(value) AS (SELECT 1 UNION ALL SELECT value + 1 "
            f"FROM series LIMIT {n}) {text} FROM series")


def least(work):
    """The least time of some runs, in seconds of this process, and the answer."""
    answer, best = work(), float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        assert work() == answer
        best = min(best, time.process_time() - start)
    return best, answer


def measure(folder, build, name, keys, lines):
    db = sqlite3.connect(os.path.join(folder, f"{name}.db"))
    db.enable_load_extension(True)
    db.load_extension(os.path.join(build, "bloomery_sqlite"))
    path = os.path.join(folder, f"{name}.bly")
    db.execute("CREATE TABLE seen(k PRIMARY KEY) WITHOUT ROWID")
    db.execute("INSERT INTO seen " + numbers(KEYS, keys) + " ORDER BY 1")
    db.execute("CREATE TABLE log AS " + numbers(LINES, lines))
    start = time.process_time()
    db.execute("CREATE TABLE filter AS SELECT bloomery_build(k) AS b FROM seen")
    took = time.process_time() - start
    db.commit()
    image, = db.execute("SELECT b FROM filter").fetchone()
    with open(path, "wb") as file:
        file.write(image)
    db.execute(f"CREATE VIRTUAL TABLE file USING bloomery('{path}', map)")
    db.execute(f"CREATE VIRTUAL TABLE stored USING bloomery(capacity={KEYS})")
    db.execute("INSERT INTO stored SELECT k FROM seen")
    size, = db.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'seen'"
                       ).fetchone()
    print(f"{name}: {KEYS} keys, {size / 1e6:.0f} MB; their filter "
          f"{len(image) / 1e6:.1f} MB, made in {took * 1e9 / KEYS:.0f} ns a key")
    alone, exact = least(lambda: db.execute(QUERIES["SQLite alone"]).fetchone()[0])
    for what, query in QUERIES.items():
        seconds, answer = (alone, exact) if what == "SQLite alone" \
            else least(lambda: db.execute(query).fetchone()[0])
        print(f"  {what:30} {seconds * 1e3:7.0f} ms {seconds / alone:6.2f} "
              f"{answer:8} rows")
        assert answer >= exact
        assert answer == exact or what not in EXACT
    print("  EXPLAIN QUERY PLAN:")
    for row in db.execute("EXPLAIN QUERY PLAN " + QUERIES["a filter first"]):
        print("   ", row[3])


STORED = ("blocked", "standard", "split", "counting", "cuckoo", "quotient")
MODES = (("journal_mode = delete", "synchronous = full"),
         ("journal_mode = wal", "synchronous = normal"),
         ("journal_mode = wal", "synchronous = off"))
INDEXED, SORTED = "a table with an index", "a table with an index, keys in its order"


def targets(db):
    """Makes the tables; returns the statement that inserts into each."""
    db.execute("CREATE TABLE plain(k TEXT)")
    db.execute("CREATE INDEX plain_k ON plain(k)")
    db.execute("CREATE TABLE plain_sorted(k TEXT)")
    db.execute("CREATE INDEX plain_sorted_k ON plain_sorted(k)")
    statements = {INDEXED: "INSERT INTO plain VALUES (?)",
                  SORTED: "INSERT INTO plain_sorted VALUES (?)"}
    for kind in STORED:
        db.execute(f"CREATE VIRTUAL TABLE {kind}_ USING bloomery(kind={kind}, "
                   f"capacity={KEYS}, rate=0.01)")
        statements[f"kind={kind}"] = f"INSERT INTO {kind}_ VALUES (?)"
    for name, into in ("logged", "INSERT INTO blocked_ VALUES (new.k)"), \
            ("untriggered", None):
        db.execute(f"CREATE TABLE {name}(k TEXT)")
        if into:
            db.execute(f"CREATE TRIGGER {name}_r AFTER INSERT ON {name} BEGIN "
                       f"{into}; END")
    statements["a table, no index"] = "INSERT INTO untriggered VALUES (?)"
    statements["a table, a trigger into blocked"] = "INSERT INTO logged VALUES (?)"
    return statements


def inserted(db, what, statement, run, n, at_once):
    """Microseconds for each key. Keys differ in every run and for every table."""
    keys = [(f"user-{run:04}-{i * 7919 % 1_000_003:07}@example.org",)
            for i in range(n)]
    if what == SORTED:
        keys.sort()
    start = time.perf_counter()
    if at_once:
        db.execute("BEGIN")
    db.executemany(statement, keys)
    if at_once:
        db.execute("COMMIT")
    return (time.perf_counter() - start) * 1e6 / n


def measure_inserts(folder, build, mode):
    db = sqlite3.connect(os.path.join(folder, "inserts.db"), isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(os.path.join(build, "bloomery_sqlite"))
    for pragma in mode:
        db.execute(f"PRAGMA {pragma}")
    statements, run = targets(db), 0
    for at_once in True, False:
        least_of = {}
        n, runs = MANY if at_once else WAITING if "full" in mode[1] else SINGLE
        for _ in range(runs):
            for what, statement in statements.items():
                run += 1
                took = inserted(db, what, statement, run, n, at_once)
                least_of[what] = min(took, least_of.get(what, took))
        print(f"inserts, {', '.join(mode)}: " + (
            f"{n} in one transaction" if at_once else "each in a transaction"))
        for what, took in least_of.items():
            print(f"  {what:40} {took:9.2f} us {took / least_of[INDEXED]:6.2f}")
    db.close()


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD")
    with tempfile.TemporaryDirectory() as folder:
        for name, (keys, lines) in ASKED.items():
            measure(folder, os.path.abspath(sys.argv[1]), name, keys, lines)
    for mode in MODES:
        with tempfile.TemporaryDirectory() as folder:
            measure_inserts(folder, os.path.abspath(sys.argv[1]), mode)


main()
