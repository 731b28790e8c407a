"""Sets, files, properties and subclasses: what Python's own types do, too."""
import copy
import inspect
import io
import os
import pathlib
import pickle
import sys

import pytest

import bloomery
import bloomery.aio
from bloomery import Filter

KEYS = [f"key {i}" for i in range(2000)]


def pair(kind="standard", items=2000):
    """Two filters of one plan, the first with a subset of the second's keys."""
    a = Filter(kind, items=items, rate=0.001)
    b = a.like()
    a.update(KEYS[:300]), b.update(KEYS[:1000])
    return a, b


# ---- Sets ---------------------------------------------------------------------


def test_set_methods_are_the_operators():
    a, b = pair()
    c = a.like()
    c.update(KEYS[1000:1500])
    before = bytes(a), bytes(b), bytes(c)
    assert a.union(b) == a | b and a.intersection(b) == a & b
    assert a.union(b, c) == (a | b) | c and a.union() == a
    assert a.union(b, c).contains_many(KEYS[:1500]).all()
    assert a.intersection(b, b).contains_many(KEYS[:300]).all()
    assert (bytes(a), bytes(b), bytes(c)) == before
    d = a.copy()
    d |= b
    e = a.copy()
    e.unite(b)
    assert d == e == a | b
    for call in (a.union, a.intersection, a.difference, a.issubset, a.unite):
        with pytest.raises(TypeError, match="like\\(\\)"):
            call({"a"})
    with pytest.raises(TypeError):
        a | {"a"}


def test_differences_of_sketches():
    a = Filter("invertible:key=16", items=50)
    b = a.like()
    a.update(["x", "both"]), b.update(["y", "both"])
    for c in (a - b, a.difference(b)):
        assert sorted((key, side) for key, _, side in c.list_keys()) \
            == [(b"x", 1), (b"y", -1)]
    with pytest.raises(bloomery.UnsupportedError):
        Filter(items=9) - Filter(items=9)


@pytest.mark.parametrize("kind", ["standard", "blocked", "split", "counting",
                                  "quotient", "partitioned"])
def test_issubset(kind):
    a, b = pair(kind)
    empty = a.like()
    assert a.issubset(b) and not b.issubset(a)
    assert a.issubset(a) and a.issubset(a.copy()) and empty.issubset(a)
    assert not a.issubset(empty)
    one = b.copy()
    one.add("a key that b has not")     # at a rate of 0.001
    assert b.issubset(one) and not one.issubset(b)


def test_issubset_is_wrong_as_often_as_documented():
    """With the probability rate ** d for d keys that are missing: five standard
    deviations."""
    a = Filter("standard:m=2048,k=2", items=300)
    a.update(range(300))
    rate = a.info().rate
    for missing, tries in ((1, 2000), (2, 2000)):
        wrong = 0
        for i in range(tries):
            b = a.like()
            b.update(range(1000 + i * missing, 1000 + (i + 1) * missing))
            wrong += b.issubset(a)
        mean = tries * rate ** missing
        assert abs(wrong - mean) <= 5 * (mean + 1) ** .5 + 1, (wrong, mean)


# ---- Properties ---------------------------------------------------------------


def test_properties():
    f = Filter("blocked:k=5", items=1000, rate=0.02, keys="text")
    assert (f.kind, f.capacity, f.items, len(f)) == ("blocked", 1000, 0, 0)
    info = f.info()
    assert f.rate == info.planned_rate and f.capacity == info.capacity
    f.update(KEYS[:500])
    f.add("key 1")
    assert f.items == len(f) == f.info().items == 501
    estimate = f.estimate()
    assert abs(estimate.value - 500) <= 5 * estimate.sd + 1
    assert estimate == (f.info().distinct, f.info().distinct_sd)
    g = f | f
    assert g.items is None and abs(len(g) - 500) <= 5 * estimate.sd + 1
    assert repr(f) == (f"<bloomery.Filter blocked: 501 keys added, planned for "
                       f"1,000 at rate {f.rate:.3g}, of form text, "
                       f"{info.bytes:,} bytes>")
    grown = Filter("scalable", items=100)
    grown.update(range(5000))
    assert grown.capacity == 100 and grown.items == 5000
    assert grown.info().capacity >= 5000
    f.close()
    for name in "kind", "capacity", "rate", "items", "keys", "can":
        with pytest.raises(bloomery.ClosedError):
            getattr(f, name)
    assert repr(f) == "<bloomery.Filter, closed>"


def test_hash_is_that_of_many():
    f = Filter("standard", items=10, seed=3)
    for kind in None, "standard", "blocked":
        hashes = bloomery.hash_many(KEYS[:9], kind, seed=3)
        assert [bloomery.hash(k, kind, seed=3) for k in KEYS[:9]] \
            == hashes.tolist()
    assert f.info().seed == 3
    with pytest.raises(ValueError, match="missing"):
        bloomery.hash(None)


