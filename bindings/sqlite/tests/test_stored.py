"""Filters that are stored in the database: what is inserted is found, whatever
happens to transactions, connections and processes."""
import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from conftest import EFFORT, connect, kinds, refused, seeded, value

MAKE = "CREATE VIRTUAL TABLE seen USING bloomery(kind='{}', capacity={}, rate=1e-6)"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


def again(path):
    """A connection that begins no transactions by itself and does not wait for the
    disk."""
    db = connect(path)
    db.isolation_level = None
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA busy_timeout = 0")
    return db


def opened(path, kind="blocked", capacity=1000):
    """One with a new table."""
    db = again(path)
    db.execute(MAKE.format(kind, capacity))
    return db


def has(db, *keys, table="seen"):
    """Returns the keys that are perhaps there."""
    return [key for key in keys if db.execute(
        f"SELECT 1 FROM {table} WHERE key = ?", (key,)).fetchone()]


def insert(db, *keys):
    db.executemany("INSERT INTO seen VALUES (?)", [(key,) for key in keys])


def insert_at_once(db, *keys):
    db.execute("BEGIN")
    insert(db, *keys)
    db.execute("COMMIT")


def pages(db):
    return value(db, "SELECT count(*) FROM seen_pages")


def rewritten(db):
    """How often the pages were written: the log began anew."""
    return value(db, "SELECT min(id) FROM seen_log")


# ---- Statements ------------------------------------------------------------------


def test_membership(path):
    db = opened(path)
    insert(db, "red", "green", "blue", None)
    assert has(db, "red", "black", "blue", None) == ["red", "blue"]
    assert db.execute("SELECT key FROM seen WHERE key IN ('red', 'black', 'blue') "
                      "ORDER BY 1").fetchall() == [("blue",), ("red",)]
    assert db.execute("SELECT key FROM seen WHERE key = 'red' OR key = 'green' OR "
                      "key = 'pink' ORDER BY 1").fetchall() \
        == [("green",), ("red",)]
    db.execute("CREATE TABLE log(name, line)")
    db.execute("INSERT INTO log VALUES ('red', 1), ('pink', 2), ('blue', 3)")
    for text in ("SELECT line FROM log JOIN seen ON seen.key = name ORDER BY 1",
                 "SELECT line FROM log WHERE EXISTS (SELECT 1 FROM seen WHERE key "
                 "= name) ORDER BY 1",
                 "SELECT line FROM log WHERE name IN (SELECT key FROM seen WHERE "
                 "key = name) ORDER BY 1"):
        assert db.execute(text).fetchall() == [(1,), (3,)], text
    db.execute("INSERT INTO seen SELECT name || '!' FROM log")
    assert has(db, "red!", "pink!", "pink") == ["red!", "pink!"]
    db.close()
    assert has(again(path), "red", "pink!", "pink") == ["red", "pink!"]


def test_a_list_is_refused(path):
    db = opened(path)
    insert(db, "a")
    for text in ("SELECT * FROM seen", "SELECT count(*) FROM seen",
                 "SELECT label, filter FROM seen", "DELETE FROM seen",
                 "SELECT 1 FROM seen WHERE key > 'a'", "SELECT key, filter FROM seen",
                 *(f"SELECT count(filter) FROM seen WHERE {test}" for test in (
                     "key LIKE 'a'", "key >= 'a'", "key <> 'b'", "+key = 'a'",
                     "key IS NOT 'b'", "upper(key) = 'A'",
                     "key = 'a' OR filter IS NULL", "key GLOB 'a' LIMIT 1"))):
        assert "no list of its keys" in refused(db, text), text
    for what in "1", "count(filter)":
        assert "collation" in refused(db, f"SELECT {what} FROM seen WHERE key = 'A' "
                                      "COLLATE NOCASE")


@pytest.mark.parametrize("arguments, line", [
    ("kind=nonsense, capacity=1", "nonsense"),
    ("kind=blocked", "capacity"),
    ("kind=fuse, capacity=10", "fuse"),
    ("kind=blocked, capacity=0", "1 or more"),
    ("kind=blocked, capacity=ten", "ten"),
    ("kind=blocked, capacity=1.5", "1.5"),
    ("kind=blocked, capacity='1e'", "not 1e"),
    ("kind=blocked, capacity='.'", "not ."),
    ("kind=blocked, capacity='10 '", "not 10 "),
    ("kind=blocked, capacity=-5", "1 or more"),
    ("kind=blocked, capacity=1e30", "1 or more"),
    ("kind=blocked, capacity=10, rate=", "between 0 and 1"),
    ("kind=blocked, capacity=10, seed=99999999999999999999", "integer"),
    ("kind=blocked, capacity=10, rate=2", "between 0 and 1"),
    ("kind=blocked, capacity=10, seed=x", "integer"),
    ("kind=blocked, capacity=10, keys=nonsense", "nonsense"),
    ("kind=blocked, capacity=10, hash=nonsense", "nonsense"),
    ("kind=blocked, capacity=10, size=4", "size=4"),
    ("kind=blocked, 'words.bly'", "unknown argument"),
    ("kind='blocked' capacity=10", "put a comma"),
    ("kind=blocked, capacity=10000000000", "largest"),
])
def test_wrong_arguments(db, arguments, line):
    assert line in refused(db, f"CREATE VIRTUAL TABLE seen USING bloomery("
                           f"{arguments})")
    assert value(db, "SELECT count(*) FROM sqlite_master") == 0


