"""All that setup.py needs exists, or is made, and the wheel runs elsewhere. The
library is compiled by `tools/make/python --source` instead, which takes a minute.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent.parent
TOOL = """#!/bin/sh
set -eu
cat "$(dirname "$0")"/../../src/*.c > "$1.c"
mkdir "$1" && mv "$1.c" "$1/bloomery.c"
"""


def run_setup(folder):
    """Runs setup.py as pip does first, without a build."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("BLOOMERY_")}
    return subprocess.run([sys.executable, "setup.py", "--name"], text=True,
                          cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


@pytest.fixture
def package(tmp_path):
    """The package in a folder of its own, where nothing is around it."""
    folder = tmp_path / "bindings" / "python"
    folder.mkdir(parents=True)
    for name in ("setup.py", "build_native.py", "native.c", "native.h",
                 "native_keys.c", "native_gather.c", "pyproject.toml",
                 "README.md"):
        shutil.copy(HERE / name, folder)
    shutil.copytree(HERE / "src", folder / "src")
    return folder


@pytest.fixture
def checkout(package):
    """The package in a checkout whose library is one line."""
    root = package.parent.parent
    for name in "src", "include", "tools/make":
        (root / name).mkdir(parents=True)
    (root / "src" / "one.c").write_text("one\n")
    (root / "tools" / "make" / "amalgamate").write_text(TOOL)
    (root / "tools" / "make" / "amalgamate").chmod(0o755)
    return root


def test_source_is_made_in_a_checkout(package, checkout):
    done = run_setup(package)
    assert done.returncode == 0 and done.stdout == "bloomery\n", done.stderr
    assert (package / "source" / "bloomery.c").read_text() == "one\n"
    assert [p.name for p in package.glob("source*")] == ["source"]


def test_source_is_made_again_after_a_change(package, checkout):
    made = package / "source" / "bloomery.c"
    made.parent.mkdir()
    made.write_text("as before\n")
    for name in "src", "src/one.c", "include", "tools/make/amalgamate":
        os.utime(checkout / name, (1, 1))
    assert run_setup(package).returncode == 0
    assert made.read_text() == "as before\n"
    os.utime(made, (2, 2))
    os.utime(checkout / "src" / "one.c", (3, 3))
    assert run_setup(package).returncode == 0
    assert made.read_text() == "one\n"


@pytest.mark.parametrize("place", ["marked", "elsewhere"])
def test_source_package_runs_no_foreign_tool(package, checkout, place):
    (package / "source").mkdir()
    (package / "source" / "bloomery.c").write_text("packed\n")
    os.utime(package / "source" / "bloomery.c", (1, 1))
    if place == "marked":
        (package / "PKG-INFO").write_text("Name: bloomery\n")
    else:
        package = package.rename(checkout / "bindings" / "unpacked")
    assert run_setup(package).returncode == 0
    assert (package / "source" / "bloomery.c").read_text() == "packed\n"


def test_failing_tool_leaves_no_source(package, checkout):
    (checkout / "tools" / "make" / "amalgamate").write_text(
        "#!/bin/sh\nmkdir $1; echo half > $1/bloomery.c; exit 1\n")
    done = run_setup(package)
    assert done.returncode != 0
    assert done.stderr.startswith("bloomery: ") and "C compiler" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(package.glob("source*")) == []


def test_source_package_needs_no_tool(package):
    (package / "source").mkdir()
    (package / "source" / "bloomery.c").write_text("packed\n")
    assert run_setup(package).stdout == "bloomery\n"
    assert (package / "source" / "bloomery.c").read_text() == "packed\n"


def test_neither_source_nor_checkout(package):
    done = run_setup(package)
    assert done.returncode != 0
    assert "bloomery.c is missing" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif("BLOOMERY_GOLDEN" not in os.environ,
                    reason="BLOOMERY_GOLDEN does not name the checkout")
def test_this_checkout_has_what_is_looked_for():
    root = pathlib.Path(os.environ["BLOOMERY_GOLDEN"]).parents[1]
    assert os.access(root / "tools" / "make" / "amalgamate", os.X_OK)
    assert (root / "bindings" / "python" / "build_native.py").exists()
    assert (root / "src").is_dir() and (root / "include").is_dir()


# ---- The wheel ---------------------------------------------------------------

CHECK = os.environ.get("BLOOMERY_GOLDEN") and str(
    pathlib.Path(os.environ["BLOOMERY_GOLDEN"]).parents[1] / "tools/check/wheel")
needs_tools = pytest.mark.skipif(
    not CHECK or not shutil.which("readelf") or not shutil.which("cc"),
    reason="the checkout's tools, readelf and cc are needed")


def check_wheel(wheel):
    return subprocess.run([CHECK, wheel], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def has_archives():
    return all(os.path.isabs(subprocess.run(
        ["cc", f"-print-file-name=lib{name}.a"], text=True,
        stdout=subprocess.PIPE).stdout.strip()) for name in ("nettle", "uring"))


@needs_tools
@pytest.mark.skipif(not os.environ.get("BLOOMERY_WHEEL"),
                    reason="BLOOMERY_WHEEL does not name a wheel")
def test_wheel_has_the_tag_that_it_earns():
    wheel = os.environ["BLOOMERY_WHEEL"]
    done = check_wheel(wheel)
    if done.returncode != 0 and not has_archives():
        pytest.skip("there is no libnettle.a or liburing.a: " + done.stderr)
    assert done.returncode == 0, done.stderr
    tag = done.stdout.strip()
    assert wheel.endswith(f"-abi3-{tag}.whl")
    with zipfile.ZipFile(wheel) as archive:
        about = archive.read(next(n for n in archive.namelist()
                                  if n.endswith("/WHEEL"))).decode()
        assert f"Tag: cp310-abi3-{tag}\n" in about
        assert sum(i.file_size for i in archive.infolist()) < 3_000_000


@needs_tools
@pytest.mark.parametrize("flags,why", [
    ([], None), (["-lodd"], "links libodd.so"), (["-g"], "strip it"),
    (["-Wl,-rpath,/tmp"], "search path"), (["-Dmissing"], "lacks missing_name")])
def test_check_of_wheels(tmp_path, flags, why):
    (tmp_path / "odd.c").write_text("int odd(void) { return 1; }\n")
    (tmp_path / "one.c").write_text(
        "#include <math.h>\nint PyLong_Check(void); int missing_name(void);\n"
        "double one(double x) { PyLong_Check(); return exp(x); }\n"
        "#ifdef missing\nint two(void) { return missing_name(); }\n#endif\n")
    for name, extra in ("libodd", []), ("one", ["-L.", "-lm", "-Wl,--no-as-needed",
                                                *flags]):
        subprocess.run(["cc", "-shared", "-fPIC", *(["-s"] * (why != "strip it")),
                        "-o", f"{name}.so", f"{name.replace('lib', '')}.c",
                        *extra], cwd=tmp_path, check=True)
    wheel = tmp_path / "one-1.0-cp310-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(tmp_path / "one.so", "one.so")
    done = check_wheel(wheel)
    if why is None:
        assert re.fullmatch(r"manylinux_2_\d+_x86_64\n", done.stdout), done.stderr
    else:
        assert done.returncode == 1 and why in done.stderr, done.stderr
        assert done.stdout == ""
