"""The README and the pages of the book show true outputs and every function."""
import pathlib
import re
import sqlite3

import pytest
from conftest import connect

HERE = pathlib.Path(__file__).resolve().parent
README = HERE.parent / "README.md"
PAGE = HERE.parents[2] / "docs" / "library" / "sqlite.md"
TABLES = PAGE.with_name("sqlite-tables.md")


@pytest.mark.parametrize("document, answers", [(README, 2), (PAGE, 10), (TABLES, 5)])
def test_shows_true_outputs(document, answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    db = connect()
    db.create_function("writefile", 2, lambda name, blob:
                       pathlib.Path(name).write_bytes(blob))
    tried = 0
    for block in re.findall(r"```sql(?: seen.sql)?\n(.*?)```",
                            document.read_text(), re.S):
        statement, got = "", []
        for line in block.splitlines():
            if line.startswith("--> "):
                assert got.pop(0) == line[4:], block
                tried += 1
                continue
            if line.startswith(".load "):
                continue
            statement += line + "\n"
            if sqlite3.complete_statement(statement):
                assert got == [], block
                got = ["|".join(map(str, row)) for row in db.execute(statement)]
                got = got if "writefile" not in statement else []
                statement = ""
        assert got == [] and not statement.strip(), block
    db.close()
    assert tried >= answers


def test_page_has_every_function(db):
    page = PAGE.read_text() + TABLES.read_text()
    names = {name for name, in db.execute(
        "SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE "
        "'bloomery%' UNION SELECT name FROM pragma_module_list WHERE name LIKE "
        "'bloomery%'")}
    assert len(names) > 15
    assert not [name for name in names if f"`{name}" not in page
                and f"USING {name}(" not in page]