def test_arguments(db):
    db.execute("CREATE VIRTUAL TABLE \"it's\" USING bloomery( KIND = 'blocked:k=5' , "
               "capacity = 1e4, rate=.001, seed=-3, hash=xxh64, keys=\"int64\")")
    info = json.loads(value(db, "SELECT bloomery_info(filter) FROM \"it's\""))
    theirs = json.loads(value(db, "SELECT bloomery_info(bloomery_new('blocked:k=5', "
                              "10000, 0.001, -3, 'xxh64', 'int64'))"))
    assert info == theirs
    db.execute("INSERT INTO \"it's\" VALUES (7)")
    assert has(db, 7, 8, table="\"it's\"") == [7]
    assert "text" not in info["keys"]
    refused(db, "INSERT INTO \"it's\" VALUES ('seven')")


def test_class_of_the_first_key(path):
    db = opened(path)
    insert(db, 5)
    assert "CAST(x AS NUMERIC)" in refused(db, "INSERT INTO seen VALUES ('5')")
    assert "CAST(x AS NUMERIC)" in refused(db, "SELECT 1 FROM seen WHERE key='5'")
    other = again(path)
    assert "CAST(x AS NUMERIC)" in refused(other, "INSERT INTO seen VALUES ('5')")
    db.execute("CREATE VIRTUAL TABLE mixed USING bloomery(capacity=10, keys=any)")
    db.executemany("INSERT INTO mixed VALUES (?)", [(5,), ("5",), (b"6",)])
    assert has(db, 5, "5", b"6", 7, table="mixed") == [5, "5", b"6"]


def test_rolled_back_class_is_forgotten(path):
    db = opened(path)
    db.execute("BEGIN")
    insert(db, 5)
    db.execute("ROLLBACK")
    insert(db, "text")
    db.execute("SAVEPOINT a")
    assert has(db, "text") == ["text"]


def test_a_first_key_that_is_refused_states_no_class(path):
    db = opened(path, "approximator:bits=8")
    refused(db, "INSERT INTO seen(key, label) VALUES ('text', 1000)")
    other = value(db, "SELECT bloomery_build('text', 'blocked')")
    assert "kind" in refused(db, "INSERT INTO seen(filter) VALUES (?)", other)
    db.execute("INSERT INTO seen(key, label) VALUES (7, 1)")
    assert has(db, 7, 8) == has(again(path), 7, 8) == [7]


def test_whole_filter_in_and_out(path):
    db = opened(path)
    insert(db, "a", "b")
    image = value(db, "SELECT filter FROM seen")
    assert value(db, "SELECT filter FROM seen LIMIT 1") == image
    assert value(db, "SELECT count(filter) FROM seen WHERE filter = ?", image) == 1
    assert value(db, "SELECT bloomery_contains(?, 'a')", image) == 1
    db.execute("CREATE VIRTUAL TABLE other USING bloomery(kind=blocked, "
               "capacity=1000, rate=1e-6)")
    db.execute("INSERT INTO other(filter) VALUES (?)", (image,))
    assert has(db, "a", "b", "c", table="other") == ["a", "b"]
    assert has(again(path), "a", "b", "c", table="other") == ["a", "b"]
    assert refused(db, "INSERT INTO other(filter) VALUES (1)")
    assert refused(db, "INSERT INTO other(filter) VALUES (?)", b"nonsense")
    db.execute("CREATE VIRTUAL TABLE small USING bloomery(kind=blocked, "
               "capacity=10)")
    assert "differ" in refused(db, "INSERT INTO small(filter) VALUES (?)", image)
    db.execute("BEGIN")
    db.execute("INSERT INTO other(filter) SELECT bloomery_add(filter, 'c') FROM "
               "seen")
    assert has(db, "c", table="other") == ["c"]
    db.execute("ROLLBACK")
    assert has(db, "a", "c", table="other") == ["a"]


def test_or_ignore_says_whether_a_key_is_new(path):
    db = opened(path)
    put = "INSERT OR IGNORE INTO seen VALUES (?)"
    assert db.execute(put, ("a",)).rowcount == 1
    assert db.execute(put, ("a",)).rowcount == 0
    assert db.execute("INSERT INTO seen VALUES ('a')").rowcount == 1
    counted = "CREATE VIRTUAL TABLE c USING bloomery(kind=counting, capacity=100)"
    db.execute(counted)
    for _ in range(3):
        db.execute("INSERT OR IGNORE INTO c VALUES ('a')")
    assert value(db, "SELECT count FROM c WHERE key = 'a'") == 3


