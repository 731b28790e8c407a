"""exchange.py - two local Squids, the second of which requests from the first what
is in its digest.

    exchange.py SQUID DIGEST CACHED OTHERS ASKED

The first fetches pages, and writes a digest to the file DIGEST; the URLs of the
pages go to CACHED. Then all of them and some others, OTHERS, are requested from
its neighbour, the second; ASKED lists those that it requested from the first. The
last line of the output is how many pages the web server had to send for the
second.

The Squids and the server end with this program, even if it is terminated.
"""
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Squid damages received digests beyond 128 bytes of bits (its bug 5510; seen in
# 5.7): of 400 pages it then finds a third. So these are few.
PAGES = 140
WAIT = 60    # seconds at most until a Squid has begun, or has a digest
ROUNDS = 5   # seconds in which it has looked through its cache anew

BOTH = """
http_port 127.0.0.1:%(port)d
cache_effective_user %(user)s
http_access allow localhost
visible_hostname %(name)s
hostname_aliases 127.0.0.1
cache_mem 16 MB
memory_cache_shared off
pid_filename none
access_log stdio:%(folder)s/%(name)s.log
logfile_rotate 0
buffered_logs off
cache_log /dev/null
cache_store_log none
netdb_filename none
coredump_dir none
pinger_enable off
shutdown_lifetime 1 second
"""

# Squid makes digests after reading its disk cache, so it has one.
FIRST = BOTH + """
cache_dir ufs %(folder)s/cache 16 1 1
digest_generation on
digest_bits_per_entry 5
digest_rebuild_period 1 second
digest_rebuild_chunk_percentage 100
digest_rewrite_period 1 second
"""

# A server as near as this one would be queried directly.
SECOND = BOTH + """
digest_generation off
minimum_direct_rtt 0
minimum_direct_hops 0
cache_peer 127.0.0.1 sibling %(other)d 0 no-query
"""


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 4096     # the page is sent at once
    sent = 0

    def do_GET(self):
        Page.sent += 1
        text = b"page " + self.path.encode()
        self.send_response(200)
        self.send_header("Cache-Control", "public, max-age=86400")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def free_port():
    """Returns a port outside the range of client ports."""
    while True:
        number = random.randrange(10000, 32000)
        with socket.socket() as some:
            try:
                some.bind(("127.0.0.1", number))
                return number
            except OSError:
                continue


def get(proxies, url):
    """Returns the page, and its time in seconds if it has one."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
    for _ in range(WAIT):
        try:
            with opener.open(url, timeout=10) as answer:
                made = answer.headers["Last-Modified"]
                when = parsedate_to_datetime(made).timestamp() if made else 0
                return answer.read(), when
        except OSError:
            time.sleep(1)
    sys.exit("exchange.py: there is no %s" % url)


def fetch(port, urls):
    for url in urls:
        page, _ = get({"http": "http://127.0.0.1:%d" % port}, url)
        path = "/" + url.split("/", 3)[3]
        if page != b"page " + path.encode():
            sys.exit("exchange.py: another page than %s" % url)


def digest(port):
    """Returns a digest of everything in the cache now."""
    where = "http://127.0.0.1:%d/squid-internal-periodic/store_digest" % port
    begun = time.time()
    for _ in range(WAIT):
        bytes_, when = get({}, where)
        if when > begun + ROUNDS:
            return bytes_
        time.sleep(1)
    sys.exit("exchange.py: there is no new digest")


class Squid:
    """One with these settings, in a folder to which it goes as somebody else where
    this program runs as root."""
    running = []

    def __init__(self, program, folder, settings, user, name, **more):
        self.port, self.log = free_port(), "%s/%s.log" % (folder, name)
        path = "%s/%s.conf" % (folder, name)
        with open(path, "w") as file:
            file.write(settings % dict(port=self.port, folder=folder, user=user,
                                       name=name, **more))
        command = [program, "-N", "-f", path]
        if "cache_dir" in settings:
            subprocess.run(command + ["-z"], check=True)
        self.running.append(subprocess.Popen(command))


def lines(squid):
    """Reads its log: what was requested, and the result."""
    with open(squid.log) as log:
        return [line.split() for line in log]


def know(first, second, url):
    """Requests pages from the second until it has the first's digest."""
    before = len(lines(first))
    for i in range(WAIT):
        fetch(second.port, ["%s?%d" % (url, i)])
        if any("store_digest" in line[6] for line in lines(first)[before:]):
            time.sleep(1)
            return
        time.sleep(1)
    sys.exit("exchange.py: the second does not ask for the digest")


def exchange(program, folder, cached, others):
    """Returns the first's digest, the requests to it, and the pages sent."""
    user = pwd.getpwuid(os.getuid())
    if user.pw_uid == 0:
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
    first = Squid(program, folder, FIRST, user.pw_name, "first")
    fetch(first.port, cached)
    body = digest(first.port)
    second = Squid(program, folder, SECOND, user.pw_name, "second",
                   other=first.port)
    know(first, second, others[0])
    sent, before = Page.sent, len(lines(first))
    fetch(second.port, cached + others)
    time.sleep(1)
    asked = [line[6] for line in lines(first)[before:]]
    return body, asked, Page.sent - sent


def main():
    program, *files = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    urls = ["http://127.0.0.1:%d/page/%d" % (server.server_address[1], i)
            for i in range(2 * PAGES)]
    folder = tempfile.mkdtemp()
    try:
        body, asked, sent = exchange(program, folder, urls[:PAGES],
                                      urls[PAGES:])
    finally:
        for squid in Squid.running:
            squid.terminate()
            squid.wait()
        shutil.rmtree(folder)
    with open(files[0], "wb") as file:
        file.write(body)
    for name, some in zip(files[1:], (urls[:PAGES], urls[PAGES:], asked)):
        with open(name, "w") as file:
            file.writelines(url + "\n" for url in some)
    print(sent)


main()
