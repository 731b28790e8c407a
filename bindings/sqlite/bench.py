"""A semi-join by SQLite alone, and with a filter: `make bench WHAT=sqlite`.

    python3 bench.py BUILD

Which of 200 000 log lines name one of a million keys, of which one line in fifty
does? They come in no order, or, which SQLite likes best, in that of the keys. These
are in a table with an index, in a file; a filter of them is a row of another. Each
statement runs alone, first once and then three times; the least is told, in
milliseconds of this process, with the share of SQLite alone.
"""
import os
import sqlite3
import sys
import tempfile
import time

KEYS, LINES, RUNS = 1_000_000, 200_000, 3

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
    "a filter alone": "SELECT count(*) FROM log WHERE bloomery_contains((SELECT "
                      "bloomery_open(b) FROM filter), k)",
    "no question, to compare": "SELECT count(*) FROM log WHERE k <> 'x'",
}


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
        assert answer >= exact and (" first" not in what or answer == exact)
    print("  EXPLAIN QUERY PLAN:")
    for row in db.execute("EXPLAIN QUERY PLAN " + QUERIES["a filter first"]):
        print("   ", row[3])


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD")
    with tempfile.TemporaryDirectory() as folder:
        for name, (keys, lines) in ASKED.items():
            measure(folder, os.path.abspath(sys.argv[1]), name, keys, lines)


main()