def test_last_insert_rowid_is_the_programs(path):
    db = opened(path)
    db.execute("CREATE TABLE t(x)")
    db.execute("INSERT INTO t(rowid, x) VALUES (77, 1)")
    db.execute("BEGIN")
    insert(db, *range(10000))
    db.execute("SAVEPOINT a")
    db.execute("COMMIT")
    assert value(db, "SELECT last_insert_rowid()") == 77


# ---- Every kind --------------------------------------------------------------------


def test_every_kind_that_can_add(path):
    db = again(path)
    n = 0
    for kind, can in list(kinds(db)):
        # a filter of `egh` is of integers, which the option says
        if "add" not in can or kind == "egh":
            continue
        table = f"seen_{n}"
        n += 1
        db.execute(f"CREATE VIRTUAL TABLE {table} USING bloomery(kind={kind}, "
                   f"capacity=500, rate=0.001)")
        keys = [f"key {i}" for i in range(120)]
        for part in keys[:40], keys[40:41], keys[41:]:
            db.execute("BEGIN")
            db.executemany(f"INSERT INTO {table} VALUES (?)",
                           [(key,) for key in part])
            db.execute("COMMIT")
        other = again(path)
        recent = keys[-20:] if "forget" in can else keys
        assert has(db, *recent, table=table) == recent, kind
        assert has(other, *recent, table=table) == recent, kind
        absent = [f"absent {i}" for i in range(50)]
        assert has(other, *absent, table=table) == has(db, *absent, table=table)
        assert len(has(db, *absent, table=table)) < 5 or kind == "attenuated", kind
        if "remove" in can:
            db.execute("BEGIN")
            for key in keys[:10]:
                db.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
            db.execute("COMMIT")
            assert has(other, *keys[10:], table=table) == keys[10:], kind
            assert len(has(other, *keys[:10], table=table)) <= 1, kind
        same = "SELECT bloomery_info(filter) FROM " + table
        assert value(db, same) == value(other, same) == value(again(path), same)
        other.close()
    assert n > 15


def test_labels(path):
    db = opened(path, "approximator:bits=8")
    db.execute("INSERT INTO seen(key, label) VALUES ('a', 3), ('b', 1)")
    db.execute("UPDATE seen SET label = 5 WHERE key = 'b'")
    assert value(again(path), "SELECT label FROM seen WHERE key = 'b'") >= 1
    db.execute("CREATE TABLE t(k, n)")
    db.execute("INSERT INTO t VALUES ('a', 4), ('b', 9)")
    db.execute("UPDATE seen SET label = (SELECT n FROM t WHERE k = key) WHERE key IN "
               "('a', 'b')")
    if sqlite3.sqlite_version_info >= (3, 33):
        db.execute("UPDATE seen SET label = n FROM t WHERE key = k")
    for text in ("UPDATE seen SET key = 'c' WHERE key = 'a'",
                 "UPDATE seen SET label = NULL WHERE key = 'a'",
                 "UPDATE seen SET count = 5, label = 2 WHERE key = 'a'",
                 "INSERT INTO seen(key, label) VALUES ('a', 'x')",
                 "INSERT INTO seen(key, label) VALUES ('a', -1)",
                 "INSERT INTO seen(key, count) VALUES ('a', 1)"):
        refused(db, text)


def test_delete_where_the_kind_cannot(path):
    db = opened(path)
    insert(db, "a")
    assert "cannot remove" in refused(db, "DELETE FROM seen WHERE key = 'a'")
    assert db.execute("DELETE FROM seen WHERE key = 'b'").rowcount == 0
    assert has(db, "a") == ["a"]


def test_full(path):
    db = opened(path, "cuckoo", 100)
    line = ""
    for i in range(1000):
        try:
            insert(db, i)
        except sqlite3.Error as error:
            line = str(error)
            break
    assert "full" in line and "bly_" not in line
    assert has(again(path), *range(i)) == list(range(i))


# ---- Transactions ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["blocked", "standard", "counting", "scalable"])
def test_savepoints(path, kind):
    db = opened(path, kind)
    insert(db, "a")
    db.execute("BEGIN")
    insert(db, "b")
    db.execute("SAVEPOINT one")
    insert(db, "c")
    db.execute("SAVEPOINT two")
    insert(db, "d")
    db.execute("ROLLBACK TO two")
    assert has(db, *"abcd") == list("abc")
    insert(db, "e")
    db.execute("RELEASE two")
    insert(db, "f")
    assert has(again(path), *"abcdef") == ["a"]
    db.execute("ROLLBACK TO one")
    assert has(db, *"abcdef") == list("ab")
    insert(db, "g")
    db.execute("COMMIT")
    assert has(db, *"abcdefg") == has(again(path), *"abcdefg") == list("abg")


