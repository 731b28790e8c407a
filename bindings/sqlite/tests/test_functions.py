"""Functions and aggregates: the answers, the bytes, the errors."""
import json
import math
import os
import sqlite3
import struct
import subprocess

import pytest

from conftest import command, connect, kinds, refused, unformed, value

WORDS = [f"word {i}" for i in range(300)]
NUMBERS = [0, 1, -1, 7, 2 ** 62, -2 ** 63, 2 ** 63 - 1, 2.5, -0.5, 1e300,
           5e-324, math.inf, -math.inf, 2.0 ** 63, -2.0 ** 63]
BUILD = "SELECT bloomery_build(value, ?, ?, ?) FROM json_each(?)"


def build(db, kind, keys, rate=0.01, items=None):
    return value(db, BUILD, kind, rate, items, json.dumps(keys))


def built(db):
    """A filter of each kind that is built of words, and its kind."""
    for kind, can in kinds(db):
        if kind == "egh" or "separate" in can:
            continue
        yield kind, can, build(db, kind, WORDS)


# ---- Keys ----------------------------------------------------------------------


def test_types(db):
    db.execute("CREATE TABLE k(x)")
    keys = NUMBERS + ["7", "", "é", "a\0b", b"", b"\0\xff", b"abc"]
    db.executemany("INSERT INTO k VALUES(?)", [(k,) for k in keys])
    b = value(db, "SELECT bloomery_build(x, 'quotient', 1e-9, NULL, NULL, "
              "NULL, 'any') FROM k")
    assert db.execute("SELECT count(*) FROM k WHERE NOT bloomery_contains(?, x)",
                      (b,)).fetchone() == (0,)

    def has(key):
        return value(db, "SELECT bloomery_contains(?, ?)", b, key)
    assert has(7.0) == has("abc") == has(0.0) == has(-0.0) == has(b"7") == 1
    assert has(8) == has("8") == has(2.25) == has("a") == has("a\0") == 0
    assert has(struct.pack("<q", 7)) == has(struct.pack("<d", 2.5)) == 1


def test_text_is_utf8_whatever_the_database_is():
    images = set()
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        db = connect()
        db.execute(f"PRAGMA encoding = '{encoding}'")
        db.execute("CREATE TABLE k(x TEXT)")
        db.executemany("INSERT INTO k VALUES(?)", [("é",), ("漢字",), ("",)])
        b = value(db, "SELECT bloomery_build(x, 'fuse') FROM k")
        assert value(db, "SELECT min(bloomery_contains(?, x)) FROM k", b) == 1
        images.add(unformed(b))
        db.close()
    assert images == {unformed(command("build", "-o-", "-k", "fuse",
                                       lines=["é", "漢字", ""]))}


def test_null(db):
    assert value(db, "SELECT bloomery_build(NULL)") is None
    assert value(db, "SELECT bloomery_build(1) WHERE 0") is None
    assert value(db, "SELECT bloomery_unite(NULL)") is None
    b = build(db, "counting", [None, "a", None])
    assert json.loads(value(db, "SELECT bloomery_info(?)", b))["items"] == 1
    for call in ("contains", "count", "get"):
        assert value(db, f"SELECT bloomery_{call}(?, NULL)", b) is None
        assert value(db, f"SELECT bloomery_{call}(NULL, 'a')") is None
    assert value(db, "SELECT bloomery_add(?, NULL, NULL)", b) == b
    assert value(db, "SELECT bloomery_add(NULL, 'a')") is None
    assert value(db, "SELECT bloomery_open(NULL)") is None
    assert value(db, "SELECT bloomery_info(NULL)") is None
    assert db.execute("SELECT * FROM bloomery_list_keys(NULL)").fetchall() == []
    assert db.execute("SELECT * FROM bloomery_diff(NULL, NULL)").fetchall() == []


# ---- Every kind ------------------------------------------------------------------


