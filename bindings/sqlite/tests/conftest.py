import json
import os
import random
import sqlite3
import subprocess

import pytest

EXTENSION = os.environ["BLOOMERY_SQLITE"]
COMMAND = os.environ["BLOOMERY_COMMAND"]
EFFORT = int(os.environ.get("BLOOMERY_EFFORT") or "1")


def connect(path=":memory:"):
    db = sqlite3.connect(path)
    if not hasattr(db, "enable_load_extension"):
        pytest.skip("this Python's SQLite loads no extensions")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION.removesuffix(".so"))
    db.enable_load_extension(False)
    return db


@pytest.fixture
def db():
    db = connect()
    yield db
    db.close()


def value(db, text, *parameters):
    """The one value of a statement."""
    rows = db.execute(text, parameters).fetchall()
    assert len(rows) == 1 and len(rows[0]) == 1, rows
    return rows[0][0]


def refused(db, text, *parameters):
    """The line with which a statement is refused."""
    with pytest.raises(sqlite3.Error) as error:
        db.execute(text, parameters).fetchall()
    line = str(error.value)
    assert line and "\n" not in line and "bly_" not in line
    return line


def command(*arguments, lines=()):
    """Returns the output of the command for these lines."""
    if arguments[0] == "build" and "-n" not in arguments:
        arguments += ("-n", str(len(lines)))
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run([COMMAND, *arguments], input=text.encode(),
                          stdout=subprocess.PIPE, check=True)
    return done.stdout


def unformed(image):
    """All of an image but the form of its keys and the header's checksum: the
    same keys as the command's, whose form has the lines' changes too."""
    return image[:26] + image[28:120] + image[128:]


def kinds(db):
    """All kinds that are built of plain keys, and what each can do."""
    for name, abilities in db.execute(
            "SELECT name, abilities FROM bloomery_kinds WHERE family <> "
            "'foreign'"):
        yield name, set(json.loads(abilities))


def seeded(name):
    return random.Random(f"{name} {os.environ.get('BLOOMERY_SEED', 25)}")