def test_a_statement_that_fails_leaves_nothing(path):
    db = opened(path)
    db.execute("CREATE TABLE t(k CHECK (k <> 'bad'))")
    db.execute("CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO seen VALUES "
               "(new.k); END")
    for begin, end in (("BEGIN", "COMMIT"), (None, None)):
        if begin:
            db.execute(begin)
        refused(db, "INSERT INTO t VALUES ('x'), ('y'), ('bad')")
        assert has(db, "x", "y", "bad") == []
        db.execute("INSERT INTO t VALUES (?)", (begin,))
        if end:
            db.execute(end)
    assert has(again(path), "x", "y", "BEGIN") == ["BEGIN"]
    refused(db, "INSERT INTO seen SELECT 'z' UNION ALL SELECT abs(-9223372036854775807 "
            "- 1)")
    assert has(db, "z") == []
    image = value(db, "SELECT bloomery_add(filter, 'u') FROM seen")
    db.execute("BEGIN")
    for key, label in ((b"\0", None), ("k", None), (None, 1)):
        assert "two rows" in refused(
            db, "INSERT INTO seen(key, label, filter) VALUES (?, ?, ?)", key, label,
            image)
    db.execute("COMMIT")
    assert has(db, "u", "k") == has(again(path), "u", "k") == []


@pytest.mark.parametrize("way", ["rows", "one", "filter", "other kind"])
def test_a_replaced_table_is_rolled_back(path, way):
    db = opened(path, "standard", 10000)
    insert(db, "a")
    image = value(db, "SELECT filter FROM seen")
    db.execute("BEGIN")
    db.execute("SAVEPOINT s")
    db.execute("DROP TABLE seen")
    db.execute(MAKE.format("approximator" if way == "other kind" else "standard",
                           10000))
    if way == "other kind":
        db.execute("INSERT INTO seen(key, label) VALUES ('new', 1)")
    elif way == "filter":
        image = value(db, "SELECT bloomery_add(?, 'new')", image)
        db.execute("INSERT INTO seen(filter) VALUES (?)", (image,))
    else:
        insert(db, "new", *map(str, range(4000 if way == "rows" else 0)))
    db.execute("ROLLBACK TO s")
    if way == "one":
        db.execute("SAVEPOINT s")
        insert(db, "b")
    db.execute("COMMIT")
    expected = ["a", "b"] if way == "one" else ["a"]
    assert has(db, "a", "b", "new") == has(again(path), "a", "b", "new") == expected
    insert(db, "c")
    assert has(again(path), "a", "c") == ["a", "c"]


def test_a_new_table_is_rolled_back(path):
    db = again(path)
    db.execute("CREATE TABLE t(x)")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES ('order')")
    db.execute("SAVEPOINT s")
    db.execute(MAKE.format("blocked", 1000))
    insert(db, "a")
    db.execute("ROLLBACK TO s")
    db.execute("COMMIT")
    assert db.execute("SELECT * FROM t").fetchall() == [("order",)]
    db.execute(MAKE.format("blocked", 1000))
    assert has(db, "a") == []


def test_shadow_tables_change_in_a_transaction(path):
    db = opened(path)
    insert(db, "a")
    db.execute("BEGIN")
    insert(db, "b")
    db.execute("INSERT INTO seen_log VALUES (99, 7, NULL)")
    assert "other statements have changed" in refused(db, "COMMIT")
    assert not db.in_transaction
    assert has(db, "a", "b") == has(again(path), "a", "b") == ["a"]


@pytest.mark.parametrize("reset", ["writable_schema = RESET", "schema_version = 77"])
def test_a_schema_is_read_again_in_a_transaction(path, reset):
    db = opened(path)
    image = value(db, "SELECT filter FROM seen")
    insert(db, "a")
    db.execute("BEGIN")
    for step, keys in ((lambda: None, "ab"),
                       (lambda: insert(db, "c"), "abc"),
                       (lambda: db.execute("INSERT INTO seen(filter) VALUES (?)",
                                           (image,)), "abc"),
                       (lambda: db.execute("SAVEPOINT s"), "abc")):
        insert(db, "b")
        db.execute(f"PRAGMA {reset}")
        step()
        assert has(db, *"abc") == list(keys)
    insert(db, "d")
    db.execute(f"PRAGMA {reset}")
    db.execute("ROLLBACK TO s")
    assert has(db, *"abcd") == list("abc")
    insert(db, "e")
    db.execute(f"PRAGMA {reset}")
    db.execute("ALTER TABLE seen RENAME TO other")
    db.execute("COMMIT")
    expected = list("abce")
    assert has(db, *"abcde", table="other") == expected
    assert has(again(path), *"abcde", table="other") == expected
    db.execute("BEGIN")
    db.execute("INSERT INTO other VALUES ('f')")
    db.execute(f"PRAGMA {reset}")
    db.execute("DROP TABLE other")
    db.execute("COMMIT")
    assert value(db, "SELECT count(*) FROM sqlite_schema") == 0


def test_rollback_of_many(path):
    """More changes than the log takes, so that pages are written early."""
    db = opened(path, "blocked", 100000)
    insert(db, "kept")
    before = value(db, "SELECT bloomery_info(filter) FROM seen")
    for end in ("ROLLBACK", "ROLLBACK TO a"):
        db.execute("BEGIN")
        db.execute("SAVEPOINT a")
        db.execute("INSERT INTO seen WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                   "SELECT i + 1 FROM n LIMIT 130000) SELECT 'n' || i FROM n")
        assert rewritten(db) > 1
        assert has(db, "n1", "n130000") == ["n1", "n130000"]
        db.execute(end)
        assert value(db, "SELECT bloomery_info(filter) FROM seen") == before
        if "TO" in end:
            db.execute("COMMIT")
    assert rewritten(db) == 1
    assert value(again(path), "SELECT bloomery_info(filter) FROM seen") == before