def test_no_false_negative_of_any_kind(db):
    """By a parameter, by a subquery, by bloomery_open, from a table."""
    db.execute("CREATE TABLE w(x)")
    db.executemany("INSERT INTO w VALUES(?)", [(w,) for w in WORDS])
    db.execute("CREATE TABLE f(kind, b)")
    n = 0
    for kind, can, b in built(db):
        if "forget" in can or kind == "twin":
            continue
        db.execute("INSERT INTO f VALUES(?, ?)", (kind, b))
        n += 1
        for filter_, parameters in (
                (":b", {"b": b}),
                ("(SELECT b FROM f WHERE kind = :k)", {"k": kind}),
                ("(SELECT bloomery_open(b) FROM f WHERE kind = :k)",
                 {"k": kind}),
                ("bloomery_open(:b)", {"b": b})):
            found = db.execute("SELECT sum(bloomery_contains("
                               f"{filter_}, x)) FROM w", parameters).fetchone()
            assert found == (len(WORDS),), (kind, filter_)
    assert n > 20
    rows = db.execute("SELECT kind, sum(bloomery_contains(b, x)) FROM w, f "
                      "GROUP BY kind").fetchall()
    assert len(rows) == n and all(found == len(WORDS) for _, found in rows)


def test_bytes_are_the_commands(db):
    """Header and all: the same kind, rate, items, seed and keys are the same
    filter, whoever makes it."""
    n = 0
    for kind, can, b in built(db):
        theirs = command("build", "-o-", "-k", kind, "-n", str(len(WORDS)),
                         "-p", "0.01", lines=WORDS)
        assert unformed(b) == unformed(theirs), kind
        n += 1
    assert n > 25
    whole = [n for n in NUMBERS if math.isfinite(n)]
    db.execute("CREATE TABLE n(x)")
    db.executemany("INSERT INTO n VALUES(?)", [(k,) for k in whole])
    for kind in ("standard", "blocked", "fuse", "quotient", "invertible:key=8"):
        ours = value(db, "SELECT bloomery_build(x, ?, 0.001, 20) FROM n", kind)
        theirs = command("build", "-o-", "-k", kind, "-n", "20", "-p",
                         "0.001", "--as", "number", lines=whole)
        assert unformed(ours) == unformed(theirs), kind


def test_default_kind_is_the_commands(db):
    ours = value(db, "SELECT bloomery_build(x) FROM (SELECT 'a' AS x)")
    assert unformed(ours) == unformed(command("build", "-o-", lines=["a"]))
    assert value(db, "SELECT json_extract(bloomery_info(bloomery_new('bloom', "
                 "10)), '$.kind')") == "standard"


def test_repeats_are_planned_once(db):
    """Where a key that comes again takes no room, as the command plans. The
    count is exact here, and estimated there, so -n is given."""
    some = WORDS[:100]
    twice = some + some
    for kind, n in (("standard", 100), ("blocked", 100), ("scalable", 100),
                    ("counting", 200), ("fuse", 200), ("approximator", 200)):
        theirs = command("build", "-o-", "-k", kind, "-n", str(n), lines=twice)
        assert unformed(build(db, kind, twice)) == unformed(theirs), kind
    many = [i % 9000 for i in range(30000)]
    info = json.loads(value(db, "SELECT bloomery_info(?)",
                            build(db, "standard", many)))
    assert info["capacity"] == 9000 and info["items"] == 30000


def test_bytes_are_pythons(db, tmp_path):
    python = os.environ.get("BLOOMERY_PYTHON")
    if not python or not os.access(python, os.X_OK):
        pytest.skip("there is no package of Python: make bindings WHAT=python")
    program = ("import sys, math; from bloomery import Filter; "
               "sys.stdout.buffer.write(Filter.build(sys.argv[1], "
               f"{WORDS!r} + [1, 2.5, 7.0, b'x'], rate=0.02, seed=5, "
               "keys='any').pack())")
    db.execute("CREATE TABLE k(x)")
    db.executemany("INSERT INTO k VALUES(?)",
                   [(k,) for k in WORDS + [1, 2.5, 7.0, b"x"]])
    for kind in ("standard", "blocked", "ribbon", "cuckoo", "compressed"):
        theirs = subprocess.run([python, "-c", program, kind], check=True,
                                stdout=subprocess.PIPE).stdout
        assert value(db, "SELECT bloomery_build(x, ?, 0.02, NULL, 5, NULL, "
                     "'any') FROM k", kind) == theirs, kind


