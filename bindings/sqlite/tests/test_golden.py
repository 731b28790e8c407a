"""The golden images of the library (tests/golden): each is read, says what it is,
and has the keys that it was made of."""
import json
import os
import pathlib

import pytest

from conftest import command, value

FILES = sorted(pathlib.Path(os.environ["BLOOMERY_GOLDEN"]).glob("*.hex"))


def golden(path):
    """The kind, its keys, and the image."""
    first, *lines = path.read_text().splitlines()
    kind = first[2:].split(": ")[0].removeprefix("packed ")
    keys = list(range(10)) if kind.startswith("egh") \
        else [f"key-{i}" for i in range(100)]
    return kind, keys, bytes.fromhex("".join(lines))


def test_there_are_some():
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden(db, path, tmp_path):
    kind, keys, image = golden(path)
    info = json.loads(value(db, "SELECT bloomery_info(?)", image))
    assert info["kind"] == kind.split(":")[0]
    file = tmp_path / "golden.bly"
    file.write_bytes(image)
    theirs = json.loads(command("info", "--json", str(file)))
    assert all(theirs[name] == info[name] for name in info if name in theirs)
    if kind.startswith(("egh", "twin", "cascade")):
        return                          # of hashes alone, or some are lost
    db.execute(f"CREATE VIRTUAL TABLE f USING bloomery('{file}')")
    for text in ("SELECT count(*) FROM json_each(?2) WHERE "
                 "bloomery_contains(?1, value)",
                 "SELECT count(*) FROM json_each(?2) JOIN f ON f.key = value "
                 "WHERE ?1 IS NOT NULL"):
        assert value(db, text, image, json.dumps(keys)) == len(keys)