def test_only_changed_pages_are_written(path):
    db = opened(path, "blocked", 1000000)
    n = pages(db)
    assert n > 400
    db.execute("CREATE TABLE written(id)")
    db.execute("CREATE TRIGGER w AFTER INSERT ON seen_pages BEGIN INSERT INTO "
               "written VALUES (new.id); END")
    for _ in range(3):
        insert(db, "the same", "keys")
    assert value(db, "SELECT count(*) FROM written") == 0
    image = value(db, "SELECT bloomery_add(bloomery_new('blocked', 1000000, 1e-6), "
                  "'another')")
    db.execute("INSERT INTO seen(filter) VALUES (?)", (image,))
    assert rewritten(db) > 1
    assert 1 < value(db, "SELECT count(DISTINCT id) FROM written") < 30


def test_a_reader_of_short_values(path):
    """The rows of a long log are read with a low SQLITE_LIMIT_LENGTH."""
    db = opened(path, "standard", 5000000)
    insert_at_once(db, *range(15000))
    assert 120000 < value(db, "SELECT sum(length(ops)) FROM seen_log") \
        and value(db, "SELECT count(*) FROM seen_log") > 2
    assert value(db, "SELECT max(length(ops)) FROM seen_log") <= 65536
    reader = again(path)
    reader.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 70000)
    assert has(reader, *range(0, 15000, 100)) == list(range(0, 15000, 100))


def test_commit_that_is_busy(path):
    """COMMIT fails while another connection reads, and is then repeated or rolled
    back to a savepoint."""
    db = opened(path)
    db.execute("CREATE TABLE t(x)")
    db.execute("INSERT INTO t VALUES (1), (2)")
    reader = again(path)
    db.execute("BEGIN")
    insert(db, "a")
    db.execute("SAVEPOINT s")
    insert(db, "b")
    rows = reader.execute("SELECT x FROM t")
    rows.fetchone()
    assert "locked" in refused(db, "COMMIT")
    assert has(db, *"ab") == list("ab")
    db.execute("ROLLBACK TO s")
    insert(db, "c")
    rows.close()
    db.execute("COMMIT")
    assert has(db, *"abc") == has(again(path), *"abc") == list("ac")


