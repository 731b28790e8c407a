"""The statements of the page about production are true."""
import importlib
import multiprocessing
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import threading

import pytest

from conftest import EFFORT, EXTENSION, refused, value
from test_stored import MAKE, again, has, insert, insert_at_once, opened, path

PAGE = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "library"
        / "sqlite-production.md")

# Each sentence by its first words, and the tests of it. None: advice, or a rule of
# SQLite itself.
TESTED = {
    "This page is for": None,
    "Tests of the": ["test_production.test_each_sentence_has_a_test"],
    "A stored filter is as": ["test_stored.test_savepoints",
                              "test_stored.test_two_connections"],
    "A transaction changes it": ["test_stored.test_rollback_of_many"],
    "`ROLLBACK TO` returns": ["test_stored.test_savepoints"],
    "A process that is killed": ["test_stored.test_power_is_cut_in_a_transaction"],
    "`COMMIT` writes a row": ["test_production.test_rows_of_the_log"],
    "When this log has": ["test_production.test_rows_of_the_log",
                          "test_stored.test_only_changed_pages_are_written"],
    "This one `COMMIT`": ["bench"],
    "A key that is perhaps": ["test_production.test_rows_of_the_log"],
    "After a rollback of": ["test_stored.test_rollback_of_many"],
    "That costs as much": ["bench"],
    "Each connection sees": ["test_stored.test_two_connections"],
    "A statement looks at": ["test_stored.test_two_connections"],
    "Only after a rewriting": ["test_stored.test_two_connections"],
    "A write needs SQLite's": ["test_stored.test_two_connections"],
    "If `COMMIT` fails": ["test_stored.test_commit_that_is_busy"],
    "A connection and its filters": ["test_production.test_threads"],
    "For parallel work": ["test_production.test_threads"],
    "The extension starts no": ["test_production.test_threads"],
    "SQLite forbids to use": None,
    "A child that opens": ["test_production.test_fork"],
    "A connection holds the": ["test_production.test_memory"],
    "`bloomery_plan` tells": ["test_production.test_memory"],
    "Reading the whole filter": ["test_production.test_memory_of_reading"],
    "All of it is SQLite's": ["test_production.test_memory"],
    "A statement that would exceed": ["test_production.test_memory"],
    "A transaction keeps at": ["test_production.test_memory_of_a_transaction"],
    "The extension installs no": ["test_production.test_signals"],
    "`sqlite3_interrupt` ends": ["interrupt"],
    "If a file is mapped": None,
    "Replace such files": None,
    "Stored filters and files": None,
    "The backup interface": ["test_production.test_copies"],
    "`iterdump()` of Python": ["test_production.test_iterdump_fails"],
    "A dump can be read": ["test_production.test_copies"],
    "`VACUUM` may change": ["test_stored.test_page_sizes_vacuum_and_encodings"],
    "A program without the": ["test_production.test_without_the_extension"],
    "A statement that uses": ["test_production.test_without_the_extension"],
    "The pages have the image": ["test_production.test_pages_are_an_image"],
    "A record in the log": ["test_production.test_unknown_records"],
    "Two programs with": None,
    "To upgrade, replace": None,
    "A loaded extension": ["test_production.test_a_loaded_extension_stays"],
    "Everything in a database": None,
    "If other statements have":
        ["test_stored.test_shadow_tables_change_in_a_transaction"],
    "All bytes of the shadow": ["test_stored.test_shadow_tables_are_not_trusted"],
    "`PRAGMA integrity_check` reads": ["test_production.test_integrity_check"],
    "With SQLITE_DBCONFIG_DEFENSIVE": ["test_stored.test_defensive"],
    "Stored filters may be": [
        "test_stored.test_triggers_of_an_untrusted_schema"],
    "Views and triggers": ["test_table.test_views_and_triggers_open_no_file"],
    "`last_insert_rowid()` is": [
        "test_stored.test_last_insert_rowid_is_the_programs"],
    "`changes()` counts": ["test_production.test_counters"],
    "Delete only keys": None,
    "The kinds that remove": None,
    "`REPLACE INTO` deletes": ["test_production.test_replace_into"],
    "A filter that triggers": ["test_production.test_replace_into"],
    "A filter does not grow": ["test_production.test_a_larger_filter"],
    "To make a larger": ["test_production.test_a_larger_filter"],
}