def test_star_import_hides_nothing_of_python():
    names = {}
    exec("from bloomery import *", names)
    assert not set(dir(__builtins__) if not isinstance(__builtins__, dict)
                   else __builtins__) & set(names) - {"__builtins__"}


def test_version():
    assert bloomery.version() == bloomery.__version__


def test_labels_are_put_and_got():
    f = Filter("spatial:areas=3", items=10)
    f.put("here", 3)
    f["there"] = 2
    assert f.get("here") == f["here"] == 3 and f.get("there", "none") == 2
    assert f.get("nowhere", "none") == "none" and f.get("nowhere") is None
    f.put(None, 1)
    with pytest.raises(bloomery.ParameterError, match="label"):
        f.put("here", -1)
    found, labels = f.get_many(["here", None, "there"])
    assert found.tolist() == [True, False, True]
    assert labels.tolist() == [3, 0, 2]


# ---- Files --------------------------------------------------------------------


class Pipe:
    """An object that only writes or reads, as a socket's file does."""

    def __init__(self, data=b""):
        self.data = data

    def write(self, data):
        self.data += bytes(data)

    def read(self):
        return self.data


class Slow(io.RawIOBase):
    """A raw file that takes and gives 100 bytes at a time."""

    def __init__(self):
        self.data, self.at = b"", 0

    def writable(self):
        return True

    readable = writable

    def write(self, data):
        part = bytes(data[:100])
        self.data += part
        return len(part)

    def readall(self):
        return self.read(100)

    def read(self, size=-1):
        part = self.data[self.at:self.at + 100]
        self.at += len(part)
        return part


@pytest.mark.parametrize("kind", ["standard", "cuckoo", "fuse", "leveldb:bits=10"])
def test_file_objects(kind, tmp_path):
    f = Filter.build(kind, KEYS, keys="any")
    path = tmp_path / "by-path"
    f.save(path)
    with open(tmp_path / "by-object", "wb") as file:
        f.save(file)
    memory, pipe, slow = io.BytesIO(), Pipe(), Slow()
    f.save(memory), f.save(pipe), f.save(slow)
    saved = path.read_bytes()
    assert (tmp_path / "by-object").read_bytes() == saved
    assert memory.getvalue() == pipe.data == slow.data == saved
    memory.seek(0)
    named = dict(format="leveldb") if kind.startswith("leveldb") else {}
    with open(path, "rb") as file, open(path, "rb", buffering=0) as raw:
        for source in file, raw, memory, pipe, slow:
            assert Filter.open(source, **named) == Filter.open(path, **named)
    assert sorted(os.listdir(tmp_path)) == ["by-object", "by-path"]


def test_formats_to_file_objects(tmp_path):
    f = Filter.build("leveldb:bits=10", KEYS)
    memory = io.BytesIO()
    f.save(memory, format="leveldb")
    f.save(tmp_path / "f", format="leveldb")
    assert memory.getvalue() == (tmp_path / "f").read_bytes()
    with pytest.raises(ValueError):
        f.save(memory, format="no such format")


class Path:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


def test_paths(tmp_path):
    f = Filter(items=10)
    name = str(tmp_path / "f")
    for path in (name, os.fsencode(name), pathlib.Path(name), Path(name),
                 Path(os.fsencode(name))):
        f.save(path)
        assert Filter.open(path) == f
        os.unlink(name)


def test_files_of_wrong_types(tmp_path):
    f = Filter(items=10)
    f.save(tmp_path / "f")
    for wrong in 3, None, object():
        with pytest.raises(TypeError):
            f.save(wrong)
        with pytest.raises(TypeError):
            Filter.open(wrong)
    with open(tmp_path / "text", "w") as file, \
            pytest.raises(TypeError, match='mode "wb"'):
        f.save(file)
    with pytest.raises(TypeError, match='mode "rb"'):
        Filter.open(io.StringIO("text"))
    with open(tmp_path / "f", "rb") as file, \
            pytest.raises(ValueError, match="path of a file"):
        Filter.open(file, mmap=True)
    with pytest.raises(bloomery.ImageError):
        Filter.open(io.BytesIO(b"no filter"))


# ---- Errors -------------------------------------------------------------------


def test_errors_have_public_names():
    errors = [e for e in vars(bloomery).values()
              if isinstance(e, type) and issubclass(e, bloomery.Error)]
    assert len(errors) > 16
    for error in errors:
        assert error.__module__ == "bloomery"
        assert getattr(bloomery, error.__qualname__) is error
        assert error.__name__ in bloomery.__all__
        assert type(pickle.loads(pickle.dumps(error("why")))) is error \
            or issubclass(error, bloomery.FileError)


