"""serve.py - clients of `bloomery serve` at its sockets.

    python3 serve.py [TEST...]

Runs in an empty folder, with BLOOMERY as the command's path, and prints lines
like lib.sh. TEST is the beginning of a test's name; without it, all tests run
except HTTP. Each test starts its own servers, at sockets in this folder or
ports on loopback, and ends them by process number. Nothing is timed: an
expected event happens, or the test fails after LONG seconds.
"""
import contextlib
import http.client
import json
import os
import queue
import random
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

BLOOMERY = os.environ["BLOOMERY"]
FEW = os.environ.get("BLY_TEST_WORK", "full") != "full"
LONG = 120
LONGEST = 1 << 20
KEYS = 20000

failures = 0


# ---- Helpers for tests ------------------------------------------------------

class Wrong(Exception):
    pass


def must(condition, *what):
    if not condition:
        raise Wrong(" ".join(repr(one)[:300] for one in what))


def equal(got, wanted):
    must(got == wanted, "got", got, "instead of", wanted)


def run(test):
    global failures
    try:
        test()
    except (Wrong, OSError, ValueError, http.client.HTTPException) as e:
        failures += 1
        print("not ok - %s # %s %s" % (test.__doc__, type(e).__name__, e))
    else:
        print("ok - " + test.__doc__)
    sys.stdout.flush()
    while servers:
        servers[0].kill()


# ---- Servers ----------------------------------------------------------------

servers = []


class Server:
    """Stopped by stop(), or at the end of its test."""

    def __init__(self, *words, stdin=subprocess.DEVNULL, stdout=None):
        self.lines = queue.Queue()
        self.process = subprocess.Popen(
            [BLOOMERY, "serve", *words], stdin=stdin, stdout=stdout,
            stderr=subprocess.PIPE)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        servers.append(self)

    def read(self):
        for line in self.process.stderr:
            self.lines.put(line.decode())

    def said(self, words):
        """Waits for a line on stderr."""
        seen = []
        while True:
            try:
                seen.append(self.lines.get(timeout=LONG))
            except queue.Empty:
                raise Wrong("no %r, but %r" % (words, seen)) from None
            if words in seen[-1]:
                return

    def look(self):
        self.process.send_signal(signal.SIGHUP)

    def end(self):
        """Returns the status, and the unread lines of stderr."""
        status = self.process.wait(LONG)
        self.reader.join(LONG)
        self.process.stderr.close()
        servers.remove(self)
        return status, list(self.lines.queue)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        equal(self.end(), (0, []))

    def kill(self):
        self.process.kill()
        self.end()


def connect(where, server=None):
    """Connects to a path or a port, retrying while the server starts."""
    end = time.monotonic() + LONG
    while True:
        c = socket.socket(socket.AF_UNIX if isinstance(where, str)
                          else socket.AF_INET)
        c.settimeout(LONG)
        try:
            c.connect(where if isinstance(where, str)
                      else ("127.0.0.1", where))
            return c
        except (FileNotFoundError, ConnectionRefusedError):
            c.close()
            must(server is not None, "nobody listens at", where)
            if server.process.poll() is not None or time.monotonic() > end:
                raise Wrong("no server: %s" % server.lines.queue) from None
            time.sleep(0.01)


def exactly(c, n):
    """Reads `length` bytes, or fewer at the end."""
    parts = []
    while n > 0:
        part = c.recv(min(n, 1 << 16))
        if not part:
            break
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def rest(c):
    return exactly(c, 1 << 40)


def ask(c, sent, wanted):
    c.sendall(sent)
    equal(exactly(c, len(wanted)), wanted)


def line(c):
    got = b""
    while not got.endswith(b"\n"):
        more = c.recv(1)
        must(more, "the end behind", got)
        got += more
    return got


def in_thread(work, *arguments):
    t = threading.Thread(target=work, args=arguments, daemon=True)
    t.start()
    return t


def stream(c, sent, length):
    """Sends, and reads `length` bytes of answers meanwhile."""
    sender = in_thread(c.sendall, sent)
    got = exactly(c, length)
    sender.join(LONG)
    return got


# ---- Filters ----------------------------------------------------------------

def bloomery(*words):
    return subprocess.run([BLOOMERY, *words], check=True,
                          stdout=subprocess.PIPE).stdout


def build(path, keys, *words):
    with open("lines", "wb") as file:
        file.write(b"".join(key + b"\n" for key in keys))
    bloomery("build", *words, "-o", path, "lines")


def build_rare(path, keys, *words):
    """Builds a filter too exact to find other keys used here."""
    build(path, keys, "-p", "1e-8", *words)


members = [b"key %d" % i for i in range(KEYS)]
strange = [b"", b" ", b"a b", b"a\tb", b"%41", "é🗝".encode(), b"\xff\xfe",
           b"-", b"a,b", b'a"b\\c', b"x" * 5000, b"l" * LONGEST]
build_rare("f.bly", members + strange)
build_rare("g.bly", [b"only g", b"both"], "-k", "partitioned")
build_rare("h.bly", [b"only h", b"both"], "-k", "cuckoo")
build_rare("nul.bly", [b"a\0b"], "-n", "9", "--as", "bytes", "--text")
with open("lines", "wb") as nul:
    nul.write(b"a\nb\0")
bloomery("add", "-0", "--as", "bytes", "--text", "nul.bly", "lines")
build_rare("any.bly", [b"Apple", b"7"], "--as", "any")
build_rare("folded.bly", [b"Apple"], "-i", "--trim")
build_rare("number.bly", [b"7", b"-1.5"], "--as", "number")
build_rare("hex.bly", [b"00ff", b"abcd"], "--as", "hex")
build("str.rb", [b"7"], "-k", "rustbloom", "-n", "1000")
build_rare("wide.bly", ["é".encode(), b"Apple"], "--as", "utf16", "-i")
build_rare("cr.bly", [b"Apple\r"], "--keep-cr")


# ---- Lines ------------------------------------------------------------------

def test_lines():
    """lines: keys of any bytes, and an answer for each"""
    s = Server("--socket", "s", "f.bly")
    c = connect("s", s)
    for key in strange + members[:10]:
        ask(c, key + b"\n", b"1\n")
    ask(c, b"nobody\nkey 1\nkey\nkey 2\n", b"0\n1\n0\n1\n")
    ask(c, b"key 1", b"")
    ask(c, b"\n", b"1\n")
    c.sendall(b"key 3\nkey 4")
    c.shutdown(socket.SHUT_WR)
    equal(rest(c), b"1\n1\n")
    s.stop()
    must(not os.path.exists("s"), "the socket is still there")


