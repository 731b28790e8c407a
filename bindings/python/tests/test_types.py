"""The types that are said hold, as mypy reads them."""
import os
import pathlib
import shutil
import subprocess

import pytest

import bloomery


@pytest.mark.skipif(shutil.which("mypy") is None
                    or not os.environ.get("BLOOMERY_EFFORT"),
                    reason="no mypy, or not all is to be done")
def test_types(tmp_path):
    use = tmp_path / "use.py"
    use.write_text("from bloomery import Filter\n"
                   "f: Filter = Filter(items=3)\n"
                   "told: bool = f.add(b'x') and 'x' in f\n"
                   "n: int | None = f.count(3)\n")
    package = pathlib.Path(bloomery.__file__).parent
    done = subprocess.run(["mypy", "--strict", "--cache-dir", tmp_path,
                           package, use], text=True, capture_output=True)
    assert done.returncode == 0, done.stdout