def test_info_and_plan_are_the_commands(db, tmp_path):
    file = tmp_path / "f.bly"
    for kind, _, b in built(db):
        file.write_bytes(b)
        theirs = json.loads(command("info", "--json", str(file)))
        del theirs["file"]
        theirs["keys"] = "text"         # the command's lines are changed text
        assert json.loads(value(db, "SELECT bloomery_info(?)", b)) == theirs
        theirs = json.loads(command("plan", "--json", "-k", kind, "-n", "5000"))
        ours = value(db, "SELECT bloomery_plan(?, 5e3)", kind)
        assert json.loads(ours) == theirs, kind
    assert value(db, "SELECT json_extract(json_array(bloomery_plan('blocked', "
                 "1000)), '$[0].capacity')") == 1000


def test_rate(db):
    """Finds as many absent keys as the filter says, within 5 sigma."""
    rows = 20000
    for kind in ("blocked", "fuse", "cuckoo"):
        b = build(db, kind, list(range(5000)), rate=0.02)
        rate = json.loads(value(db, "SELECT bloomery_info(?)", b))["rate"]
        found = value(
            db, "WITH RECURSIVE n(i) AS (SELECT 5000 UNION ALL SELECT i + 1 "
            "FROM n WHERE i < ?) SELECT sum(bloomery_contains(?, i)) FROM n",
            5000 + rows - 1, b)
        assert abs(found - rows * rate) < 5 * math.sqrt(rows * rate) + 1, kind


# ---- Whichever filter comes --------------------------------------------------------


def test_a_statement_gets_another_filter(db):
    """Forgets a parameter's filter when it is bound anew."""
    a, b = build(db, "blocked", ["a"]), build(db, "blocked", ["b"])
    text = "SELECT value, bloomery_contains(?, value) FROM json_each(?)"
    for _ in range(20):
        for one, found in ((a, [1, 0, 1]), (b, [0, 1, 0])):
            rows = db.execute(text, (one, '["a", "b", "a"]')).fetchall()
            assert [r[1] for r in rows] == found


def test_filters_that_alternate(db):
    """Filters of one size, row by row, in memory that SQLite uses again."""
    db.execute("CREATE TABLE f(i, b)")
    for i in range(40):
        db.execute("INSERT INTO f SELECT ?, bloomery_build(value, 'standard', "
                   "1e-9, 10) FROM json_each(?)", (i, json.dumps([i])))
    for order in ("ORDER BY f.i", "ORDER BY -f.i", ""):
        rows = db.execute("SELECT f.i, k.i, bloomery_contains(b, k.i) FROM f, "
                          f"(SELECT i FROM f) k {order}").fetchall()
        assert len(rows) == 1600
        assert all(found == (i == k) for i, k, found in rows)
    rows = db.execute("SELECT bloomery_contains(g.b, f.i), "
                      "bloomery_contains(f.b, f.i), f.i = g.i FROM f, f g")
    assert all(x == same and y == 1 for x, y, same in rows)


def test_damage_is_seen(db):
    b = bytearray(build(db, "blocked", WORDS))
    b[200] ^= 1
    assert "damaged" in refused(db, "SELECT bloomery_contains(?, 1)", bytes(b))
    db.execute("CREATE TABLE f(b)")
    db.execute("INSERT INTO f VALUES(?)", (bytes(b),))
    for text in ("SELECT bloomery_contains(b, 1) FROM f",
                 "SELECT bloomery_contains((SELECT b FROM f), 1)",
                 "SELECT bloomery_open(b) FROM f",
                 "SELECT bloomery_unite(b) FROM f",
                 "SELECT bloomery_add(b, 1) FROM f"):
        assert "damaged" in refused(db, text), text