def test_null():
    """lines: -0, and keys with NUL or newline in them"""
    s = Server("--socket", "s", "nul.bly")
    ask(connect("s", s), b"a\0b\na\0c\n", b"1\n0\n")
    s.stop()
    s = Server("--socket", "s", "-0", "nul.bly")
    ask(connect("s", s), b"a\nb\0a\nc\0", b"1\0" b"0\0")
    s.stop()


def test_forms():
    """lines: --as and --ignore-case"""
    for words in (("nul.bly",), ("nul.bly", "any.bly")):
        s = Server("--socket", "s", "--as", "hex", *words)
        c = connect("s", s)
        ask(c, b"610062\n610063\n", b"1\n0\n")
        ask(c, NO_DIGITS[2:] + b"\n610062\n", NO_DIGITS + b"\n1\n")
        s.stop()
    build_rare("plain.bly", [b"apple"], "--as", "any")
    for words in (("folded.bly",), ("plain.bly",),
                  ("--all", "plain.bly", "folded.bly")):
        s = Server("--socket", "s", "-i", *words)
        ask(connect("s", s), b"aPPLE\nPEAR\n", b"1\n0\n")
        s.stop()


NO_DIGITS = (b"? the filter holds bytes that are written in hexadecimal, and "
             b"the key is not: write two digits for each byte")
NO_NUMBER = (b"? the filter holds numbers, and the key is not one: write it in "
             b"digits, such as 42 or -1.5")


def test_stated_forms():
    """lines: the form that a filter states makes its keys, without options"""
    for path, asked, wanted in (
            ("folded.bly", b"aPPLE\n Apple\t\nPEAR\n\n", b"1\n1\n0\n0\n"),
            ("folded.bly", b"aPPLE\r\nPEAR\r\n\r\n", b"1\n0\n0\n"),
            ("number.bly", b"7\n7.0\n+7 \n-1.50\n8\n7\r\n",
             b"1\n1\n1\n1\n0\n1\n"),
            ("number.bly", b"seven\n\n7\n", NO_NUMBER + b"\n" + NO_NUMBER
             + b"\n1\n"),
            ("hex.bly", b"00FF\n0xab:cd\n00fe\n\n", b"1\n1\n0\n0\n"),
            ("hex.bly", b"\x00\xff\nabc\n00ff\n", NO_DIGITS + b"\n" + NO_DIGITS
             + b"\n1\n"),
            ("wide.bly", "é\naPPLE\nÉ\n".encode(), b"1\n1\n0\n"),
            ("wide.bly", b"\xff\n", b"? the filter holds text in UTF-16, and "
             b"the key is not text: write it in UTF-8\n"),
            ("cr.bly", b"Apple\r\nApple\n", b"1\n0\n"),
            ("nul.bly", b"a\0b\na\0B\n610062\n", b"1\n0\n0\n"),
            ("any.bly", b"Apple\napple\nApple\r\n7.0\n", b"1\n0\n0\n0\n")):
        s = Server("--socket", "s", path)
        ask(connect("s", s), asked, wanted)
        s.stop()
    s = Server("--socket", "s", "-0", "folded.bly")
    ask(connect("s", s), b"aPPLE\0APPLE\r\0", b"1\0" b"0\0")
    s.stop()


def test_folded_forms():
    """lines: text that is not UTF-8 has no key where case is folded, or an
    error tells that the server cannot fold"""
    if subprocess.run([BLOOMERY, "build", "-i", "--unicode", "-n", "9", "-o",
                       "fold.bly", "--key", "Zoë"], check=False,
                      capture_output=True).returncode != 0:
        return                          # it was built without ICU
    s = Server("--socket", "s", "fold.bly")
    ask(connect("s", s), "zoË\n".encode() + b"Zo\xeb\nzoe\n",
        b"1\n? the filter ignores the case of UTF-8 text, and the key is "
        b"not UTF-8: convert it\n0\n")
    s.stop()