def sentences():
    text = PAGE.read_text()
    for paragraph in re.split(r"\n\n|\n- ", text):
        if not paragraph.startswith("#"):
            line = " ".join(paragraph.removeprefix("- ").split())
            yield from re.split(r"(?<=[.]) (?=[A-Z`])", line)


def test_each_sentence_has_a_test():
    used = set()
    for sentence in sentences():
        known = [words for words in TESTED if sentence.startswith(words)]
        assert len(known) == 1, sentence
        used.add(known[0])
    assert used == set(TESTED)
    for tests in TESTED.values():
        for test in tests or ():
            module, _, name = test.partition(".")
            if name:
                assert callable(getattr(importlib.import_module(module), name))


# ---- Connections -------------------------------------------------------------------


def test_rows_of_the_log(path):
    db = opened(path)
    insert(db, "first")
    log = "SELECT count(*), max(id), total(length(ops)) FROM seen_log"
    rows, last, size = db.execute(log).fetchone()
    insert_at_once(db, *(f"k{i}" for i in range(100)))
    assert db.execute(log).fetchone() == (rows + 1, last + 1, size + 900)
    insert(db, "k1", "first")
    assert db.execute(log).fetchone() == (rows + 1, last + 1, size + 900)
    insert_at_once(db, *(f"m{i}" for i in range(4000)))
    assert db.execute(log).fetchone() == (1, last + 2, 0)


def test_threads(path):
    """Connections of their own, and one that is shared under a lock."""
    db = opened(path, "counting", 5000)
    db.execute("PRAGMA journal_mode = wal")
    shared = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    shared.enable_load_extension(True)
    shared.load_extension(EXTENSION.removesuffix(".so"))
    shared.execute("PRAGMA busy_timeout = 60000")
    shared.execute("PRAGMA synchronous = off")
    lock, wrong = threading.Lock(), []
    worked, counted = threading.Barrier(5), threading.Barrier(5)

    def work(number):
        try:
            mine = again(path)
            mine.execute("PRAGMA busy_timeout = 60000")
            for i in range(30):
                insert(mine, f"{number} {i}")
                with lock:
                    insert(shared, f"shared {number} {i}")
                    if not has(shared, f"{number} {i}"):
                        wrong.append((number, i))
            mine.close()
        except BaseException as error:
            wrong.append(error)
        worked.wait()
        counted.wait()
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    worked.wait()
    if os.path.exists("/proc/self/task"):
        assert len(os.listdir("/proc/self/task")) == threading.active_count()
    counted.wait()
    for thread in threads:
        thread.join()
    assert wrong == []
    keys = [f"{s}{n} {i}" for s in ("", "shared ") for n in range(4)
            for i in range(30)]
    assert has(db, *keys) == keys
    assert value(db, "SELECT max(count) FROM seen WHERE key = '0 1'") == 1
    shared.close()


def child_of_a_fork(path, pipe):
    db = again(path)
    found = has(db, "before", "child")
    insert(db, "child")
    pipe.send(found + has(db, "before", "child"))
    db.close()


def test_fork(path):
    db = opened(path)
    insert(db, "before")
    methods = multiprocessing.get_all_start_methods()
    for method in methods if EFFORT > 1 else methods[:1]:
        if method == "fork":
            db.close()                  # as SQLite demands
        context = multiprocessing.get_context(method)
        ours, theirs = context.Pipe()
        child = context.Process(target=child_of_a_fork, args=(path, theirs))
        child.start()
        found = ours.recv() if ours.poll(60) else None
        child.join()
        assert found[0] == "before" and found[-1] == "child"
        db = again(path)
        assert has(db, "before", "child") == ["before", "child"]
    db.close()