def test_open(db):
    db.execute("CREATE TABLE f(i, b)")
    for i in range(100):
        db.execute("INSERT INTO f SELECT ?, bloomery_build(value, 'fuse', "
                   "1e-6) FROM json_each(?)", (i, json.dumps([i])))
    rows = db.execute("SELECT i, k.value, bloomery_contains(bloomery_open(b), "
                      "k.value) FROM f, json_each('[3, 50]') k").fetchall()
    assert all(found == (i == k) for i, k, found in rows)
    token = value(db, "SELECT bloomery_open(b) FROM f WHERE i = 99")
    assert len(token) == 128
    assert value(db, "SELECT bloomery_open(?)", token) == token
    assert value(db, "SELECT bloomery_contains(?, 99)", token) == 1
    other = connect()
    assert "not open here" in refused(other, "SELECT bloomery_contains(?, 99)",
                                      token)
    assert "not open here" in refused(other, "SELECT bloomery_open(?)", token)
    other.close()
    # 64 others later it is let go, and the statement says so
    db.execute("SELECT bloomery_open(b) FROM f WHERE i < 64").fetchall()
    assert "no longer" in refused(db, "SELECT bloomery_contains(?, 99)", token)


def test_views_triggers_and_partial_indexes(db):
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("CREATE TABLE f(b)")
    db.execute("INSERT INTO f VALUES(bloomery_new('blocked', 1000))")
    db.execute("CREATE TABLE k(x)")
    db.execute("CREATE TRIGGER t AFTER INSERT ON k BEGIN "
               "UPDATE f SET b = bloomery_add(b, new.x); END")
    db.executemany("INSERT INTO k VALUES(?)", [(w,) for w in WORDS])
    db.execute("CREATE VIEW found AS SELECT x FROM k "
               "WHERE bloomery_contains((SELECT bloomery_open(b) FROM f), x)")
    assert value(db, "SELECT count(*) FROM found") == len(WORDS)
    b = build(db, "fuse", WORDS[:10])
    db.execute("CREATE INDEX few ON k(x) WHERE bloomery_contains(x'"
               f"{b.hex()}', x)")
    assert value(db, "SELECT count(*) FROM k INDEXED BY few WHERE "
                 f"bloomery_contains(x'{b.hex()}', x)") >= 10


# ---- Changes -----------------------------------------------------------------------


def test_changes(db):
    empty = value(db, "SELECT bloomery_new('counting', 300, 0.01)")
    full = value(db, "SELECT bloomery_add(?, 'a', 'b', 'a', NULL, '7')", empty)
    assert full == build(db, "counting", ["a", "b", "a", "7"], 0.01, 300)
    assert value(db, "SELECT bloomery_count(?, 'a')", full) == 2
    assert value(db, "SELECT bloomery_count(?, 'z')", full) == 0
    less = value(db, "SELECT bloomery_remove(?, 'a', 'b', '7')", full)
    assert value(db, "SELECT bloomery_count(?, 'a')", less) == 1
    assert "not in the filter" in refused(db, "SELECT bloomery_remove(?, 'zebra')",
                                  less)
    assert value(db, "SELECT bloomery_count(?, 'a')",
                 build(db, "blocked", ["a"])) is None       # not bounded
    frozen = build(db, "fuse", ["a"])
    assert "cannot add" in refused(db, "SELECT bloomery_add(?, 'b')", frozen)
    assert "arguments" in refused(db, "SELECT bloomery_add(?)", frozen)


def test_sets(db):
    a = build(db, "standard", ["a", "b"], 0.01, 100)
    b = build(db, "standard", ["b", "c"], 0.01, 100)
    both = value(db, "SELECT bloomery_unite(v) FROM (SELECT ? v UNION ALL "
                 "SELECT NULL UNION ALL SELECT ?)", a, b)
    assert [value(db, "SELECT bloomery_contains(?, ?)", both, k)
            for k in "abcd"] == [1, 1, 1, 0]
    common = value(db, "SELECT bloomery_intersect(v) FROM (SELECT ? v UNION "
                   "ALL SELECT ?)", a, b)
    assert [value(db, "SELECT bloomery_contains(?, ?)", common, k)
            for k in "abc"] == [0, 1, 0]
    other = build(db, "standard", ["b"], 0.01, 200)
    refused(db, "SELECT bloomery_unite(v) FROM (SELECT ? v UNION ALL SELECT ?)",
            a, other)
    days = value(db, "SELECT count(*) FROM (SELECT bloomery_unite(b) FROM "
                 "(SELECT value % 3 g, bloomery_build(value, 'blocked', 0.01, "
                 "100) b FROM json_each('[1,2,3,4,5,6]') GROUP BY value) "
                 "GROUP BY g)")
    assert days == 3


