"""What the README shows is what comes out."""
import pathlib
import re
import sqlite3

from conftest import connect


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    db = connect()
    db.create_function("writefile", 2, lambda name, blob:
                       pathlib.Path(name).write_bytes(blob))
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    tried = 0
    for block in re.findall(r"```sql\n(.*?)```", readme.read_text(), re.S):
        statement, got = "", []
        for line in block.splitlines():
            if line.startswith("--> "):
                assert got.pop(0) == line[4:], block
                tried += 1
                continue
            statement += line + "\n"
            if sqlite3.complete_statement(statement):
                assert got == [], block
                got = ["|".join(map(str, row)) for row in db.execute(statement)]
                got = got if "writefile" not in statement else []
                statement = ""
        assert got == [] and not statement.strip(), block
    db.close()
    assert tried >= 7


def test_functions_are_in_the_readme(db):
    readme = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    names = {name for name, in db.execute(
        "SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE "
        "'bloomery%' UNION SELECT name FROM pragma_module_list WHERE name LIKE "
        "'bloomery%'")}
    assert len(names) > 15
    assert not [name for name in names if f"`{name}" not in readme
                and f"USING {name}(" not in readme]
