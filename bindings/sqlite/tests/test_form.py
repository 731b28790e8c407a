"""The form of a filter's keys: which it is, and that a key of another class is an
error everywhere."""
import json
import sqlite3

import pytest

from conftest import command, refused, value

KEYS = {
    "text": ["a", "7", "7.0", "", "é", "2026-01-01",
             "7d444840-9dc0-11d1-b245-5ffdce74fad2"],
    "bytes": [b"a", b"7", b"", bytes(16), b"\0\xff"],
    "number": [7, 8.0, 2.5, -1, 2 ** 62, 1e300],
}


def filter_of(db, keys, kind="counting", form=None):
    db.execute("CREATE TEMP TABLE IF NOT EXISTS k(x)")
    db.execute("DELETE FROM k")
    db.executemany("INSERT INTO k VALUES(?)", [(key,) for key in keys])
    return value(db, "SELECT bloomery_build(x, ?, 1e-9, NULL, NULL, NULL, ?) "
                 "FROM k", kind, form)


def form_of(db, image):
    return json.loads(value(db, "SELECT bloomery_info(?)", image))["keys"]


@pytest.mark.parametrize("form", KEYS)
def test_every_class_by_every_class(db, tmp_path, form):
    image = filter_of(db, KEYS[form] + [None])
    assert form_of(db, image) == form
    file = tmp_path / "f.bly"
    file.write_bytes(image)
    db.execute(f"CREATE VIRTUAL TABLE f USING bloomery('{file}')")
    labels = value(db, "SELECT bloomery_build_labels(x, 1) FROM k")
    for other, keys in KEYS.items():
        for key in keys:
            calls = [("bloomery_contains(?, ?)", image, 1),
                     ("bloomery_count(?, ?)", image, 1),
                     ("bloomery_get(?, ?)", labels, 1),
                     ("length(bloomery_add(?, ?))", image, len(image)),
                     ("length(bloomery_remove(?, ?))", image, len(image)),
                     ("length(bloomery_put(?, ?, 1))", labels, len(labels))]
            for call, blob, answer in calls:
                if other == form:
                    assert value(db, f"SELECT {call}", blob, key) == answer
                else:
                    assert ", as by " in refused(db, f"SELECT {call}", blob, key)
            text = "SELECT count(*) FROM f WHERE key = ?"
            if other == form:
                assert value(db, text, key) == 1
            else:
                assert ", as by " in refused(db, text, key)
    for call in ("contains(?, NULL)", "count(?, NULL)"):
        assert value(db, f"SELECT bloomery_{call}", image) is None


def test_numbers_are_one_class(db):
    image = filter_of(db, [7, 8.0])
    for key in (7, 7.0, 8, True and 8):
        assert value(db, "SELECT bloomery_contains(?, ?)", image, key) == 1
    assert value(db, "SELECT bloomery_contains(?, 9.5)", image) == 0


def test_texts_are_changed(db):
    image = filter_of(db, [" Abc", "x"], form="text:case=lower,trim")
    assert form_of(db, image) == "text:case=lower,trim"
    for key in ("  ABC ", "abc", "X"):
        assert value(db, "SELECT bloomery_contains(?, ?)", image, key) == 1
        assert value(db, "SELECT bloomery_count(bloomery_add(?1, ?2), ?2)", image,
                     key) == 2
    wide = filter_of(db, ["é" * 100, "a"], form="utf16")
    assert value(db, "SELECT bloomery_contains(?, ?)", wide, "é" * 100) == 1


def test_case_is_folded_by_unicode(db):
    try:
        image = filter_of(db, ["Straße", "ΣΊΣΥΦΟΣ"], form="text:case=fold")
    except sqlite3.OperationalError as error:
        assert "case=fold" in str(error)
        pytest.skip(str(error))         # built without ICU
    assert form_of(db, image) == "text:case=fold"
    for key, there in ("STRASSE", 1), ("σίσυφος", 1), ("Strase", 0):
        assert value(db, "SELECT bloomery_contains(?, ?)", image, key) == there
    theirs = command("build", "-o-", "-i", "--unicode", lines=["Ärger", "x"])
    assert value(db, "SELECT bloomery_contains(?, 'ÄRGER')", theirs) == 1


def test_what_the_command_folded_is_found(db):
    theirs = command("build", "-o-", "-i", "--trim", lines=["ABC ", "x"])
    if form_of(db, theirs) == "any":
        theirs = value(db, "SELECT bloomery_state_keys(?, "
                       "'text:case=lower,trim')", theirs)
    assert value(db, "SELECT bloomery_contains(?, '  aBC ')", theirs) == 1


def test_keys_within_others_are_refused(db):
    theirs = command("build", "-o-", "--as", "domain", lines=["example.com", "x"])
    with pytest.raises(sqlite3.OperationalError, match="lies within one of them"):
        value(db, "SELECT bloomery_contains(?, 'a.example.com')", theirs)
    with pytest.raises(sqlite3.OperationalError, match="lies within one of them"):
        filter_of(db, ["example.com"], form="domain")


def test_range(db):
    image = filter_of(db, [1, -5], form="int32")
    assert value(db, "SELECT bloomery_contains(?, 1.0)", image) == 1
    for key in (2 ** 40, 1.5):
        line = refused(db, "SELECT bloomery_contains(?, ?)", image, key)
        assert "integers of 32 bits" in line and "CAST" not in line


def test_mixtures(db):
    mixed = ["a", 7, b"a"]
    with pytest.raises(Exception, match="keys are of one class"):
        filter_of(db, mixed)
    image = filter_of(db, mixed, form="any")
    assert form_of(db, image) == "any"
    for key in mixed:
        assert value(db, "SELECT bloomery_contains(?, ?)", image, key) == 1
    assert "the same in every row" in refused(
        db, "SELECT bloomery_build(x, NULL, NULL, NULL, NULL, NULL, "
        "iif(x = 7, 'number', 'any')) FROM k")


def test_first_key_of_an_empty_filter(db):
    image = value(db, "SELECT bloomery_new('standard', 10)")
    assert form_of(db, image) == "any"
    image = value(db, "SELECT bloomery_add(?, NULL, 'a')", image)
    assert form_of(db, image) == "text"
    assert "CAST(x AS TEXT)" in refused(db, "SELECT bloomery_add(?, 7)", image)
    new = "SELECT bloomery_new('standard', 10, NULL, NULL, NULL, ?)"
    hexed = value(db, new, "hex")
    assert "unhex(x)" in refused(db, "SELECT bloomery_contains(?, 'da39')", hexed)
    assert form_of(db, value(db, new, "int64")) == "int64"
    assert "bloomery_build" in refused(db, new, "any")
    assert "not a form" in refused(db, new, "texts")


def test_state_and_unite(db):
    image = filter_of(db, ["a"], "standard", "any")
    stated = value(db, "SELECT bloomery_state_keys(?, 'text')", image)
    assert form_of(db, stated) == "text"
    assert "form" in refused(db, "SELECT bloomery_state_keys(?, 'bytes')", stated)
    unite = "SELECT bloomery_{}(column1) FROM (VALUES(?), (?))"
    for verb in ("unite", "intersect"):
        assert form_of(db, value(db, unite.format(verb), stated, stated)) == "text"
        assert "form" in refused(db, unite.format(verb), stated, image)