def test_labels(db):
    rows = "json_each('{\"red\": 1, \"green\": 2, \"blue\": 300}')"
    b = value(db, f"SELECT bloomery_build_labels(key, value) FROM {rows}")
    theirs = command("build", "-o-", "-k", "bloomier", "-f1", "-l2", "--tsv",
                     "-n3", lines=["red\t1", "green\t2", "blue\t300"])
    assert unformed(b) == unformed(theirs)
    assert value(db, "SELECT bloomery_get(?, 'blue')", b) == 300
    again = value(db, "SELECT bloomery_put(?, 'blue', 4)", b)
    assert value(db, "SELECT bloomery_get(?, 'blue')", again) == 4
    assert "0 or more" in refused(db, "SELECT bloomery_put(?, 'blue', -4)", b)
    assert "labels" in refused(db, "SELECT bloomery_get(?, 'a')",
                               build(db, "blocked", ["a"]))
    assert "NULL" in refused(db, "SELECT bloomery_build_labels('a', NULL)")
    cascade = value(db, "SELECT bloomery_build_labels(value, value < 50, "
                    "'cascade') FROM json_each(?)",
                    json.dumps(list(range(200))))
    assert value(db, "SELECT count(*) FROM json_each(?) WHERE "
                 "bloomery_contains(?, value) <> (value < 50)",
                 json.dumps(list(range(200))), cascade) == 0


def test_lists(db):
    mixed = ("SELECT bloomery_build(value, 'invertible:key=8', 0.01, 50, NULL, "
             "NULL, 'any') FROM json_each(?)")
    a = value(db, mixed, json.dumps(["a", "b", 5]))
    b = value(db, mixed, json.dumps(["b", "c", -6]))
    rows = db.execute("SELECT key, integer, side FROM bloomery_diff(?, ?) "
                      "ORDER BY side, key", (a, b)).fetchall()
    assert rows == [(b"c", None, -1), (struct.pack("<q", -6), -6, -1),
                    (struct.pack("<q", 5), 5, 1), (b"a", None, 1)]
    rows = db.execute("SELECT CAST(key AS TEXT) FROM bloomery_list_keys(?) WHERE "
                      "integer IS NULL ORDER BY 1", (a,)).fetchall()
    assert rows == [("a",), ("b",)]
    egh = value(db, "SELECT bloomery_build(CAST(value AS TEXT), "
                "'egh:universe=1000', NULL, 10) FROM json_each('[1, 5, 7]')")
    rows = db.execute("SELECT integer FROM bloomery_list_keys(?) ORDER BY 1",
                      (egh,)).fetchall()
    assert rows == [(1,), (5,), (7,)]
    full = build(db, "invertible:key=8", WORDS[:50], items=2)
    refused(db, "SELECT * FROM bloomery_list_keys(?)", full)
    refused(db, "SELECT * FROM bloomery_list_keys(?)", build(db, "fuse", ["a"]))
    assert "missing" in refused(db, "SELECT * FROM bloomery_list_keys")
    assert "two" in refused(db, "SELECT * FROM bloomery_diff(?)", a)
    assert "BLOB" in refused(db, "SELECT * FROM bloomery_list_keys('a')")
    db.execute("CREATE TABLE s(x, b)")
    db.execute("INSERT INTO s VALUES('a', ?), ('b', ?)", (a, b))
    rows = db.execute("SELECT x, count(*) FROM s, bloomery_list_keys(s.b) GROUP BY x"
                      ).fetchall()
    assert rows == [("a", 3), ("b", 3)]


# ---- Errors ---------------------------------------------------------------------------


