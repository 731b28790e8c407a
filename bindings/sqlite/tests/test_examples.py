"""The example programs run, and print what their tables hold."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import connect

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[1] / "examples")
                  .glob("*.py"))


def run(name, path):
    extension = os.environ["BLOOMERY_SQLITE"].removesuffix(".so")
    program, = (p for p in EXAMPLES if p.name == name)
    done = subprocess.run([sys.executable, program, extension, path],
                          capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def test_crawler(tmp_path):
    connect().close()                   # or skip
    said = run("crawler.py", tmp_path / "web.db")
    known, found = map(int, re.match(r"pages: (\d+), of which the filter has (\d+)\n",
                                     said).groups())
    assert known == found > 1000
    assert "of 10 deleted pages, the filter has 0\n" in said
    db = connect(tmp_path / "web.db")
    assert db.execute("SELECT count(*) FROM pages WHERE NOT EXISTS (SELECT 1 FROM "
                      "seen WHERE key = url)").fetchone() == (0,)
    db.close()


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda p: p.name)
def test_length(program):
    assert 30 <= len(program.read_text().splitlines()) <= 80
