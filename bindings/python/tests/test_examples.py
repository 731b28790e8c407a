"""The programs in examples/ do what their heads say."""
import csv
import io
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="no examples here")


def run(program, *words):
    done = subprocess.run([sys.executable, EXAMPLES / program, *words], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def link(folder, page, others):
    text = "".join(f'<a href="{other}">' for other in others)
    (folder / page).write_text(f"<html>{text}</html>")


def test_a_crawler_visits_each_page_once(tmp_path):
    rng = random.Random(7)
    pages = ["index.html"] + [f"{i}.html" for i in range(300)]
    folder = tmp_path / "pages"
    folder.mkdir()
    for i, page in enumerate(pages):
        link(folder, page, [*pages[i + 1:i + 2], *rng.sample(pages, 5),
                            "missing.html"])
    seen = tmp_path / "seen.bly"
    out, _ = run("seen.py", folder, seen)
    visited = out.split()
    assert sorted(visited) == sorted([*pages, "missing.html"])
    link(folder, "index.html", ["new.html", *pages])
    link(folder, "new.html", ["newer.html", "index.html"])
    out, _ = run("seen.py", folder, seen)
    assert out.split() == ["index.html", "new.html", "newer.html"]


def test_a_semijoin_is_the_join(tmp_path):
    rng = random.Random(8)
    customers = [(str(i), f"name {i}") for i in rng.sample(range(10000), 500)]
    orders = [(str(rng.randrange(10000)), str(i)) for i in range(20000)]
    for name, head, rows in (("small.csv", ("customer", "name"), customers),
                             ("large.csv", ("customer", "order"), orders)):
        with open(tmp_path / name, "w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    out, said = run("semijoin.py", tmp_path / "small.csv",
                    tmp_path / "large.csv", "customer")
    names = dict(customers)
    joined = [(c, names[c], o) for c, o in orders if c in names]
    assert list(map(tuple, csv.reader(io.StringIO(out)))) \
        == [("customer", "name", "order"), *joined]
    size, sent, found = map(int, re.findall(r"\d+", said))
    assert size < 1500 and found == len(joined)
    in_vain = (len(orders) - found) / 256
    assert found <= sent <= found + in_vain + 5 * in_vain ** .5 + 1


def test_the_page_names_them():
    if "BLOOMERY_BOOK" not in os.environ:
        pytest.skip("BLOOMERY_BOOK is not set")
    page = pathlib.Path(os.environ["BLOOMERY_BOOK"], "library", "python.md")
    text = page.read_text()
    programs = sorted(EXAMPLES.glob("*.py"))
    assert len(programs) > 1
    for program in programs:
        assert f"examples/{program.name}" in text
        assert 30 <= len(program.read_text().splitlines()) <= 80