@pytest.mark.parametrize("text,word", [
    ("bloomery_build(1, 'nonsense')", "unknown kind 'nonsense'"),
    ("bloomery_build(1, 'standard:k=x')", "k"),
    ("bloomery_build(1, 7)", "kind must be TEXT"),
    ("bloomery_build(1, 'blocked', 0)", "between 0 and 1"),
    ("bloomery_build(1, 'blocked', 'x')", "between 0 and 1"),
    ("bloomery_build(1, 'blocked', 0.1, -1)", "or more, not -1"),
    ("bloomery_build(1, 'blocked', 0.1, 1.5)", "or more, not 1.5"),
    ("bloomery_build(1, 'blocked', 2)", "between 0 and 1, not 2"),
    ("bloomery_build(1, 'blocked', 0.1, 1, 'x')", "seed"),
    ("bloomery_build(1, 'blocked', 0.1, 1, 0, 'x')", "hash"),
    ("bloomery_build(1, 'blocked', 0.1, 1, 0, 'siphash')", "secret"),
    ("bloomery_build(1, 'blocked', 0.1, 1, 0, 'a' || char(0))", "zero byte"),
    ("bloomery_new('fuse', 10)", "build it from all its keys"),
    ("bloomery_new('blocked', NULL)", "capacity"),
    ("bloomery_plan('blocked', 0)", "capacity"),
    ("bloomery_contains('a', 1)", "a filter is a BLOB, not TEXT"),
    ("bloomery_contains(x'', 1)", "it is empty"),
    ("bloomery_contains(zeroblob(500), 1)", "not a Bloomery filter"),
    ("bloomery_contains(zeroblob(128), 1)", "not a Bloomery filter"),
    ("bloomery_contains(CAST('bloomery' || zeroblob(120) AS BLOB), 1)",
     "not open here"),
    ("bloomery_info(5)", "INTEGER"),
    ("bloomery_info(bloomery_open(bloomery_build(1)))", "give the filter itself"),
    ("bloomery_add(bloomery_open(bloomery_build(1)), 2)", "give the filter itself"),
    ("count(*) FROM bloomery_list_keys(bloomery_open(bloomery_new('egh', 9)))",
     "give the filter itself"),
])
def test_refused(db, text, word):
    assert word in refused(db, f"SELECT {text}"), refused(db, f"SELECT {text}")


def test_rows_that_disagree(db):
    for column in ("iif(value = 1, 'blocked', 'fuse')", "'blocked', 0.1 * value",
                   "'blocked', 0.1, value", "'blocked', 0.1, 9, value"):
        assert "the same in every row" in refused(
            db, f"SELECT bloomery_build(value, {column}) FROM "
            "json_each('[1, 2]')"), column


def test_what_is_too_large(db):
    """More than a BLOB may have is SQLITE_TOOBIG, with a sentence."""
    for call in ("bloomery_new('blocked', 2000000000)",
                 "bloomery_new('standard', 1e12)",
                 "bloomery_build(1, 'standard', 1e-9, 1e10)",
                 "bloomery_build(1, 'cuckoo', 1e-3, 1e9)"):
        with pytest.raises(sqlite3.DataError,
                           match="a BLOB has at most 1000000000") as told:
            db.execute(f"SELECT length({call})").fetchall()
        if hasattr(told.value, "sqlite_errorcode"):
            assert told.value.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    assert value(db, "SELECT 1") == 1


def test_a_result_that_is_too_large(db):
    """A result that outgrows the limit only when it is made."""
    if not hasattr(db, "setlimit"):
        pytest.skip("this Python sets no limits")
    small = value(db, "SELECT bloomery_new('scalable', 100)")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 20000)
    with pytest.raises(sqlite3.DataError, match="a BLOB has at most 20000"):
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
            "20000) SELECT bloomery_build(i, 'scalable', 0.01, 100) FROM n"
        ).fetchall()
    assert value(db, "SELECT bloomery_contains(?, 1)", small) == 0


# ---- Two filters and windows -----------------------------------------------------