def test_file_errors_have_their_file(tmp_path):
    path = tmp_path / "none"
    for call, named in ((lambda: Filter.open(path), path),
                        (lambda: Filter.open(str(path)), str(path)),
                        (lambda: Filter(items=9).save(path / "f"), path / "f")):
        with pytest.raises(FileNotFoundError) as error:
            call()
        assert type(error.value) is bloomery.MissingFileError
        assert error.value.filename == named
        assert "none" in str(error.value)
        again = pickle.loads(pickle.dumps(error.value))
        assert again.filename == named and again.errno == error.value.errno
        assert again.strerror == os.strerror(again.errno)


# ---- Subclasses ---------------------------------------------------------------


class Named(Filter):
    __slots__ = ("name", "__dict__")


class Plain(Filter):
    def __init__(self, name, **named):
        super().__init__(**named)
        self.name = name


@pytest.mark.parametrize("make", [lambda: Named(items=100),
                                  lambda: Plain("first", items=100)])
def test_subclasses_keep_their_attributes(make):
    f = make()
    f.name, f.tags = "seen", ["a"]
    f.add("key")
    for g in (f.copy(), copy.copy(f), copy.deepcopy(f),
              *(pickle.loads(pickle.dumps(f, protocol))
                for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)), f | f):
        assert type(g) is type(f) and g.name == "seen" and g.tags == ["a"]
        assert "key" in g and g is not f
    assert copy.copy(f).tags is f.tags
    assert copy.deepcopy(f).tags is not f.tags
    f.me = f
    assert copy.deepcopy(f).me.me is not f
    again = copy.deepcopy(f)
    assert again.me is again
    assert f"{type(f).__module__}.{type(f).__name__} standard" in repr(f)


def test_subclasses_are_what_is_made(tmp_path):
    f = Named.build("standard", KEYS)
    f.save(tmp_path / "f")
    for g in (f, f.like(), Named.open(tmp_path / "f"),
              Named.open(io.BytesIO(f.pack())), Named.from_bytes(bytes(f))):
        assert type(g) is Named and not hasattr(g, "name")


def test_a_plain_filter_has_no_attributes():
    f = Filter(items=9)
    with pytest.raises(AttributeError):
        f.name = "x"
    assert f.__reduce__()[2] is None


# ---- Types --------------------------------------------------------------------


def public_calls():
    """Returns the public functions and methods."""
    calls = [call for call in map(vars(bloomery).get, bloomery.__all__)
             if inspect.isfunction(call)] + [bloomery.hash, bloomery.aio.run]
    for name, member in vars(Filter).items():
        member = getattr(member, "__func__", getattr(member, "fget", member))
        if not name.startswith("_") and inspect.isfunction(member):
            calls.append(member)
    return calls


def test_public_types_are_exact():
    calls = public_calls()
    assert len(calls) > 50
    for call in calls:
        for name, of in call.__annotations__.items():
            assert of != "Any" or (call is bloomery.aio.run and name in
                                   ("args", "named")), (call, name)
        named = inspect.signature(call).parameters
        assert set(named) - {"self", "cls"} <= set(call.__annotations__), call
        assert "return" in call.__annotations__, call


def test_docstrings_name_all_arguments():
    """Except progress, which the docstring of the package explains, and a
    single key."""
    for call in public_calls():
        doc = inspect.getdoc(call)
        first = doc.split()[0]
        assert first[0].isupper() and (first.endswith("s") or not
                                       inspect.signature(call).parameters
                                       or first == "The"), call
        for name in inspect.signature(call).parameters:
            if name in ("self", "cls", "progress", "key", "keys", "other",
                        "others"):
                continue
            assert name in doc or "arguments are those" in " ".join(
                doc.split()), (call, name)


class Short:
    """A file that writes at most 10 bytes at a time."""

    def __init__(self):
        self.data = b""

    def write(self, data):
        some = bytes(data[:10])
        self.data += some
        return len(some)


class Full(io.RawIOBase):
    """A file that takes no more bytes: as non-blocking ones say, or as 0."""

    def __init__(self, answer):
        self.answer = answer

    def writable(self):
        return True

    def write(self, data):
        return self.answer


def test_saves_all_of_it_or_raises():
    f = Filter(items=100)
    f.add("a")
    short = Short()
    f.save(short)
    assert Filter.from_bytes(short.data) == f
    unbuffered = io.BytesIO()
    plain = type("Plain", (), {"write": lambda self, data:
                               unbuffered.write(data) and None})()
    f.save(plain)
    assert Filter.from_bytes(unbuffered.getvalue()) == f
    for answer in None, 0:
        with pytest.raises(BlockingIOError):
            f.save(Full(answer))