def test_forms_together():
    """lines: each file has its form; a key that one cannot read is no 'no'"""
    s = Server("--socket", "s", "folded.bly", "number.bly", "any.bly")
    ask(connect("s", s), b"aPPLE\n7.0\n7\n8\npear\nApple\npear\n",
        b"1\n1\n1\n0\n" + NO_NUMBER + b"\n1\n" + NO_NUMBER + b"\n")
    s.stop()
    s = Server("--socket", "s", "--all", "number.bly", "any.bly")
    ask(connect("s", s), b"7\n7.0\nApple\npear\n",
        b"1\n0\n" + NO_NUMBER + b"\n0\n")
    s.stop()
    n = 5000
    s = Server("--socket", "s", "f.bly", "number.bly")
    asked = b"".join(b"key %d\n" % (i % KEYS) if i % 2 else
                     b"7.%d\n" % (i % 4 // 2) for i in range(n))
    wanted = b"".join(b"1\n" if i % 2 or i % 4 == 0 else b"0\n"
                      for i in range(n))
    equal(stream(connect("s", s), asked, len(wanted)), wanted)
    s.stop()


def test_forms_contradicted():
    """a filter whose form contradicts -i or --as is not served"""
    for words in (("-i", "f.bly"), ("-i", "cr.bly"), ("-i", "number.bly"),
                  ("--as", "number", "f.bly"), ("--as", "text", "number.bly"),
                  ("--as", "hex", "folded.bly"),
                  ("--as", "bytes", "any.bly", "f.bly"),
                  ("--as", "any", "folded.bly")):
        refused("' has keys of the form ", *words)
        refused("differs from -i" if words[0] == "-i"
                else "differs from --as", *words)
    for words, asked, wanted in (
            (("-i", "folded.bly"), b"APPLE\n", b"1\n"),
            (("--as", "text", "folded.bly"), b"APPLE\n", b"1\n"),
            (("--as", "hex", "nul.bly"), b"610062\na\0b\n",
             b"1\n" + NO_DIGITS + b"\n"),
            (("--as", "bytes", "hex.bly"), b"\x00\xff\n00ff\n", b"1\n0\n")):
        s = Server("--socket", "s", *words)
        ask(connect("s", s), asked, wanted)
        s.stop()


def test_forms_reloaded():
    """a new file brings its form; one that contradicts the options is refused"""
    replace("live.bly", "folded.bly")
    s = Server("--socket", "s", "live.bly")
    c = connect("s", s)
    ask(c, b"aPPLE\n7.0\n", b"1\n0\n")
    replace("live.bly", "number.bly")
    s.look()
    s.said("'live.bly' was replaced")
    ask(c, b"aPPLE\n7.0\n", NO_NUMBER + b"\n1\n")
    s.stop()
    replace("live.bly", "folded.bly")
    s = Server("--socket", "s", "-i", "live.bly")
    c = connect("s", s)
    replace("live.bly", "f.bly")
    s.look()
    s.said("'live.bly' has keys of the form text, which differs from -i")
    s.said("the old filter of 'live.bly' is served")
    ask(c, b"aPPLE\nkey 1\n", b"1\n0\n")
    s.stop()


def test_two_files():
    """lines: of two files in any, with --all in all"""
    s = Server("--socket", "s", "g.bly", "h.bly")
    ask(connect("s", s), b"only g\nonly h\nboth\nnone\n", b"1\n1\n1\n0\n")
    s.stop()
    s = Server("--socket", "s", "--all", "g.bly", "h.bly")
    ask(connect("s", s), b"only g\nonly h\nboth\nnone\n", b"0\n0\n1\n0\n")
    s.stop()


def test_too_long():
    """lines: more than 1 MiB is an error, and the end; no other notices"""
    s = Server("--socket", "s", "f.bly")
    other, c = connect("s", s), connect("s")
    in_thread(swallow, c.sendall, b"key 1\n" + b"l" * (LONGEST + 1) + b"\n")
    got = rest(c)
    must(got.startswith(b"1\n? the request is longer"), got)
    equal(got.count(b"\n"), 2)
    ask(other, b"key 1\n", b"1\n")
    s.stop()


def swallow(work, *arguments):
    """The server closes what the other side has closed."""
    try:
        work(*arguments)
    except OSError:
        pass


def test_pipelined():
    """lines: 10^5 requests pipelined, by one and by eight"""
    n = 20000 if FEW else 100000
    s = Server("--socket", "s", "--listen", str(port), "f.bly")
    wanted = b"".join(b"1\n" if i % 3 else b"0\n" for i in range(n))
    asked = b"".join(members[i % KEYS] + b"\n" if i % 3 else b"no %d\n" % i
                     for i in range(n))
    equal(stream(connect("s", s), asked, len(wanted)), wanted)
    equal(stream(connect(port, s), asked, len(wanted)), wanted)
    found = queue.Queue()
    clients = [in_thread(lambda: found.put(
        stream(connect("s"), asked, len(wanted)) == wanted)) for _ in range(8)]
    for client in clients:
        client.join(LONG)
    equal([found.get(timeout=LONG) for _ in clients], [True] * 8)
    s.stop()


# ---- Squid ------------------------------------------------------------------

def test_squid():
    """squid: fields, escapes, and what is no request"""
    s = Server("--socket", "s", "--protocol", "squid", "f.bly")
    c = connect("s", s)
    ask(c, b"key%201 -\nnobody\n  a%09b\t-\r\n%2541\n%C3%A9%f0%9f%97%9d\n",
        b"OK\nERR\nOK\nOK\nOK\n")
    for wrong in (b"", b"  ", b"100%", b"%4", b"%zz", b"%4g"):
        c.sendall(wrong + b"\n")
        must(line(c).startswith(b'BH message="'), wrong)
    ask(c, b"key%201\n", b"OK\n")
    s.stop()
    s = Server("--socket", "s", "--protocol", "squid", "folded.bly",
               "number.bly")
    ask(connect("s", s), b"aPPLE\n%207.0\n8\nhost.example.org\n",
        b'OK\nOK\nERR\nBH message="' + NO_NUMBER[2:] + b'"\n')
    s.stop()


def test_squid_channels():
    """squid: --channels and --field"""
    s = Server("--socket", "s", "--protocol", "squid", "--channels", "--field",
               "2", "f.bly")
    c = connect("s", s)
    ask(c, b"0 user key%202\n18446744073709551615 x no -\n",
        b"0 OK\n18446744073709551615 ERR\n")
    c.sendall(b"7 user\nx user key%202\n\n")
    must(line(c).startswith(b'7 BH message="'), "no channel in the answer")
    must(line(c).startswith(b'BH message="'), "a channel in the answer")
    must(line(c).startswith(b'BH message="'), "an empty line")
    in_thread(swallow, c.sendall, b"8 " + b"u" * (LONGEST + 1))
    must(line(c).startswith(b'8 BH message="'), "too long")
    s.stop()


# ---- Postfix ----------------------------------------------------------------

def netstring(text):
    return b"%d:%s," % (len(text), text)


def test_socketmap():
    """socketmap: filters by name, keys of any bytes, and what is no request"""
    s = Server("--socket", "s", "--protocol", "socketmap", "--value",
               "REJECT x", "g.bly", "h.bly", "nul.bly", "f.bly", "folded.bly",
               "number.bly")
    c = connect("s", s)
    yes, no = netstring(b"OK REJECT x"), netstring(b"NOTFOUND ")
    ask(c, b"8:g only g,8:g only h,8:h only h,6:h both,", yes + no + yes + yes)
    ask(c, netstring(b"nul a\0b") + netstring(b"nul a\nb"), yes + yes)
    for key in strange:
        if len(key) < LONGEST - 1:
            ask(c, netstring(b"f " + key), yes)
    ask(c, netstring(b"folded APPLE") + netstring(b"number 7.0"), yes + yes)
    ask(c, netstring(b"number seven") + netstring(b"folded 7"),
        netstring(b"PERM " + NO_NUMBER[2:]) + no)
    for wrong in (b"x key", b"g", b"", b"G both"):
        c.sendall(netstring(wrong))
        got = c.recv(1000)
        must(b":PERM " in got and got.endswith(b","), got)
    ask(c, b"6:h bo", b"")
    ask(c, b"th,", yes)
    for wrong in (b"hello\n", b"01:x,", b":x,", b"6:h bothX", b"-1:x,",
                  b"99999999:", b"1048577:"):
        c = connect("s")
        c.sendall(b"6:h both," + wrong)
        got = rest(c)
        must(got.startswith(yes) and b":TEMP " in got, wrong, got)
    s.stop()


def test_tcp_table():
    """tcp_table: keys with escapes, and what is no request"""
    s = Server("--listen", str(port), "--protocol", "tcp_table", "--value",
               "a b%", "f.bly")
    c = connect(port, s)
    ask(c, b"get key%201\nget nobody\nget \nget key 1\nget %2541\n",
        b"200 a%20b%25\n500 not%20found\n200 a%20b%25\n200 a%20b%25\n"
        b"200 a%20b%25\n")
    for wrong in (b"", b"put a b", b"GET key", b"get", b"get 100%", b"get %4"):
        c.sendall(wrong + b"\n")
        got = line(c)
        must(got.startswith(b"400 ") and b" " not in got[4:], wrong, got)
    in_thread(swallow, c.sendall, b"get " + b"l" * LONGEST + b"\n")
    must(line(c).startswith(b"400 the%20request%20is%20longer"), "too long")
    s.stop()
    s = Server("--listen", str(port), "--protocol", "tcp_table", "number.bly")
    c = connect(port, s)
    ask(c, b"get 7.0\nget %208\n", b"200 OK\n500 not%20found\n")
    ask(c, b"get seven\n", b"400 " + NO_NUMBER[2:].replace(b" ", b"%20")
        + b"\n")
    s.stop()


# ---- HTTP -------------------------------------------------------------------

class Web:
    def __init__(self, server):
        connect(port, server).close()
        self.c = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG)

    def get(self, path, body=None, method=None):
        self.c.request(method or ("GET" if body is None else "POST"), path,
                       body)
        answer = self.c.getresponse()
        return answer.status, answer.read()

    def is_wrong(self, status, path, body=None, method=None):
        got, text = self.get(path, body, method)
        must(got == status, path, body, got, text)
        must(": " in json.loads(text)["error"]
             or " " in json.loads(text)["error"], text)


TRUE, FALSE = (200, b'{"contains": true}\n'), (200, b'{"contains": false}\n')


def test_http():
    """HTTP: one key, escapes, filters by name, and what is no question"""
    s = Server("--http", str(port), "f.bly", "g.bly", "nul.bly")
    web = Web(s)
    for path in ("key=key%201", "key=key+1", "key=", "key=a%2Cb", "key=%2541",
                 "key=a%00b", "filter=nul&key=a%00b", "key=only+g&filter=g",
                 "filter=nul&as=hex&key=610062", "key=%ff%fe", "key=%FF%fe",
                 "key=%C3%A9%F0%9F%97%9D", "key"):
        equal(web.get("/contains?" + path), TRUE)
    for path in ("key=nobody", "key=a%00c", "key=a", "filter=f&key=only+g",
                 "filter=nul&key=610062", "filter=nul&key=a%00"):
        equal(web.get("/contains?" + path), FALSE)
    for path in ("", "?", "?Key=a", "?key=a&key=b", "?key=a&as=hex",
                 "?key=a&as=none", "?key=a&as=hex&as=text", "?key=100%",
                 "?key=%4", "?key=%zz", "?key=a&x=%"):
        web.is_wrong(400, "/contains" + path)
    web.is_wrong(404, "/contains?filter=none&key=a")
    web.is_wrong(404, "/")
    web.is_wrong(404, "/contains/")
    web.is_wrong(405, "/contains?key=a", method="DELETE")
    web.is_wrong(405, "/info", body=b"[]")
    equal(web.get("/contains?key=key+1", method="HEAD"), (200, b""))
    s.stop()


def test_http_forms():
    """HTTP: forms of filters, and as=, which must not contradict them"""
    s = Server("--http", str(port), "folded.bly", "number.bly", "hex.bly",
               "nul.bly", "any.bly", "wide.bly", "str.rb")
    web = Web(s)
    for path in ("filter=folded&key=+aPPLE", "filter=folded&key=APPLE&as=text",
                 "filter=number&key=7.0", "filter=number&key=7&as=number",
                 "filter=hex&key=00FF", "filter=hex&key=00ff&as=hex",
                 "filter=hex&key=%00%ff&as=bytes", "filter=nul&key=a%00b",
                 "filter=nul&key=610062&as=hex", "filter=any&key=Apple",
                 "filter=any&key=7&as=text", "filter=any&key=37&as=hex",
                 "filter=any&key=7&as=any", "filter=wide&key=%C3%A9",
                 "filter=wide&key=APPLE&as=utf16", "filter=str&key=7",
                 "filter=str&key=37&as=hex", "key=7"):
        equal(web.get("/contains?" + path), TRUE)
    for path in ("filter=folded&key=pear", "filter=number&key=8",
                 "filter=hex&key=ff", "filter=nul&key=610062",
                 "filter=any&key=apple", "filter=any&key=7&as=number",
                 "filter=folded&key=apple%0D"):
        equal(web.get("/contains?" + path), FALSE)
    for path in ("filter=folded&key=7&as=number", "filter=number&key=7&as=text",
                 "filter=number&key=7&as=int64", "filter=hex&key=7&as=number",
                 "filter=nul&key=7&as=text", "filter=folded&key=7&as=any",
                 "key=7&as=text", "filter=number&key=seven", "filter=number&key",
                 "filter=hex&key=0", "filter=wide&key=%ff", "key=pear",
                 "filter=any&key=seven&as=number",
                 "filter=str&key=7&as=int64", "filter=str&key=7&as=double"):
        web.is_wrong(400, "/contains?" + path)
    for body, wanted in (('[7, "7.0", 8]', [True, True, False]),
                         ('["-1.50"]', [True])):
        status, text = web.get("/contains?filter=number", body)
        equal((status, json.loads(text)), (200, wanted))
    web.is_wrong(400, "/contains?filter=number", '[7, "seven"]')
    web.is_wrong(400, "/contains?filter=number&as=text", '[7]')
    equal([one.get("keys") for one in json.loads(web.get("/info")[1])],
          ["text:case=lower,trim", "number", "hex", "bytes", "any",
           "utf16:case=lower", None])
    s.stop()


def test_http_raw():
    """HTTP: what is no HTTP, or not all of it, is never answered 'no'"""
    s = Server("--http", str(port), "f.bly", "nul.bly")
    connect(port, s).close()
    head = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for raw in (b"GET /contains?key=a\0b" + head,
                b"GET /contains?key=a b" + head, b"nonsense\r\n\r\n",
                b"GET /contains?key=a\nb" + head,
                b"GET /contains?key=a" + b"a" * 100000 + head,
                b"POST /contains HTTP/1.1\r\nHost: localhost\r\nContent-Length: x"
                b"\r\n\r\n[\"a\"]",
                b"POST /contains HTTP/1.1\r\nHost: localhost\r\n"
                b"Transfer-Encoding: chunked\r\n\r\nzz\r\n[\"a\"]\r\n0\r\n"
                b"\r\n"):
        c = connect(port)
        swallow(c.sendall, raw)
        got = rest(c)
        must(b" 200 OK" not in got or b"true" in got, raw[:60], got)
    c = connect(port)
    c.sendall(b"POST /contains HTTP/1.1\r\nHost: localhost\r\n"
              b"Transfer-Encoding: chunked\r\n\r\n"
              b"3\r\n[\"a\r\n6\r\n\\u0000\r\n3\r\nb\"]\r\n0\r\n\r\n")
    got = b""
    while b"]" not in got:
        more = c.recv(1000)
        must(more, "the end behind", got)
        got += more
    must(got.endswith(b"\r\n\r\n[true]\n"), got)
    s.stop()


def table():
    """Reads the odd requests of http.txt: name, status, what follows, bytes."""
    rows = []
    here = os.path.dirname(__file__)
    with open(os.path.join(here, "http.txt"), encoding="ascii") as file:
        for text in file.read().splitlines():
            if text.startswith("  "):
                rows[-1][3] += text[2:].encode().decode(
                    "unicode_escape").encode("latin-1")
            elif text and not text.startswith("#"):
                name, wanted = text.rsplit(": ", 1)
                rows.append([name, *(wanted + " 0").split()[:2], b""])
    return rows


def answers(got, bodies=True):
    """The answers in these bytes: status, body and whether it says close; of
    the first one the body may be left out."""
    found = []
    while got:
        head, _, got = got.partition(b"\r\n\r\n")
        length = int(re.search(rb"\r\nContent-Length: (\d+)", head)[1])
        length = length if bodies or found else 0
        found.append((head[9:12].decode(), got[:length],
                      b"\r\nConnection: close" in head))
        got = got[length:]
    return found


HONEST = b"GET /contains?key=key+1 HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_http_odd():
    """HTTP: odd requests are refused, and shift nobody's answer"""
    s = Server("--http", str(port), "--host", "filters.example", "f.bly")
    connect(port, s).close()
    odd = []
    for name, status, after, raw in table():
        c = connect(port)
        swallow(c.sendall, raw + HONEST)
        if status == "silent" or after == "keep":
            c.shutdown(socket.SHUT_WR)
        got = [(code, body == TRUE[1], closes)
               for code, body, closes in answers(rest(c), name != "head")]
        wanted = [] if status == "silent" else [
            (status, False, after == "close")] + (
            [("200", True, False)] if after == "keep" else [])
        if got != wanted:
            odd.append((name, got))
    must(not odd, *odd)
    s.stop()


def test_http_pieces():
    """HTTP: a request in pieces of any sizes has the same answer"""
    s = Server("--http", "./web", "f.bly")
    c = connect("./web", s)
    dice = random.Random(3)
    keys = json.dumps(["key %d" % i for i in range(300)]).encode()
    chunks, at = b"", 0
    while at < len(keys):
        n = dice.randint(1, 50)
        chunks += b"%x\r\n%s\r\n" % (len(keys[at:at + n]), keys[at:at + n])
        at += n
    head = b"POST /contains HTTP/1.1\r\nHost: any.example\r\n"
    for raw in (head + b"Content-Length: %d\r\n\r\n" % len(keys) + keys,
                head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks
                + b"0\r\n\r\n"):
        for largest in (1, 7, 1000):
            at = 0
            while at < len(raw):
                n = dice.randint(1, largest)
                c.sendall(raw[at:at + n])
                at += n
            got = b""
            while b"]\n" not in got:
                got += c.recv(1 << 16)
            equal([json.loads(body) for _, body, _ in answers(got)],
                  [[True] * 300])
    s.stop()


def test_http_continue():
    """HTTP: 100 Continue where a client waits for it before its body"""
    s = Server("--http", str(port), "f.bly")
    c = connect(port, s)
    for _ in range(2):
        c.sendall(b"POST /contains HTTP/1.1\r\nHost: localhost\r\n"
                  b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n")
        equal(exactly(c, 25), b"HTTP/1.1 100 Continue\r\n\r\n")
        c.sendall(b'["key 1"]')
        equal(line(c), b"HTTP/1.1 200 OK\r\n")
        while line(c) != b"[true]\n":
            continue
    s.stop()


def test_http_slow():
    """HTTP: half a head is waited for less long than half a body"""
    s = Server("--http", str(port), "--jobs", "1", "f.bly")
    body, head = connect(port, s), connect(port)
    body.sendall(b"POST /contains HTTP/1.1\r\nHost: localhost\r\n"
                 b"Content-Length: 9\r\n\r\n")
    head.sendall(b"GET /contains?key=key+1 HTTP/1.1\r\n")
    equal(rest(head), b"")
    body.sendall(b'["key 1"]')
    equal(line(body), b"HTTP/1.1 200 OK\r\n")
    s.stop()


def test_half_requests():
    """clients with half a request keep no new one out, nor a silent one in"""
    n = 16
    for where, half, whole, wanted in (
            (port, b"GET /contains?key=key+1 HT", HONEST, b"HTTP/1.1 200 OK"),
            ("s", b"key ", b"key 1\n", b"1\n")):
        s = Server("--http", str(port), "--socket", "s", "--clients", "4",
                   "--jobs", "1", "f.bly")
        first = connect(where, s)
        ask(first, whole, wanted)
        if where == port:
            first.close()
        halves = []
        for _ in range(n):
            halves.append(connect(where))
            halves[-1].sendall(half)
        good = connect(where)
        ask(good, whole, wanted)
        for c in halves[:n // 2]:
            with contextlib.suppress(ConnectionResetError):
                equal(rest(c), b"")
        if where == "s":
            ask(first, whole, wanted)
        s.process.send_signal(signal.SIGTERM)
        equal(s.end()[0], 0)


def test_http_bodies():
    """HTTP: the bytes of large bodies on their way have 64 MiB together"""
    s = Server("--http", str(port), "--jobs", "1", "f.bly")
    connect(port, s).close()
    large = (b"POST /contains HTTP/1.1\r\nHost: localhost\r\n"
             b"Content-Length: 1000000\r\n\r\n[")
    whole = large + b'"' + b"x" * 999996 + b'"]' + HONEST
    begun = [connect(port) for _ in range(100)]
    for c in begun:                         # what has not come does not count
        c.sendall(large)
    c = connect(port)
    c.sendall(whole)
    equal(exactly(c, 12), b"HTTP/1.1 200")
    held = [connect(port) for _ in range(68)]
    for c in held:                          # 990,000 bytes each
        try:
            c.sendall(large + b'"' + b"x" * 990000)
        except OSError:
            pass                            # it was refused meanwhile
    refused = select.select(held, [], [], 20)[0]
    equal(refused[0].recv(12), b"HTTP/1.1 503")
    for c in held:
        c.close()
    for c in begun:
        c.close()
    s.stop()


def test_http_many():
    """HTTP: many keys, as JSON writes them, and what is no list of keys"""
    s = Server("--http", str(port), "f.bly", "nul.bly")
    web = Web(s)
    n = 5000
    asked = [members[i].decode() if i % 2 else "no %d" % i for i in range(n)]
    for body in (json.dumps(asked), json.dumps(asked, indent=1)):
        status, text = web.get("/contains", body)
        equal((status, json.loads(text)), (200, [i % 2 == 1 for i in range(n)]))
    yes = [b'[""]', b' [ "a\\tb" ] ', b'["\\u0061 b"]', b'["a\\u0000b"]',
           b'["\\u00e9\\ud83d\\udddd"]', '["é🗝"]'.encode(), b'["\xff\xfe"]',
           b'["a\\"b\\\\c"]', b'["a\\u0022b\\u005Cc"]',
           b'["\\u0025\\u0034\\u0031"]']
    for body in yes:
        equal(web.get("/contains", body), (200, b"[true]\n"))
    for body in (b"[1]", b"[true, false, -1.5e+3]", b'["\\ud83d"]',
                 b'["\\udddd\\ud83d"]', b'["\\/\\b\\f\\n\\r"]'):
        status, text = web.get("/contains", body)
        equal((status, any(json.loads(text))), (200, False))
    equal(web.get("/contains", b"[]"), (200, b"[]\n"))
    equal(web.get("/contains?filter=nul&as=hex", b'["610062", "61"]'),
          (200, b"[true, false]\n"))
    for body in wrong_bodies():
        web.is_wrong(400, "/contains", body)
    web.is_wrong(400, "/contains?as=hex", b'["61", "6"]')
    web.is_wrong(404, "/contains?filter=none", b'["a"]')
    web.is_wrong(413, "/contains", b'["' + b"x" * LONGEST + b'"]')
    equal(web.get("/contains", b'["' + b"x" * (LONGEST - 4) + b'"]'),
          (200, b"[false]\n"))
    equal(web.get("/contains?key=key+1"), TRUE)
    s.stop()


def wrong_bodies():
    return [b"", b" ", b"{}", b"null", b"1", b'"a"', b"[", b"]", b"[,]",
            b'["a"', b'["a",', b'["a",]', b'["a" "b"]', b'["a"],', b'["a"]x',
            b'["a"]["b"]', b'["a]', b'["a\\"]', b'["a\\', b'["\\', b'["',
            b'["\\x41"]', b'["\\u12"]', b'["\\u12g4"]', b'["\\u"]', b"[null]",
            b"[nul]", b"[tru]", b"[True]", b"[01]", b"[1.]", b"[.5]", b"[+1]",
            b"[1e]", b"[NaN]", b"[-]", b"['a']", b'[{"a": 1, "a": 2}]',
            b'[["a"]]', b"[" * 100000, b'["a\nb"]', b'["a\0b"]', b'["a\x01"]',
            b'["\x01"]', b'["a"\0]', b'\0["a"]', b'["a"]\0', b"[\0]",
            b'\xef\xbb\xbf["a"]', b'["a", b]', b"[a]", b"[1 2]", b'[1"a"]',
            b'["a"1]', b"[/**/1]"]


def test_http_mutants():
    """HTTP: bodies changed at random are answered as json.loads says"""
    s = Server("--http", str(port), "f.bly")
    web = Web(s)
    dice = random.Random(1)
    good = b'["key 1", "\\u006bey 2", 17, "a\\tb", true, "\\ud83d\\udddd", ""]'
    for _ in range(300 if FEW else 3000):
        body = bytearray(good)
        for _ in range(dice.randint(1, 3)):
            at = dice.randrange(len(body))
            what = dice.randrange(3)
            if what == 0:
                body[at] = dice.choice(b'"\\[],{}u0d8 \t\n\x00\xff-+.eE19a')
            elif what == 1:
                del body[at:at + dice.randint(1, 4)]
            else:
                body[at:at] = body[:dice.randint(1, 8)]
        status, text = web.get("/contains", bytes(body))
        wanted = list_of(bytes(body))
        if wanted is None:
            must(status == 400, bytes(body), status, text)
        else:
            got = json.loads(text)
            must(status == 200 and len(got) == len(wanted), bytes(body), text)
            must(all(there or key.encode("utf-8", "surrogatepass") not in known
                     for key, there in zip(wanted, got)), bytes(body), text)
    s.stop()


known = set(members + strange)


def list_of(body):
    """Returns the keys of such a body, or None if it is invalid."""
    def no_constant(_):
        raise ValueError

    try:
        keys = json.loads(body.decode("utf-8", "surrogateescape"),
                          parse_constant=no_constant, parse_int=str,
                          parse_float=str)
    except ValueError:
        return None
    if not isinstance(keys, list):
        return None
    if any(not isinstance(key, (str, bool)) for key in keys):
        return None
    return [("false", "true")[key] if isinstance(key, bool) else key
            for key in keys]


def test_http_told():
    """HTTP: /info is what 'info --json' says, /metrics counts"""
    s = Server("--http", str(port), "--socket", "s", "g.bly")
    web = Web(s)
    equal(web.get("/info"), (200, bloomery("info", "--json", "g.bly")))
    ask(connect("s"), b"both\nnone\nonly g\n", b"1\n0\n1\n")
    equal(web.get("/contains?key=both"), TRUE)
    web.is_wrong(400, "/contains")
    status, text = web.get("/metrics")
    equal(status, 200)
    for row in (b'requests_total{protocol="lines"} 3',
                b'keys_total{protocol="lines"} 3',
                b'positives_total{protocol="lines"} 2',
                b'errors_total{protocol="lines"} 0',
                b'requests_total{protocol="http"} 3',
                b'keys_total{protocol="http"} 1',
                b'errors_total{protocol="http"} 1', b"reloads_total 0",
                b"reload_failures_total 0", b'filter_items{filter="g"} 2'):
        must(b"\nbloomery_" + row + b"\n" in text, row, text)
    s.stop()
    s = Server("--http", "./web", "g.bly", "h.bly")
    c = connect("./web", s)
    c.sendall(b"GET /info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    told = json.loads(rest(c).split(b"\r\n\r\n", 1)[1])
    equal([one["file"] for one in told], ["g.bly", "h.bly"])
    s.stop()
    must(not os.path.exists("web"), "the socket is still there")


# ---- New files --------------------------------------------------------------

def replace(path, other):
    shutil.copy(other, "new")
    os.rename("new", path)


def test_reload_under_load():
    """a file replaced under load: no answer is lost, none is 'no'"""
    build("one.bly", members, "-k", "blocked")
    build("two.bly", members, "-k", "fuse")
    replace("live.bly", "one.bly")
    s = Server("--socket", "s", "--http", str(port), "--jobs", "3",
               "live.bly")
    connect("s", s).close()
    over, found = threading.Event(), queue.Queue()
    asked = b"".join(key + b"\n" for key in members[:2000])

    def lines():
        c, wanted, rounds = connect("s"), b"1\n" * 2000, 0
        while not over.is_set():
            equal(stream(c, asked, len(wanted)), wanted)
            rounds += 1
        return rounds

    def web():
        w, rounds = Web(s), 0
        while not over.is_set():
            equal(w.get("/contains?key=key+%d" % (rounds % KEYS)), TRUE)
            rounds += 1
        return rounds

    def kept(work):
        try:
            found.put(work())
        except (Wrong, OSError, http.client.HTTPException) as e:
            found.put(e)

    clients = [in_thread(kept, work) for work in (lines, lines, lines, web)]
    for i in range(10 if FEW else 40):
        replace("live.bly", ("two.bly", "one.bly")[i % 2])
        s.look()
        s.said("'live.bly' was replaced")
    over.set()
    for client in clients:
        client.join(LONG)
    rounds = [found.get(timeout=LONG) for _ in clients]
    must(all(isinstance(n, int) and n > 0 for n in rounds), rounds)
    s.stop()


def test_reload():
    """a new file answers; one that is gone or broken leaves the old filter"""
    replace("live.bly", "g.bly")
    s = Server("--socket", "s", "live.bly", "f.bly")
    c = connect("s", s)
    ask(c, b"only g\nonly h\nkey 1\n", b"1\n0\n1\n")
    replace("live.bly", "h.bly")
    s.said("'live.bly' was replaced")           # by itself
    ask(c, b"only g\nonly h\nkey 1\n", b"0\n1\n1\n")
    os.unlink("live.bly")
    s.look()
    s.said("'live.bly' is gone")
    ask(c, b"only h\n", b"1\n")
    with open("broken", "wb") as file:
        file.write(open("g.bly", "rb").read()[:-1])
    replace("live.bly", "broken")
    s.look()
    s.said("the old filter of 'live.bly' is served")
    ask(c, b"only h\n", b"1\n")
    os.rename("live.bly", "away")
    os.mkdir("live.bly")
    s.look()
    s.said("the old filter of 'live.bly' is served")
    os.rmdir("live.bly")
    replace("live.bly", "g.bly")
    s.look()
    s.said("'live.bly' was replaced")
    ask(c, b"only g\nonly h\n", b"1\n0\n")
    s.stop()


def test_pipe():
    """a pipe in a filter's place is refused, and what comes after it read"""
    replace("live.bly", "g.bly")
    s = Server("--socket", "s", "live.bly")
    c = connect("s", s)
    os.mkfifo("pipe")
    os.rename("pipe", "live.bly")
    s.look()
    s.said("'live.bly' is not a regular file")
    s.said("the old filter of 'live.bly' is served")
    ask(c, b"only g\nonly h\n", b"1\n0\n")
    replace("live.bly", "h.bly")
    s.look()
    s.said("'live.bly' was replaced")
    ask(c, b"only g\nonly h\n", b"0\n1\n")
    s.stop()
    must(not os.path.exists("s"), "the socket is still there")


def test_written_over():
    """a file written over in its place: errors until it is whole, never 'no'"""
    build_rare("large.bly", members, "-k", "standard")
    good = open("large.bly", "rb").read()
    must(len(good) > 3 * 4096, len(good))
    s = Server("--socket", "s", "--protocol", "socketmap", "large.bly")
    c = connect("s", s)
    asked = b"".join(netstring(b"large " + key) for key in members[:1000])
    yes = netstring(b"OK OK")
    equal(stream(c, asked, 1000 * len(yes)), 1000 * yes)
    for length in (0, 64, 4096, 8192 + 1):
        with open("large.bly", "r+b") as file:
            file.truncate(length)
            c.sendall(netstring(b"large key 1"))
            got = c.recv(1000)
            must(b":TEMP " in got, length, got)
            s.look()
            s.said("the old filter of 'large.bly' is served")
            c.sendall(netstring(b"large key 1"))
            got = c.recv(1000)
            must(b":TEMP " in got, length, got)
            file.seek(0)
            file.write(good)
        s.look()
        s.said("'large.bly' was replaced")
        equal(stream(c, asked, 1000 * len(yes)), 1000 * yes)
    s.stop()
    s = Server("--socket", "s", "--load", "large.bly")
    c = connect("s", s)
    open("large.bly", "wb").close()
    ask(c, b"key 1\nnobody\n", b"1\n0\n")
    s.stop()


# ---- Hostile clients --------------------------------------------------------

def test_stalled():
    """clients that stall, or do not read, hurt nobody, and lose nothing"""
    s = Server("--socket", "s", "--jobs", "1", "f.bly")
    half, deaf, good = connect("s", s), connect("s"), connect("s")
    half.sendall(b"ke")
    asked = b"key 1\nnobody\n" * 20000
    deaf.setblocking(False)
    sent = 0
    for _ in range(1000):           # as much as is taken while nothing is read
        try:
            sent += deaf.send((asked * 2)[sent % len(asked):][:65536])
        except BlockingIOError:
            ask(good, b"key 2\nnobody\n", b"1\n0\n")
    must(0 < sent < 1000 * 65536, "all was taken:", sent)
    ask(good, b"key 1\nnobody\n" * 100, b"1\n0\n" * 100)
    ask(half, b"y 1\n", b"1\n")
    deaf.settimeout(LONG)
    whole, more = divmod(sent, 13)
    wanted = b"1\n0\n" * whole + (b"1\n" if more >= 6 else b"")
    equal(exactly(deaf, len(wanted)), wanted)
    s.stop()


def test_gone():
    """clients that go away in the middle"""
    s = Server("--socket", "s", "--http", str(port), "f.bly")
    good = connect("s", s)
    for _ in range(50):
        c = connect("s")
        c.sendall(b"key 1\n" * 1000 + b"ke")
        c.close()
        c = connect(port, s)
        c.sendall(b"POST /contains HTTP/1.1\r\nHost: localhost\r\n"
                  b"Content-Length: 100000\r\n\r\n[\"")
        c.close()
        c = connect(port, s)
        c.sendall(b"GET /contains?key=key+1 HTTP/1.1\r\n")
        c.close()
    ask(good, b"key 1\n", b"1\n")
    equal(Web(s).get("/contains?key=key+1"), TRUE)
    s.stop()


def test_garbage():
    """random bytes in every protocol: the others get their answers"""
    dice = random.Random(2)
    for protocol, sent, wanted in (
            ("lines", b"key 1\n", b"1\n"), ("squid", b"key%201\n", b"OK\n"),
            ("socketmap", b"7:f key 1,", None),
            ("tcp_table", b"get key%201\n", b"200 OK\n")):
        if wanted is None:
            sent, wanted = netstring(b"f key 1"), netstring(b"OK OK")
        s = Server("--socket", "s", "--protocol", protocol, "--http",
                   str(port), "f.bly")
        good = connect("s", s)
        web = Web(s)
        for where in ("s", port) * (5 if FEW else 30):
            c = connect(where)
            swallow(c.sendall, dice.randbytes(dice.randint(1, 100000)))
            if where == "s":
                swallow(c.shutdown, socket.SHUT_WR)
                swallow(rest, c)
            c.close()
            ask(good, sent, wanted)
        equal(web.get("/contains?key=key+1"), TRUE)
        s.stop()


def test_clients():
    """--clients: one more waits until another has gone"""
    s = Server("--socket", "s", "--clients", "2", "f.bly")
    first, second, third = connect("s", s), connect("s"), connect("s")
    ask(first, b"key 1\n", b"1\n")
    ask(second, b"key 1\n", b"1\n")
    third.sendall(b"key 1\n")
    s.said("new clients wait")
    first.close()
    equal(exactly(third, 2), b"1\n")
    second.close()
    third.close()
    s.stop()


# ---- The end ----------------------------------------------------------------

def test_drained():
    """SIGTERM: what has arrived is answered, and then it ends"""
    n = 2000                        # as much as arrives without being read
    for where in ("s", port):
        s = Server("--socket", "s", "--listen", str(port), "--jobs", "2",
                   "f.bly")
        connect(where, s).close()
        clients = [connect(where) for _ in range(10)]
        for c in clients:
            c.sendall(b"key 1\nnobody\n" * n + b"ke")
        s.process.send_signal(signal.SIGTERM)
        for c in clients:
            equal(rest(c), b"1\n0\n" * n)
        equal(s.end(), (0, []))
    s = Server("--http", str(port), "f.bly")
    connect(port, s).close()
    c = connect(port)
    c.sendall(HONEST)
    s.process.send_signal(signal.SIGTERM)
    must(rest(c).endswith(b'{"contains": true}\n'), "no answer by HTTP")
    equal(s.end(), (0, []))


def test_signals():
    """SIGINT ends it as well, while a client has said nothing"""
    s = Server("--socket", "s", "--http", str(port), "f.bly")
    c = connect("s", s)
    web = Web(s)
    equal(web.get("/contains?key=key+1"), TRUE)
    s.process.send_signal(signal.SIGINT)
    equal(s.end(), (0, []))
    equal(rest(c), b"")


def test_coprocess():
    """at standard input: each answer before the next question; a stop"""
    for words, sent, wanted in (
            ((), b"key 1\n", b"1\n"),
            (("--protocol", "squid"), b"nobody -\n", b"ERR\n"),
            (("--protocol", "socketmap"), netstring(b"f key 1"),
             netstring(b"OK OK"))):
        s = Server(*words, "f.bly", stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE)
        to, back = s.process.stdin.fileno(), s.process.stdout
        for _ in range(100):
            os.write(to, sent)
            equal(back.read(len(wanted)), wanted)
        os.write(to, sent[:-1])
        s.process.send_signal(signal.SIGTERM)
        equal(back.read(), b"")
        equal(s.end(), (0, []))
        s.process.stdin.close()
        back.close()


def test_coprocess_reload():
    """at standard input: a new file answers"""
    replace("live.bly", "g.bly")
    s = Server("live.bly", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    to, back = s.process.stdin, s.process.stdout
    os.write(to.fileno(), b"only g\n")
    equal(back.read(2), b"1\n")
    replace("live.bly", "h.bly")
    s.look()
    s.said("'live.bly' was replaced")
    os.write(to.fileno(), b"only g\nonly h\n")
    equal(back.read(4), b"0\n1\n")
    to.close()
    equal(back.read(), b"")
    equal(s.end(), (0, []))
    back.close()


# ---- Where it listens -------------------------------------------------------

def refused(words, *arguments):
    s = Server(*arguments)
    status, said = s.end()
    equal(status, 2)
    must(len(said) == 1 and words in said[0], said)


def test_place():
    """a socket: taken over of the dead, not of the living, nor other files"""
    s = Server("--socket", "s", "--mode", "660", "f.bly")
    c = connect("s", s)
    equal(stat.S_IMODE(os.stat("s").st_mode), 0o660)
    refused("cannot listen on 's'", "--socket", "s", "f.bly")
    ask(c, b"key 1\n", b"1\n")
    s.kill()
    must(stat.S_ISSOCK(os.stat("s").st_mode), "no socket is left")
    s = Server("--socket", "s", "f.bly")
    ask(connect("s", s), b"key 1\n", b"1\n")
    s.stop()
    with open("s", "w") as file:
        file.write("mine")
    refused("'s' exists and is not a socket", "--socket", "s", "f.bly")
    equal(open("s").read(), "mine")
    os.unlink("s")
    os.symlink("nowhere", "s")
    refused("'s' exists and is not a socket", "--socket", "s", "f.bly")
    os.unlink("s")
    refused("cannot listen on 'none/s'", "--socket", "none/s", "f.bly")


def test_failed_start():
    """a start that fails leaves no socket; what another has stays"""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = str(other.getsockname()[1])
        for option in ("--listen", "--http"):
            for threads in ("1", "3"):
                refused("cannot listen on '%s'" % taken, "--socket", "s",
                        option, taken, "--jobs", threads, "f.bly")
                must(not os.path.exists("s"), "a socket is left")
    s = Server("--socket", "s", "f.bly")
    connect("s", s).close()
    refused("cannot listen on './s'", "--http", "./s", "--socket", "t", "f.bly")
    must(os.path.exists("s") and not os.path.exists("t"), "sockets")
    ask(connect("s"), b"key 1\n", b"1\n")
    s.stop()


port = free_port()
for name, one in sorted(globals().items(), key=lambda pair: getattr(
        getattr(pair[1], "__code__", None), "co_firstlineno", 0)):
    if not name.startswith("test_"):
        continue
    if len(sys.argv) > 1 and not name.startswith(tuple(sys.argv[1:])):
        continue
    if len(sys.argv) == 1 and name.startswith("test_http"):
        continue
    run(one)
sys.exit(failures > 0)
