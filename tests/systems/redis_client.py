"""redis_client.py - a Redis server with the module, and Python's client of it.

    redis_client.py MODULE CHUNKS

Does with the client's own methods for RedisBloom what its users do, and ends
with an assertion where an answer is another. Writes a filter's chunks to CHUNKS,
one behind the other: it has the lines of standard input. The server is one of
its own, reached by a socket in a folder of its own, and ends with this program.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import redis

WAIT = 30    # seconds at most until the server answers


def start(module, folder):
    path = os.path.join(folder, "s")
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
         "--dir", folder, "--loadmodule", module], stdout=subprocess.DEVNULL)
    client = redis.Redis(unix_socket_path=path)
    end = time.monotonic() + WAIT
    while True:
        try:
            client.ping()
            return server, client
        except redis.exceptions.ConnectionError:
            if server.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.05)


def copy(family, name, other):
    """Loads all chunks of a filter into another, and compares them."""
    chunks, at = [], 0
    while True:
        at, data = family.scandump(name, at)
        if at == 0:
            return chunks
        assert family.loadchunk(other, at, data)
        chunks.append(data)


def bloom(client, lines):
    bf = client.bf()
    assert bf.create("seen", 0.001, 100)
    fresh = sum(bf.add("seen", line) for line in lines)
    assert 0.99 * len(lines) <= fresh <= len(lines)
    assert all(bf.mexists("seen", *lines))
    info = bf.info("seen")
    assert info.insertedNum == fresh and info.filterNum > 1
    assert info.expansionRate == 2
    assert bf.madd("new", "a", "b", "a") == [1, 1, 0]
    assert bf.insert("made", ["a", "b"], capacity=10, error=0.1,
                     noScale=True) == [1, 1]
    assert bf.info("made").capacity == 10
    assert bf.exists("made", "a") == 1 and bf.exists("none", "a") == 0
    chunks = copy(bf, "seen", "copy")
    assert all(bf.mexists("copy", *lines))
    assert bf.info("copy").insertedNum == fresh
    return chunks


def cuckoo(client, lines):
    cf = client.cf()
    assert cf.create("basket", 2000, expansion=2, bucket_size=4,
                     max_iterations=30)
    assert all(cf.insert("basket", lines))
    assert all(cf.exists("basket", line) for line in lines)
    assert cf.addnx("basket", lines[0]) == 0
    assert cf.add("basket", "twice") and cf.add("basket", "twice")
    assert cf.count("basket", "twice") == 2
    assert cf.delete("basket", "twice") == 1
    info = cf.info("basket")
    assert info.insertedNum == len(lines) + 1 and info.deletedNum == 1
    assert info.bucketSize == 4 and info.maxIteration == 30
    copy(cf, "basket", "other")
    assert all(cf.exists("other", line) for line in lines)


def main():
    module, out = sys.argv[1:]
    lines = [line.rstrip("\n") for line in sys.stdin]
    folder = tempfile.mkdtemp()
    server = None
    try:
        server, client = start(module, folder)
        chunks = bloom(client, lines)
        cuckoo(client, lines)
    finally:
        if server is not None:
            server.terminate()
            server.wait()
        shutil.rmtree(folder)
    with open(out, "wb") as file:
        file.write(b"".join(chunks))


main()