def test_power_is_cut_in_a_transaction(path):
    """A process that is killed in the middle leaves the state before it."""
    db = opened(path, "counting", 20000)
    insert(db, "kept")
    db.close()
    child = subprocess.Popen([sys.executable, "-c", """
import sys
from conftest import connect
db = connect(sys.argv[1])
db.isolation_level = None
db.execute("PRAGMA cache_size = 10")
db.execute("BEGIN")
for i in range(40000):
    db.execute("INSERT INTO seen VALUES (?)", (f"lost {i}",))
db.execute("SAVEPOINT a")
print("ready", flush=True)
sys.stdin.read()
""", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=os.path.dirname(__file__))
    assert child.stdout.readline() == "ready\n"
    assert os.path.getsize(f"{path}-journal") > 0
    child.send_signal(signal.SIGKILL)
    child.communicate()
    db = again(path)
    assert has(db, "kept", "lost 1", "lost 39999") == ["kept"]
    assert value(db, "PRAGMA integrity_check") == "ok"
    insert(db, "more")
    assert has(again(path), "kept", "more", "lost 1") == ["kept", "more"]


def test_killed_at_any_moment(path):
    """A process that commits 100 keys at a time is killed. All keys that it has
    reported are there, and of the next 100 all or none."""
    rng = seeded("killed")
    opened(path, "quotient", 200000).close()
    first = 0
    for _ in range(min(2 * EFFORT, 20)):        # up to 90 commits each
        child = subprocess.Popen([sys.executable, "-c", """
import sys
from test_stored import again, insert_at_once
db = again(sys.argv[1])
for i in range(int(sys.argv[2]), 2000):
    insert_at_once(db, *(f"{i} {j}" for j in range(100)))
    print(i, flush=True)
""", str(path), str(first)], stdout=subprocess.PIPE, text=True,
            cwd=os.path.dirname(__file__))
        for _ in range(rng.randrange(30, 90)):
            last = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        last = int(([str(last)] + child.communicate()[0].split())[-1])
        db = again(path)
        keys = [f"{i} {j}" for i in range(last + 1) for j in range(0, 100, 33)]
        assert has(db, *keys) == keys
        after = has(db, *(f"{last + 1} {j}" for j in range(100)))
        assert len(after) in (0, 1, 100)
        first = last + 1 + (len(after) == 100)
        db.close()
    db = again(path)
    assert rewritten(db) > 1


# ---- Connections -------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_two_connections(path, mode):
    a = opened(path, "counting", 1000)
    assert value(a, f"PRAGMA journal_mode = {mode}") == mode
    b = again(path)
    insert(a, "one")
    assert has(b, "one", "two") == ["one"]
    insert(b, "two")
    assert has(a, "one", "two") == ["one", "two"]
    a.execute("DELETE FROM seen WHERE key = 'one'")
    assert has(b, "one", "two") == ["two"]
    before = rewritten(a)
    insert_at_once(a, *(f"n{i % 500}" for i in range(5000)))
    assert rewritten(a) > before        # b must read all pages
    assert has(b, "two", "n1", "n499", "m") == ["two", "n1", "n499"]
    if mode == "wal":
        b.execute("BEGIN")
        assert has(b, "late") == []
        insert(a, "late")
        assert has(b, "late") == []     # its snapshot
        assert "locked" in refused(b, "INSERT INTO seen VALUES ('x')")
        b.execute("ROLLBACK")
    else:
        insert(a, "late")
    assert has(b, "late", "x") == ["late"]


def test_a_rollback_while_a_statement_reads(path):
    """A statement that goes on after a rollback finds the state after it."""
    db = opened(path, "counting")
    insert(db, "a", "b")
    db.execute("CREATE TABLE names(x)")
    db.executemany("INSERT INTO names VALUES (?)", [(x,) for x in "aabbccabc"])
    db.execute("BEGIN")
    db.execute("SAVEPOINT s")
    db.execute("DELETE FROM seen WHERE key = 'b'")
    insert(db, "c")
    db.execute("SAVEPOINT t")           # writes the log
    rows = db.execute("SELECT x, (SELECT count FROM seen WHERE key = x) FROM names")
    assert rows.fetchone() == rows.fetchone() == ("a", 1)
    db.execute("ROLLBACK TO s")
    rest = rows.fetchall()
    # Python has stepped once more than it has returned
    assert rest[1:] == [("b", 1), ("c", None), ("c", None), ("a", 1), ("b", 1),
                        ("c", None)]
    db.execute("COMMIT")
    assert has(again(path), *"abc") == list("ab")


def test_a_number_is_used_again_after_a_rollback(path):
    """A state that was rolled back has the number of one that was committed."""
    a, b = opened(path), again(path)
    a.execute("BEGIN")
    insert(a, "lost")
    a.execute("SAVEPOINT s")            # writes the log
    a.execute("ROLLBACK")
    insert(b, "kept")
    assert has(a, "lost", "kept") == ["kept"]


def test_model(tmp_path):
    """Random changes by two connections, with savepoints and rollbacks, against a
    Python dict."""
    rng = seeded("stored")
    for turn in range(6 * EFFORT):
        path = tmp_path / f"{turn}.db"
        kind = rng.choice(["counting", "quotient", "cuckoo", "scalable", "blocked"])
        able = kind in ("counting", "quotient", "cuckoo")
        dbs = [opened(path, kind, 400)]
        if rng.random() < .5:
            dbs[0].execute("PRAGMA journal_mode = wal")
        dbs.append(again(path))
        truth, marks, writer = {}, [], None
        for _ in range(150):
            db = writer or rng.choice(dbs)
            what = rng.random()
            key = f"k{rng.randrange(60)}"
            if what < .45 and sum(truth.values()) < 350 \
                    and truth.get(key, 0) < 3:
                for i in range(rng.choice([1, 1, 5])):
                    insert(db, key)
                    truth[key] = truth.get(key, 0) + 1
                    if i and truth[key] >= 3:
                        break
            elif what < .6 and able and truth.get(key):
                db.execute("DELETE FROM seen WHERE key = ?", (key,))
                truth[key] -= 1
            elif what < .7 and writer is None:
                writer = db
                db.execute("BEGIN IMMEDIATE")
                marks = [("", dict(truth))]
            elif what < .78 and writer:
                marks.append((f"s{len(marks)}", dict(truth)))
                db.execute(f"SAVEPOINT {marks[-1][0]}")
            elif what < .86 and len(marks) > 1:
                at = rng.randrange(1, len(marks))
                db.execute(f"ROLLBACK TO {marks[at][0]}")
                truth = dict(marks[at][1])
                del marks[at + 1:]
            elif what < .9 and writer:
                db.execute(rng.choice(["COMMIT", "END"]))
                writer, marks = None, []
            elif what < .93 and writer:
                db.execute("ROLLBACK")
                truth = marks[0][1]
                writer, marks = None, []
            there = {k for k, n in truth.items() if n > 0}
            found = set(has(db, *(f"k{i}" for i in range(60))))
            assert there <= found and len(found - there) <= 1, (turn, kind)
        if writer:
            writer.execute("COMMIT")
        for db in dbs + [again(path)]:
            assert there <= set(has(db, *there))
            db.close()


# ---- The tables --------------------------------------------------------------------


def test_rename_and_drop(path):
    db = opened(path)
    insert(db, "a")
    db.execute("BEGIN")
    other = again(path)
    assert has(other, "a", "b") == ["a"]
    insert(db, "b")
    db.execute("ALTER TABLE seen RENAME TO \"known \"\"keys\"")
    db.execute("INSERT INTO \"known \"\"keys\" VALUES ('c')")
    db.execute("COMMIT")
    for one in other, again(path):
        assert has(one, *"abcd", table='"known ""keys"') == list("abc")
    db.execute("DROP TABLE \"known \"\"keys\"")
    assert value(db, "SELECT count(*) FROM sqlite_master") == 0
    db.execute("BEGIN")
    db.execute(MAKE.format("blocked", 10))
    insert(db, "a")
    db.execute("ROLLBACK")
    assert value(db, "SELECT count(*) FROM sqlite_master") == 0
    db.execute(MAKE.format("blocked", 10))
    db.execute("BEGIN")
    db.execute("DROP TABLE seen")
    db.execute("ROLLBACK")
    insert(db, "a")
    assert has(db, "a", "b") == ["a"]


@pytest.mark.parametrize("size", [512, 1024, 65536])
def test_page_sizes_vacuum_and_encodings(path, size):
    db = again(path)
    db.execute(f"PRAGMA page_size = {size}")
    db.execute("PRAGMA encoding = 'UTF-16le'")
    db.execute(MAKE.format("blocked", 20000))
    insert(db, "é", "漢字")
    db.execute("PRAGMA page_size = 4096")
    db.execute("VACUUM")
    insert_at_once(db, *(f"k{i}" for i in range(6000)))
    assert has(db, "é", "漢字", "k5999") == has(again(path), "é", "漢字", "k5999") \
        == ["é", "漢字", "k5999"]
    assert value(db, "PRAGMA integrity_check") == "ok"


def test_attached_temporary_and_in_memory(path, tmp_path):
    db = opened(path)
    db.execute(f"ATTACH '{tmp_path / 'b.db'}' AS \"other one\"")
    for schema in ('"other one"', "temp"):
        db.execute(f"CREATE VIRTUAL TABLE {schema}.seen USING "
                   "bloomery(kind=blocked, capacity=100)")
        db.execute(f"INSERT INTO {schema}.seen VALUES ({schema[1:3]!r})")
    assert has(db, "ot", "em", table='"other one".seen') == ["ot"]
    assert has(db, "ot", "em", table="temp.seen") == ["em"]
    assert has(db, "ot", "em", table="main.seen") == []
    memory = connect()
    memory.execute(MAKE.format("blocked", 100))
    insert(memory, "a")
    assert has(memory, "a", "b") == ["a"]


def test_backup_and_dump(path):
    db = opened(path)
    insert(db, "a")
    copy = sqlite3.connect(":memory:")
    db.backup(copy)
    copy.enable_load_extension(True)
    copy.load_extension(os.environ["BLOOMERY_SQLITE"].removesuffix(".so"))
    assert has(copy, "a", "b") == ["a"]


# ---- Untrusted databases -----------------------------------------------------------


def config(db, option, on):
    """sqlite3_db_config by Python 3.12; elsewhere its pragma."""
    if hasattr(db, "setconfig"):
        db.setconfig(option, on)
        return True
    return False


def test_triggers_of_an_untrusted_schema(path):
    db = opened(path)
    db.execute("CREATE TABLE t(k)")
    db.execute("CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO seen VALUES "
               "(new.k); END")
    db.execute("CREATE VIEW v AS SELECT key FROM seen WHERE key = 'a'")
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("INSERT INTO t VALUES ('a')")
    assert db.execute("SELECT * FROM v").fetchall() == [("a",)]


@pytest.mark.parametrize("table", ["seen_log", "seen_pages"])
def test_triggers_on_shadow_tables(path, table):
    db = opened(path)
    db.execute("CREATE TABLE audit(x)")
    insert(db, "a")
    image = value(db, "SELECT bloomery_add(filter, 'b') FROM seen")
    db.execute(f"CREATE TRIGGER r AFTER INSERT ON {table} BEGIN INSERT INTO audit "
               "SELECT 1 UNION ALL SELECT new.id; END")
    db.execute("BEGIN")
    db.execute("INSERT INTO seen(filter) VALUES (?)", (image,))
    db.execute("SAVEPOINT s")
    insert(db, "c")
    db.execute("COMMIT")
    assert has(db, *"abcd") == has(again(path), *"abcd") == list("abc")
    assert value(db, "SELECT count(*) FROM audit") >= 2
    db.execute("DROP TRIGGER r")
    db.execute(f"CREATE TRIGGER r AFTER INSERT ON {table} BEGIN INSERT INTO seen "
               "VALUES ('t'); END")
    db.execute("BEGIN")
    image = value(db, "SELECT bloomery_add(filter, 'd') FROM seen")
    db.execute("INSERT INTO seen(filter) VALUES (?)", (image,))
    assert "no such table" in refused(db, "COMMIT")
    assert has(db, *"abcdt") == list("abc")
    db.execute("DROP TRIGGER r")
    insert(db, "e")
    assert has(again(path), *"abcdet") == list("abce")


def test_defensive(path):
    """Shadow tables are changed by their table only."""
    shell = ["sqlite3", str(path), "-cmd", f".load {os.environ['BLOOMERY_SQLITE']}",
             "-cmd", ".dbconfig defensive on"]
    try:
        done = subprocess.run(shell, input=MAKE.format("blocked", 100) + ";"
                              "BEGIN; INSERT INTO seen VALUES ('a');"
                              "SAVEPOINT s; INSERT INTO seen VALUES ('b');"
                              "ROLLBACK TO s; COMMIT;"
                              "ALTER TABLE seen RENAME TO known;"
                              "SELECT key FROM known WHERE key IN ('a', 'b');",
                              capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no shell of SQLite")
    assert (done.stdout.split()[-1], done.stderr) == ("a", "")
    for change in ("DELETE FROM known_log", "DROP TABLE known_pages",
                   "UPDATE known_pages SET bytes = x''"):
        done = subprocess.run(shell, input=change + ";", capture_output=True,
                              text=True)
        assert "may not be" in done.stderr, change


@pytest.mark.parametrize("view", [
    "seen_log AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
    "SELECT id, 0 AS tag, NULL AS ops FROM n",
    "seen_pages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
    "SELECT id, zeroblob(1) AS bytes FROM n"])
def test_a_view_in_place_of_a_shadow_table(path, view):
    db = opened(path)
    table = view.split()[0]
    db.execute(f"DROP TABLE {table}")
    db.execute(f"CREATE VIEW {view}")
    db = again(path)
    steps = []
    db.set_progress_handler(lambda: steps.append(1) or len(steps) > 100, 10000)
    for text in "SELECT 1 FROM seen WHERE key = 'a'", "INSERT INTO seen VALUES ('a')":
        assert f"{table} is not a table" in refused(db, text)


def test_more_pages_than_memory_holds(path):
    db = opened(path)
    db.execute("INSERT INTO seen_pages WITH RECURSIVE n(id) AS (SELECT 9 UNION ALL "
               "SELECT id + 1 FROM n LIMIT 2200) SELECT id, zeroblob(1) FROM n")
    db.execute("PRAGMA writable_schema = ON")
    # each length is one million: few bytes in the file
    db.execute("UPDATE sqlite_schema SET sql = replace(sql, 'bytes BLOB', 'bytes BLOB "
               "GENERATED ALWAYS AS (zeroblob(1000000))') WHERE name = 'seen_pages'")
    db.close()
    assert "largest block of memory" in refused(
        again(path), "SELECT 1 FROM seen WHERE key = 'a'")


def test_the_largest_id(path):
    db = opened(path)
    db.execute("UPDATE seen_log SET id = 9223372036854775807")
    assert "largest id" in refused(db, "INSERT INTO seen VALUES ('a')")


def test_shadow_tables_are_not_trusted(path):
    """Whatever they hold, a statement ends with one line or an answer."""
    db = opened(path, "counting", 1000)
    insert(db, *(f"k{i}" for i in range(50)))
    db.close()
    image = path.read_bytes()
    changes = ["DELETE FROM seen_pages", "DELETE FROM seen_log",
               "UPDATE seen_pages SET bytes = x'' WHERE id = 1",
               "UPDATE seen_pages SET bytes = NULL",
               "UPDATE seen_pages SET bytes = 'text'",
               "UPDATE seen_pages SET bytes = zeroblob(200) WHERE id = 2",
               "DELETE FROM seen_pages WHERE id = 2", "DROP TABLE seen_pages",
               "DROP TABLE seen_log", "UPDATE seen_log SET ops = x'61'",
               "UPDATE seen_log SET ops = x'00'", "UPDATE seen_log SET ops = 7",
               "UPDATE seen_log SET ops = x'41ffffffffffffffff'",
               "UPDATE seen_log SET ops = x'700000000000000000'",
               "UPDATE seen_log SET ops = x'72' || zeroblob(8)",
               "UPDATE seen_log SET id = 9223372036854775807 WHERE id = 51",
               "INSERT INTO seen_log VALUES (-5, 1, x'00')",
               "DELETE FROM seen_log WHERE id < 50",
               "ALTER TABLE seen_log RENAME COLUMN ops TO opz"]
    rng = seeded("shadow")
    for i in range(20 * EFFORT):
        at = rng.randrange(1, 4)
        changes.append(f"UPDATE seen_pages SET bytes = CAST(substr(bytes, 1, "
                       f"{rng.randrange(400)}) || x'{rng.randrange(256):02x}' || "
                       f"substr(bytes, {rng.randrange(400)}) AS BLOB) WHERE "
                       f"id = {at}")
    stopped = 0
    for change in changes:
        path.write_bytes(image)
        db = again(path)
        db.execute(change)
        for text in ("SELECT count(*) FROM seen WHERE key = 'k7'",
                     "INSERT INTO seen VALUES ('more')",
                     "DELETE FROM seen WHERE key = 'k8'", "DROP TABLE seen"):
            try:
                db.execute(text).fetchall()
            except sqlite3.Error as error:
                stopped += 1
                assert str(error) and "\n" not in str(error)
        db.close()
    assert stopped > len(changes)
