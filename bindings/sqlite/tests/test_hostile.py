"""Whatever is given: an error, never a crash, and nothing lost."""
import json
import sqlite3

import pytest

from conftest import EFFORT, connect, kinds, refused, seeded, value

KEYS = [f"key {i}" for i in range(300)]
ASKS = """
SELECT bloomery_contains(:b, 'key 1'), bloomery_count(:b, 'key 1')
SELECT sum(bloomery_contains(:b, value)) FROM json_each('["key 1", "x", 5]')
SELECT sum(bloomery_contains(b, value)) FROM f, json_each('["key 1", "x", 5]')
SELECT sum(bloomery_contains((SELECT b FROM f), value)) FROM json_each('[1, 2]')
SELECT bloomery_get(:b, 'key 1')
SELECT bloomery_add(:b, 'x', 7)
SELECT bloomery_remove(:b, 'key 1')
SELECT bloomery_put(:b, 'key 1', 1)
SELECT bloomery_info(:b)
SELECT bloomery_unite(v) FROM (SELECT :b v UNION ALL SELECT :b)
SELECT bloomery_intersect(v) FROM (SELECT :b v UNION ALL SELECT :good)
SELECT count(*) FROM bloomery_list_keys(:b)
SELECT count(*) FROM bloomery_diff(:b, :good)
SELECT bloomery_contains(bloomery_open(:b), 'key 1')
""".strip().splitlines()


def forge(rng, image):
    """Bits turned, bytes cut off and put in."""
    forged = bytearray(image)
    for _ in range(rng.choice((1, 1, 1, 3, 30))):
        way = rng.randrange(5)
        at = rng.randrange(len(forged)) if forged else 0
        if way < 2 and forged:
            forged[at] ^= 1 << rng.randrange(8)
        elif way == 2:
            del forged[at:at + rng.randrange(1, 200)]
        elif way == 3:
            forged[at:at] = rng.randbytes(rng.randrange(1, 100))
        elif len(forged) > 128:                 # in the header
            forged[rng.randrange(8, 120)] ^= 1 << rng.randrange(8)
    return bytes(forged)


def test_a_limit_of_memory(tmp_path):
    db = connect()
    f = value(db, "SELECT bloomery_build(value, 'compressed', 0.01, 200000) "
                  "FROM json_each(?)", json.dumps(KEYS))
    need = json.loads(value(db, "SELECT bloomery_info(?)", f))["bytes"]
    path = tmp_path / "packed.bly"
    path.write_bytes(f)
    assert len(f) < need / 100
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, need - 1)
    for ask in ("SELECT bloomery_contains(?, 'key 1')",
                "SELECT bloomery_info(?)",
                "SELECT bloomery_contains(bloomery_open(?), 'key 1')",
                "SELECT count(*) FROM bloomery_list_keys(?)"):
        with pytest.raises(sqlite3.DataError,
                           match="SQLITE_LIMIT_LENGTH") as told:
            value(db, ask, f)
        assert told.value.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, need)
    assert value(db, "SELECT bloomery_contains(?, 'key 1')", f) == 1
    make = f"CREATE VIRTUAL TABLE t USING bloomery('{path}', limit={{}})"
    with pytest.raises(sqlite3.DataError, match="limit="):
        db.execute(make.format(need - 1))
    with pytest.raises(sqlite3.Error, match="limit=lots is not a number"):
        db.execute(make.format("lots"))
    db.execute(make.format(need))
    assert value(db, "SELECT count(*) FROM t WHERE key = 'key 1'") == 1
    db.close()


def images():
    db = connect()
    for kind, can in kinds(db):
        if kind == "egh":
            continue
        labels = "_labels(value, key % 2," if "separate" in can else "(value,"
        yield kind, value(db, f"SELECT bloomery_build{labels} ?) FROM "
                          "json_each(?)", kind, json.dumps(KEYS))
    db.close()


@pytest.mark.parametrize("kind,image", images(), ids=lambda v: v
                         if isinstance(v, str) else "")
def test_forged_images(kind, image):
    rng = seeded(kind)
    db = connect()
    db.execute("CREATE TABLE f(b)")
    db.execute("INSERT INTO f VALUES(NULL)")
    whole = 0
    for _ in range(8 * EFFORT):
        forged = forge(rng, image)
        db.execute("UPDATE f SET b = ?", (forged,))
        for ask in ASKS:
            try:
                db.execute(ask, {"b": forged, "good": image}).fetchall()
                whole += 1
            except (sqlite3.Error, MemoryError):
                pass
    found = value(db, "SELECT sum(bloomery_contains(?, value)) FROM "
                  "json_each(?)", image, json.dumps(KEYS))
    assert kind in ("stable", "aging", "twin", "cascade") or found == len(KEYS)
    db.close()