def test_overlap(db):
    a = build(db, "standard", WORDS[:200], items=300)
    b = build(db, "standard", WORDS[100:], items=300)
    said = json.loads(value(db, "SELECT bloomery_overlap(?, ?)", a, b))
    assert list(said) == [name + end for name in (
        "a", "b", "either", "both", "differ", "jaccard") for end in ("", "_sd")]
    for name, true in (("a", 200), ("b", 200), ("either", 300), ("both", 100),
                       ("differ", 200), ("jaccard", 1 / 3)):
        assert abs(said[name] - true) <= 5 * said[name + "_sd"] + 1e-9, name
    opened = json.loads(value(db, "SELECT bloomery_overlap(bloomery_open(?), ?)",
                              a, b))
    assert opened == said
    assert value(db, "SELECT bloomery_overlap(?, ?) ->> 'jaccard'", a, a) == 1 \
        if sqlite3.sqlite_version_info >= (3, 38) else True
    for pair in ((None, a), (a, None), (None, None)):
        assert value(db, "SELECT bloomery_overlap(?, ?)", *pair) is None
    other = build(db, "standard", WORDS, items=1000)
    assert "plan" in refused(db, "SELECT bloomery_overlap(?, ?)", a, other)
    assert "INTEGER" in refused(db, "SELECT bloomery_overlap(?, 1)", a)


def test_two_filters(db):
    a = build(db, "standard", WORDS[:200], items=300)
    b = build(db, "standard", WORDS[100:], items=300)
    two = "(SELECT ?1 AS b UNION ALL SELECT ?2)"
    for verb in ("unite", "intersect"):
        assert value(db, f"SELECT bloomery_{verb}(?, ?)", a, b) \
            == value(db, f"SELECT bloomery_{verb}(b) FROM {two}", a, b)
        for pair in ((None, a), (a, None), (None, None)):
            assert value(db, f"SELECT bloomery_{verb}(?, ?)", *pair) is None
        assert "BLOB" in refused(db, f"SELECT bloomery_{verb}(?, 'a')", a)
        assert "kind" in refused(db, f"SELECT bloomery_{verb}(?, ?)", a,
                                 build(db, "blocked", WORDS))


def test_windows(db):
    """A running filter is that of the rows so far; a filter cannot forget rows."""
    db.execute("CREATE TABLE days(day, name)")
    db.executemany("INSERT INTO days VALUES (?, ?)",
                   [(i // 10, w) for i, w in enumerate(WORDS[:60])])
    text = ("SELECT day, bloomery_build(name, 'standard', 0.01, 60) OVER (ORDER BY "
            "day) FROM days")
    running = dict(db.execute(text))
    assert list(running) == [0, 1, 2, 3, 4, 5]
    for day, image in running.items():
        assert image == build(db, "standard", WORDS[:10 * day + 10], items=60)
    text = ("SELECT day, bloomery_unite(b) OVER (ORDER BY day) FROM (SELECT day, "
            "bloomery_build(name, 'standard', 0.01, 60) AS b FROM days GROUP BY day)")
    seen = 0
    for day, image in db.execute(text):
        seen += 1
        assert [value(db, "SELECT bloomery_contains(?, ?)", image, w)
                for w in WORDS[:60:10]] >= [1] * (day + 1)
    assert seen == 6
    whole = db.execute("SELECT DISTINCT bloomery_build(name) OVER () FROM days"
                       ).fetchall()
    assert whole == [(build(db, "standard", WORDS[:60]),)]
    labels = db.execute("SELECT bloomery_build_labels(name, day) OVER (ORDER BY day) "
                        "FROM days").fetchall()
    assert value(db, "SELECT bloomery_get(?, ?)", labels[-1][0], WORDS[45]) == 4
    for call in ("bloomery_build(name)", "bloomery_unite(bloomery_new('blocked', 9))",
                 "bloomery_intersect(bloomery_new('blocked', 9))",
                 "bloomery_build_labels(name, day)"):
        assert "UNBOUNDED PRECEDING" in refused(
            db, f"SELECT {call} OVER (ORDER BY day ROWS 2 PRECEDING) FROM days")