# ---- Memory ------------------------------------------------------------------------


def child(text, *arguments):
    """Runs a program of its own, whose limits are not ours."""
    done = subprocess.run([sys.executable, "-c", "import sys\nfrom test_stored "
                           "import *\n" + text, *map(str, arguments)],
                          capture_output=True, text=True,
                          cwd=pathlib.Path(__file__).parent)
    assert done.stderr == ""
    return done.stdout.split()


def test_memory(path):
    db = opened(path, "blocked", 1000000)
    insert(db, "kept")
    bytes_ = value(db, "SELECT json_extract(bloomery_plan('blocked', 1000000, 1e-6), "
                   "'$.bytes')")
    assert value(db, "SELECT length(filter) FROM seen") == bytes_
    db.close()
    assert child(f"""
db = again(sys.argv[1])
db.execute("PRAGMA cache_size = 10")
def tried(limit):
    db.execute(f"PRAGMA hard_heap_limit = {{limit}}")
    try:
        print(has(db, "kept", "more"))
    except MemoryError:
        print("refused")
tried({bytes_})
""", path) == ["refused"]
    assert child(f"""
db = again(sys.argv[1])
db.execute("PRAGMA cache_size = 10")
db.execute("PRAGMA hard_heap_limit = {4 * bytes_}")
insert(db, "small")
try:
    insert(db, "x" * {5 * bytes_})
except (MemoryError, sqlite3.Error):
    print("refused", *has(db, "kept", "small", "more"))
""", path) == ["refused", "kept", "small"]


def test_memory_of_reading(path):
    """A filter is read with twice its size."""
    db = again(path)
    db.execute("CREATE VIRTUAL TABLE seen USING bloomery(kind=blocked, capacity=3e6)")
    insert(db, "kept")
    bytes_ = value(db, "SELECT sum(length(bytes)) FROM seen_pages")
    db.close()
    assert child(f"""
db = again(sys.argv[1])
db.execute("PRAGMA cache_size = 10")
db.execute("PRAGMA hard_heap_limit = {2 * bytes_ + 500000}")
print(*has(db, "kept"))
""", path) == ["kept"]


def test_memory_of_a_transaction(path):
    """Changes of several MiB fit in a heap that has little more than the filter."""
    opened(path, "blocked", 100000).close()
    assert child("""
db = again(sys.argv[1])
db.execute("PRAGMA cache_size = 10")
db.execute("PRAGMA hard_heap_limit = 4000000")
db.execute("BEGIN")
db.execute("INSERT INTO seen WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
           "FROM n LIMIT 300000) SELECT i FROM n")
db.execute("COMMIT")
print(*has(db, 1, 300000))
""", path) == ["1", "300000"]


def test_signals(path):
    assert child("""
state = "SigBlk", "SigIgn", "SigCgt"
with open("/proc/self/status") as file:
    caught = [line for line in file if line.startswith(state)]
db = opened(sys.argv[1])
insert(db, "a")
with open("/proc/self/status") as file:
    print(caught == [line for line in file if line.startswith(state)])
""", path) == ["True"]


# ---- Copies and versions -----------------------------------------------------------


def test_iterdump_fails(path):
    db = opened(path)
    insert(db, "a")
    with pytest.raises(sqlite3.OperationalError, match="no list of its keys"):
        list(db.iterdump())


def test_copies(path, tmp_path):
    db = opened(path)
    insert(db, "a", "b")
    copies = [tmp_path / f"{i}.db" for i in range(4)]
    with sqlite3.connect(copies[0]) as target:
        db.backup(target)
    db.execute(f"VACUUM INTO '{copies[1]}'")
    db.close()
    copies[2].write_bytes(path.read_bytes())
    try:
        dump = subprocess.run(["sqlite3", path, ".dump"], capture_output=True,
                              check=True).stdout
        subprocess.run(["sqlite3", copies[3]], input=dump, check=True)
    except FileNotFoundError:
        del copies[3]
    for copy in copies:
        other = again(copy)
        assert has(other, *"abc") == list("ab"), copy
        insert(other, "c")
        assert has(again(copy), *"abc") == list("abc")
        other.close()


