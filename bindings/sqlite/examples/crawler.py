"""A crawler's list of pages, with a filter that triggers maintain.

    python3 crawler.py EXTENSION DATABASE

Most links lead to pages that are known. The filter answers that in memory, without a
lookup in the index of a large table. Where it says "perhaps", which is wrong for one
new page in ten thousand, the table decides. Triggers keep the two together: whatever
a transaction does, both have it or neither.
"""
import sqlite3
import sys

SCHEMA = """
CREATE TABLE pages(url TEXT PRIMARY KEY, fetched INTEGER NOT NULL DEFAULT 0);
CREATE VIRTUAL TABLE seen USING
    bloomery(kind=counting, capacity=100000, rate=0.0001);
CREATE TRIGGER pages_insert AFTER INSERT ON pages
    BEGIN INSERT INTO seen VALUES (new.url); END;
CREATE TRIGGER pages_delete AFTER DELETE ON pages
    BEGIN DELETE FROM seen WHERE key = old.url; END;
CREATE TRIGGER pages_update AFTER UPDATE OF url ON pages
    BEGIN DELETE FROM seen WHERE key = old.url;
          INSERT INTO seen VALUES (new.url); END;
"""

# The filter first, then the table.
KNOWN = """
SELECT EXISTS (SELECT 1 FROM seen WHERE key = :url)
   AND EXISTS (SELECT 1 FROM pages WHERE url = :url)
"""


def connect(extension, path):
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(extension)
    db.enable_load_extension(False)
    return db


def links(page):
    """The links of a page: this web has 5,000 pages, and each links to 20."""
    return [f"https://example.org/{(page * 31 + i * i * 17) % 5000}"
            for i in range(20)]


def fetch(db, url):
    """Adds the new links of a page, all of them or none."""
    new = 0
    db.execute("BEGIN")
    for link in links(int(url.rsplit("/", 1)[1])):
        if not db.execute(KNOWN, {"url": link}).fetchone()[0]:
            db.execute("INSERT INTO pages(url) VALUES (?)", (link,))
            new += 1
    db.execute("UPDATE pages SET fetched = 1 WHERE url = ?", (url,))
    db.execute("COMMIT")
    return new


def main():
    db = connect(*sys.argv[1:])
    db.execute("PRAGMA journal_mode = wal")
    db.execute("PRAGMA synchronous = normal")
    db.executescript(SCHEMA)
    db.execute("INSERT INTO pages(url) VALUES ('https://example.org/1')")
    for _ in range(500):
        url, = db.execute("SELECT url FROM pages WHERE NOT fetched LIMIT 1").fetchone()
        fetch(db, url)
    known, = db.execute("SELECT count(*) FROM pages").fetchone()
    found, = db.execute("SELECT count(*) FROM pages JOIN seen ON seen.key = url"
                        ).fetchone()
    print(f"pages: {known}, of which the filter has {found}")
    db.execute("DELETE FROM pages WHERE url LIKE '%/1_'")
    gone = [f"https://example.org/1{i}" for i in range(10)]
    asked = ", ".join("?" * len(gone))
    left = db.execute(f"SELECT key FROM seen WHERE key IN ({asked})", gone).fetchall()
    print(f"of 10 deleted pages, the filter has {len(left)}")


main()
