"""The table over a file."""
import os
import signal

import pytest

from conftest import command, connect, refused, value


@pytest.fixture
def words(db, tmp_path):
    """A table `f` over a filter of a few words, and its file."""
    path = tmp_path / "it's words.bly"
    path.write_bytes(command("build", "-o-", "-k", "fuse", "-p", "1e-9",
                             "--as", "any", lines=["red", "green", "blue"]))
    quoted = str(path).replace("'", "''")
    db.execute(f"CREATE VIRTUAL TABLE f USING bloomery('{quoted}')")
    return path


def test_one_key_and_lists(db, words):
    ask = "SELECT key FROM f WHERE key = ?"
    assert db.execute(ask, ("red",)).fetchall() == [("red",)]
    assert db.execute(ask, ("black",)).fetchall() == []
    assert db.execute(ask, (None,)).fetchall() == []
    assert db.execute("SELECT * FROM f WHERE key IN ('red', 'black', 'blue', "
                      "NULL, 'red')").fetchall() == [("blue",), ("red",)]
    assert db.execute("SELECT key FROM f WHERE key = 'red' OR (key = 'blue' "
                      "AND 1 = abs(-1)) ORDER BY 1").fetchall() \
        == [("blue",), ("red",)]
    assert db.execute("SELECT key FROM f WHERE key = 'red' AND key = 'blue'"
                      ).fetchall() == []
    assert db.execute("SELECT key FROM f WHERE key IS 'red' AND key > 'a'"
                      ).fetchall() == [("red",)]


def test_joins(db, words):
    db.execute("CREATE TABLE big(k, n)")
    db.executemany("INSERT INTO big VALUES(?, ?)",
                   [(k, i) for i, k in enumerate(
                       ["red", "pink", None, 5, "blue", "red", b"red"])])
    for text in ("SELECT n FROM big JOIN f ON f.key = big.k ORDER BY n",
                 "SELECT n FROM f, big WHERE big.k = f.key ORDER BY n",
                 "SELECT n FROM big WHERE EXISTS (SELECT 1 FROM f WHERE "
                 "key = k) ORDER BY n",
                 "SELECT n FROM big JOIN f ON f.key = k JOIN f g ON g.key = k "
                 "ORDER BY n"):
        assert [n for n, in db.execute(text)] == [0, 4, 5, 6], text
    assert db.execute("SELECT n, key FROM big LEFT JOIN f ON key = k ORDER BY n"
                      ).fetchall()[:3] == [(0, "red"), (1, None), (2, None)]
    plan = [row[3] for row in db.execute(
        "EXPLAIN QUERY PLAN SELECT n FROM f JOIN big ON f.key = big.k")]
    assert plan[0].startswith("SCAN big") and "VIRTUAL TABLE" in plan[1]
    rows = db.execute("DELETE FROM big WHERE k IN (SELECT k FROM big JOIN f ON "
                      "key = k)").rowcount
    assert rows == 4


def test_joins_of_another_class_are_errors(db, tmp_path):
    path = tmp_path / "words.bly"
    path.write_bytes(command("build", "-o-", lines=["red", "5"]))
    db.execute(f"CREATE VIRTUAL TABLE f USING bloomery('{path}')")
    db.execute("CREATE TABLE big(k)")
    db.execute("INSERT INTO big VALUES('red'), (5)")
    join = "SELECT count(*) FROM big JOIN f ON f.key = "
    assert "CAST(x AS TEXT)" in refused(db, join + "k")
    assert db.execute(join + "CAST(k AS TEXT)").fetchone() == (2,)


def test_what_cannot_be_asked(db, words):
    for text in ("SELECT * FROM f", "SELECT key FROM f WHERE key > 'a'",
                 "SELECT 1 FROM f WHERE key LIKE 'r%'",
                 "SELECT 1 FROM f WHERE key IN (SELECT key FROM f)"):
        assert "no list of its keys" in refused(db, text), text
    assert "collation" in refused(db, "SELECT key FROM f WHERE key = 'RED' "
                                  "COLLATE NOCASE")
    db.execute("CREATE TABLE n(k TEXT COLLATE NOCASE)")
    db.execute("INSERT INTO n VALUES('RED'), ('red')")
    assert "collation" in refused(db, "SELECT k FROM n JOIN f ON k = key")
    assert db.execute("SELECT k FROM n JOIN f ON key = k").fetchall() \
        == [("red",)]
    for text in ("INSERT INTO f VALUES('a')", "DELETE FROM f WHERE key = 'red'"):
        assert "may not be modified" in refused(db, text)


def test_a_file_that_is_replaced(db, words):
    ask = "SELECT count(*) FROM json_each('[\"red\", \"grey\"]') JOIN f ON " \
          "f.key = value"
    assert value(db, ask) == 1
    running = db.execute("SELECT f.key FROM json_each('[\"red\", \"blue\"]') "
                         "JOIN f ON f.key = value")
    assert running.fetchone() == ("red",)
    command("build", "-o", str(words), "-k", "standard", "-p", "1e-9",
            lines=["grey", "red", "black"])
    assert value(db, ask) == 2
    assert running.fetchall() == [("blue",)]    # of the file that it began with
    words.unlink()
    refused(db, ask)
    command("build", "-o", str(words), lines=["pink"])
    assert value(db, ask) == 0