def any_value(rng, blobs):
    return rng.choice((
        lambda: None, lambda: rng.randrange(-2 ** 63, 2 ** 63),
        lambda: rng.choice((0, 1, -1, 2, 100, 10 ** 6, 2 ** 62, 0.01, 0.5, 1.5)),
        lambda: rng.random() * 10.0 ** rng.randrange(-300, 300),
        lambda: float("inf"), lambda: rng.randbytes(rng.randrange(300)),
        lambda: "".join(map(chr, rng.choices(range(0x800), k=5))),
        lambda: rng.choice(("standard", "fuse", "bloomier", "cascade",
                            "invertible:key=9", "egh:universe=1000", "dcso",
                            "standard:k=3", "counting:bits=2", "xxh3",
                            "identity", "siphash", "rehash:key=whole", "")),
        lambda: rng.choice(blobs), lambda: rng.choice(blobs),
        lambda: forge(rng, rng.choice(blobs))))()


FUNCTIONS = ["contains", "count", "get", "open", "add", "remove", "put", "new",
             "info", "plan", "build", "build", "build_labels", "unite",
             "intersect", "version"]


def test_wrong_types_and_sizes():
    """Random arguments to everything that there is, in all the ways that a
    value comes to a function."""
    rng = seeded("types")
    db = connect()
    # sizes that are refused, rather than some that take a second each
    db.execute("PRAGMA hard_heap_limit = 100000000")
    blobs = [image for _, image in images()]
    db.execute("CREATE TABLE v(a, b, c, d)")
    raised = 0
    for i in range(3000 * EFFORT):
        n = rng.randrange(5)
        some = [any_value(rng, blobs) for _ in range(n)]
        marks = ", ".join("?" * n)
        way = rng.randrange(6)
        name = f"bloomery_{rng.choice(FUNCTIONS)}"
        if way == 0 and n <= 2:
            text = "SELECT count(*), max(key) FROM " \
                   f"bloomery_{rng.choice(('list', 'diff'))}({marks})"
        elif way == 1:
            row = (some + [None] * 4)[:4]
            db.execute("DELETE FROM v")
            for _ in range(rng.randrange(4)):
                db.execute("INSERT INTO v VALUES(?, ?, ?, ?)", row)
                if rng.random() < 0.3:
                    row[rng.randrange(4)] = any_value(rng, blobs)
            text = f"SELECT {name}({', '.join('abcd'[:n])}) FROM v"
            some = []
        elif way == 2:
            text = f"SELECT {name}({marks}) FROM json_each('[1, 2, 3]')"
        else:
            text = f"SELECT {name}({marks})"
        try:
            db.execute(text, some).fetchall()
        except (sqlite3.Error, MemoryError, OverflowError):
            raised += 1
    assert raised > 0
    good = value(db, "SELECT bloomery_build(value) FROM json_each('[1, 2]')")
    assert value(db, "SELECT bloomery_contains(?, 2)", good) == 1
    db.close()


def test_forged_files(tmp_path):
    rng = seeded("files")
    db = connect()
    some = list(images())
    file = tmp_path / "f.bly"
    for _ in range(50 * EFFORT):
        kind, image = rng.choice(some)
        file.write_bytes(forge(rng, image))
        options = rng.choice(("", ", map", ", map, verify", ", format=dcso"))
        try:
            db.execute(f"CREATE VIRTUAL TABLE f USING bloomery('{file}'"
                       f"{options})")
        except sqlite3.Error:
            continue
        try:
            db.execute("SELECT label, count, rowid FROM json_each(?) JOIN f ON "
                       "f.key = value", (json.dumps(KEYS),)).fetchall()
        except sqlite3.Error:
            pass
        db.execute("DROP TABLE f")
    db.close()


SECRET = bytes.fromhex("b8fe6c3923a44bbe7c01812cf721ad1c")   # XXH3's begins so


def hashed(db, data):
    """XXH3-64, which a filter lists of its keys and images have as checksum."""
    return value(db, "SELECT hash FROM bloomery_list_keys("
                 "(SELECT bloomery_build(?, 'invertible', 0.01, 10)))", data) \
        .to_bytes(8, "little", signed=True)


def twins(db):
    """Two filters of one header: where the lower half of a word is XXH3's
    secret, only the sum of such words of a lane counts."""
    image = value(db, "SELECT bloomery_new('standard', 10000)")
    for high in (0, 1), (1, 0):
        payload = bytearray(image[128:])
        for i in range(2):
            payload[64 * i:64 * i + 8] = \
                SECRET[8 * i:8 * i + 4] + high[i].to_bytes(4, "little")
        header = image[:112] + hashed(db, bytes(payload))
        yield header + hashed(db, header) + bytes(payload)


def test_twins_of_one_header(db):
    a, b = twins(db)
    assert a[:128] == b[:128] and a != b
    asked = "SELECT bloomery_contains(?, value) FROM generate"
    db.execute("CREATE TABLE generate AS WITH RECURSIVE g(value) AS (SELECT 1 "
               "UNION ALL SELECT value + 1 FROM g LIMIT 2000) "
               "SELECT value FROM g")
    said = [db.execute(asked, (f,)).fetchall() for f in (a, b)]
    opened = value(db, "SELECT bloomery_open(?)", a)
    assert value(db, "SELECT bloomery_open(?)", a) == opened
    assert "same header" in refused(db, "SELECT bloomery_open(?)", b)
    assert db.execute(asked, (opened,)).fetchall() == said[0]