def test_without_the_extension(path):
    db = opened(path)
    db.execute("CREATE TABLE t(x)")
    db.close()
    db = sqlite3.connect(path)
    db.execute("INSERT INTO t VALUES (1)")
    for text in ("SELECT 1 FROM seen WHERE key = 1", "DROP TABLE seen"):
        assert refused(db, text) == "no such module: bloomery"
    db.close()


def test_pages_are_an_image(path):
    """The pages together are a file that every version reads."""
    db = opened(path)
    insert_at_once(db, *(f"k{i}" for i in range(4000)))
    image = b"".join(part for part, in db.execute(
        "SELECT bytes FROM seen_pages ORDER BY id"))
    assert image == value(db, "SELECT filter FROM seen")
    assert value(db, "SELECT bloomery_contains(?, 'k7')", image) == 1


def test_unknown_records(path):
    db = opened(path)
    insert(db, "a")
    db.execute("INSERT INTO seen_log VALUES (99, 1, x'7a0102')")
    other = again(path)
    for text in ("SELECT 1 FROM seen WHERE key = 'a'",
                 "INSERT INTO seen VALUES ('b')"):
        assert "later version" in refused(other, text)
    db.execute("DELETE FROM seen_log WHERE id = 99")
    assert has(other, "a", "b") == ["a"]


def test_a_loaded_extension_stays(path):
    assert child("""
db = opened(sys.argv[1])
db.close()
with open("/proc/self/maps") as file:
    print(any("bloomery_sqlite" in line for line in file))
""", path) == ["True"]


def test_integrity_check(path):
    db = opened(path)
    insert(db, "a")
    assert value(db, "PRAGMA integrity_check") == "ok"
    db.execute("UPDATE seen_pages SET bytes = zeroblob(1000) WHERE id = 1")
    checked = sqlite3.sqlite_version_info >= (3, 44)
    assert (value(db, "PRAGMA integrity_check") == "ok") != checked


# ---- Counters and traps ------------------------------------------------------------


def test_counters(path):
    db = opened(path)
    assert db.execute("INSERT INTO seen VALUES ('a'), ('b')").rowcount == 2
    assert value(db, "SELECT changes()") == 2
    before = value(db, "SELECT total_changes()")
    insert_at_once(db, "c")
    assert value(db, "SELECT changes()") == 1
    assert value(db, "SELECT total_changes()") == before + 2


def test_replace_into(path):
    db = opened(path, "counting")
    db.execute("CREATE TABLE t(k PRIMARY KEY, n)")
    db.execute("CREATE TRIGGER i AFTER INSERT ON t BEGIN INSERT INTO seen VALUES "
               "(new.k); END")
    db.execute("CREATE TRIGGER d AFTER DELETE ON t BEGIN DELETE FROM seen WHERE key "
               "= old.k; END")
    counts = []
    for on in ("OFF", "ON"):
        db.execute(f"PRAGMA recursive_triggers = {on}")
        for n in range(2):
            db.execute("REPLACE INTO t VALUES (?, ?)", (on, n))
        counts.append(value(db, "SELECT count FROM seen WHERE key = ?", on))
    assert counts == [2, 1]


def test_a_larger_filter(path):
    db = opened(path, "cuckoo", 100)
    db.execute("CREATE TABLE users(name)")
    db.executemany("INSERT INTO users VALUES (?)", [(f"u{i}",) for i in range(500)])
    assert "full" in refused(db, "INSERT INTO seen SELECT name FROM users")
    for kind, capacity in ("cuckoo", 1000), ("scalable", 100):
        db.execute(MAKE.format(kind, capacity).replace("seen", f"larger_{kind}"))
        db.execute(f"INSERT INTO larger_{kind} SELECT name FROM users")
        assert has(db, "u0", "u499", "v", table=f"larger_{kind}") == ["u0", "u499"]