def test_a_file_that_is_gone(tmp_path):
    path = tmp_path / "db"
    file = tmp_path / "f.bly"
    db = connect(path)
    line = refused(db, f"CREATE VIRTUAL TABLE f USING bloomery('{file}')")
    assert str(file) in line
    file.write_bytes(b"nonsense")
    refused(db, f"CREATE VIRTUAL TABLE f USING bloomery('{file}')")
    command("build", "-o", str(file), "--force", lines=["a"])
    db.execute(f"CREATE VIRTUAL TABLE f USING bloomery('{file}')")
    db.close()
    file.unlink()
    db = connect(path)
    refused(db, "SELECT 1 FROM f WHERE key = 'a'")
    db.execute("ALTER TABLE f RENAME TO g")
    db.execute("DROP TABLE g")
    assert value(db, "SELECT count(*) FROM sqlite_master") == 0
    db.close()


def test_options(db, tmp_path):
    file = tmp_path / "f.bly"
    file.write_bytes(command("build", "-o-", "-k", "blocked",
                             lines=["a", "b"]))
    for i, options in enumerate((", map", ", map, verify", ", verify",
                                 ", format=bloomery")):
        db.execute(f"CREATE VIRTUAL TABLE f{i} USING bloomery('{file}'"
                   f"{options})")
        assert value(db, f"SELECT key FROM f{i} WHERE key = 'b'") == "b"
    damaged = bytearray(file.read_bytes())
    damaged[140] ^= 1
    file.write_bytes(damaged)
    refused(db, f"CREATE VIRTUAL TABLE g USING bloomery('{file}', map, verify)")
    refused(db, f"CREATE VIRTUAL TABLE g USING bloomery('{file}')")
    assert "option" in refused(
        db, f"CREATE VIRTUAL TABLE g USING bloomery('{file}', fast)")
    assert "missing" in refused(db, "CREATE VIRTUAL TABLE g USING bloomery")
    refused(db, "CREATE VIRTUAL TABLE g USING bloomery('')")


def test_labels_and_counts(db, tmp_path):
    file = tmp_path / "f.bly"
    command("build", "-o", str(file), "-k", "bloomier", "-f1", "-l2", "--tsv",
            lines=["red\t4", "blue\t7"])
    db.execute(f"CREATE VIRTUAL TABLE l USING bloomery('{file}')")
    assert db.execute("SELECT key, label, count FROM l WHERE key = 'blue'"
                      ).fetchall() == [("blue", 7, None)]
    assert db.execute("SELECT * FROM l WHERE key = 'blue'").fetchall() \
        == [("blue",)]
    other = tmp_path / "g.bly"
    command("build", "-o", str(other), "-k", "counting", lines=["a", "a", "b"])
    db.execute(f"CREATE VIRTUAL TABLE c USING bloomery('{other}')")
    assert db.execute("SELECT label, count FROM c WHERE key = 'a'").fetchall() \
        == [(None, 2)]


def test_another_systems_file(db, tmp_path):
    file = tmp_path / "f.bloom"
    command("build", "-o", str(file), "-k", "dcso", "-n3",
            lines=["red", "green", "blue"])
    for options in ("", ", format=dcso"):
        db.execute(f"CREATE VIRTUAL TABLE f USING bloomery('{file}'{options})")
        assert db.execute("SELECT key FROM f WHERE key IN ('red', 'grey')"
                          ).fetchall() == [("red",)]
        db.execute("DROP TABLE f")
    blob = file.read_bytes()
    assert value(db, "SELECT sum(bloomery_contains(?, value)) FROM "
                 "json_each('[\"red\", \"blue\", \"grey\"]')", blob) == 2


def test_a_comma_is_missing(db, tmp_path):
    file = tmp_path / "f.bly"
    command("build", "-o", str(file), lines=["red"])
    for arguments in (f"'{file}' map", f"'{file}', format='dcso' map"):
        assert "put a comma" in refused(
            db, f"CREATE VIRTUAL TABLE f USING bloomery({arguments})")


def test_views_and_triggers_open_no_file(db, words):
    """A database from elsewhere names files."""
    db.execute("CREATE VIEW v AS SELECT key FROM f WHERE key = 'red'")
    assert "unsafe use" in refused(db, "SELECT * FROM v")
    db.execute("CREATE TABLE t(k)")
    db.execute("CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE k IN "
               "(SELECT key FROM f WHERE key = new.k); END")
    assert "unsafe use" in refused(db, "INSERT INTO t VALUES('red')")
    assert value(db, "SELECT key FROM f WHERE key = 'red'") == "red"


def test_a_table_over_a_fifo(db, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    signal.alarm(60)                    # in place of waiting for ever
    for name in "fifo", ".":
        assert "not a regular file" in refused(
            db, f"CREATE VIRTUAL TABLE f USING bloomery('{tmp_path / name}')")
    signal.alarm(0)
