"""build_native.py - the module bloomery._native, made by cffi from native.c.

The library is compiled in, from the single file in `source/` beside this file.
A source package has that folder; in a checkout it is made by tools/make/amalgamate.
With BLOOMERY_BUILD in the environment, the static library of that build folder
is put in instead. With BLOOMERY_SYSTEM=1 the system's library is linked. With
BLOOMERY_STATIC=1 no other library is needed later, as wheels for other systems
require: those that the library uses are put in, too.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import cffi

here = pathlib.Path(__file__).resolve().parent


def pkg_config(option, package):
    """The words that pkg-config says; none where there is no such package."""
    done = subprocess.run(["pkg-config", option, package], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.split() if done.returncode == 0 else []


def static(words):
    """Returns linker arguments with archives in place of shared libraries that
    not every system has, as far as there are archives."""
    if os.environ.get("BLOOMERY_STATIC") != "1":
        return words
    return [f"-l:lib{word[2:]}.a" if word in ("-lnettle", "-luring")
            and has_archive(word[2:]) else word for word in words]


def has_archive(name):
    """Returns whether the compiler finds an archive: it answers with a path."""
    compiler = os.environ.get("CC", "cc").split()
    done = subprocess.run([*compiler, f"-print-file-name=lib{name}.a"],
                          text=True, stdout=subprocess.PIPE)
    return os.path.isabs(done.stdout.strip())


def newest(*paths):
    """Returns when the newest of these files, or files in these folders, was
    changed. A folder itself changes when a file is removed."""
    return max(path.stat().st_mtime for top in paths if top.exists()
               for path in (top, *top.rglob("*")))


# The folders of a checkout that tools/make/amalgamate reads.
LIBRARY = "include", "src", "search", "similar", "programs/redis"


def amalgamate(source):
    """Makes `source` from the checkout around this package, if there is one and
    `source` is older. An interrupted run leaves nothing under that name. A source
    package may be unpacked where others can write: it runs nothing from there."""
    root = here.parent.parent
    tool = root / "tools" / "make" / "amalgamate"
    made = source / "bloomery.c"
    if here != root / "bindings" / "python" or (here / "PKG-INFO").exists():
        return
    if not tool.exists() or made.exists() and made.stat().st_mtime > newest(
            tool, *(root / name for name in LIBRARY)):
        return
    folder = here / f"source-{os.getpid()}"
    try:
        subprocess.run([tool, folder], check=True)
        shutil.rmtree(source, ignore_errors=True)
        folder.rename(source)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"bloomery: {tool} failed: install a C compiler, "
                         "pkg-config and the headers of xxHash "
                         f"({error})")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def options():
    """Returns the arguments of the compiler and the linker."""
    if os.environ.get("BLOOMERY_SYSTEM") == "1":
        return {
            "extra_compile_args": pkg_config("--cflags", "bloomery"),
            "extra_link_args": pkg_config("--libs", "bloomery"),
        }
    if "BLOOMERY_BUILD" in os.environ:
        build = pathlib.Path(os.environ["BLOOMERY_BUILD"])
        says = dict(re.findall(r"^(\S+): *(.*)",
                               (build / "bloomery.pc").read_text(), re.M))
        needs = says.get("Libs.private", "").split()
        for package in says.get("Requires.private", "").split():
            needs += pkg_config("--libs", package)
        return {
            "include_dirs": [os.environ["BLOOMERY_INCLUDE"]],
            "define_macros": [("BLY_STATIC", None)],
            "extra_objects": [str(build / "libbloomery.a")],
            "extra_link_args": static(needs),
            "depends": [str(build / "libbloomery.a")],
        }
    nettle = pkg_config("--libs", "nettle")
    icu = pkg_config("--modversion", "icu-uc")      # loaded when it is needed
    source = here / "source"
    amalgamate(source)
    if not (source / "bloomery.c").exists():
        raise SystemExit(f"bloomery: {source}/bloomery.c is missing: build in a "
                         "checkout of the project or from its source package, "
                         "or set BLOOMERY_SYSTEM=1 where the library is "
                         "installed")
    return {
        "sources": [os.path.relpath(source / "bloomery.c", here)],
        "include_dirs": [os.path.relpath(source, here)],
        "define_macros": [("BLY_STATIC", None)]
                         + ([("BLY_WITH_NETTLE", None)] if nettle else [])
                         + ([("BLY_WITH_ICU", None)] if icu else []),
        "extra_compile_args": ["-O2", "-w", "-fvisibility=hidden",
                               "-ffp-contract=off"]
                              + pkg_config("--cflags", "libxxhash")
                              + pkg_config("--cflags", "icu-uc"),
        "extra_link_args": static(nettle) + ["-lm", "-lpthread"]
                           + (["-ldl"] if icu else []),
    }


def macros():
    """Returns macros of every build. The interpreter's interface of 3.10 is the
    first with PyUnicode_AsUTF8AndSize. cffi uses that of 3.2 by default, and
    none in an interpreter without the global lock."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    return [("Py_LIMITED_API", "0x030A0000")]


def build():
    """Returns the arguments for cffi. With the library inside, a module for
    debuggers would be 7 times as large."""
    words = options()
    words["define_macros"] = words.get("define_macros", []) + macros()
    if os.environ.get("BLOOMERY_SYSTEM") == "1":
        return words
    words["extra_compile_args"] = words.get("extra_compile_args", []) + ["-g0"]
    if sys.platform.startswith("linux"):
        words["extra_link_args"] += ["-Wl,--strip-all",
                                     "-Wl,--exclude-libs,ALL"]
    return words


ffi = cffi.FFI()
ffi.cdef((here / "native.h").read_text().split("/* cffi: */", 1)[1])
ffi.set_source("bloomery._native", "\n".join(
    (here / f"{name}.c").read_text()
    for name in ("native_keys", "native_gather", "native")), **build())

if __name__ == "__main__":
    ffi.compile(verbose=True)
