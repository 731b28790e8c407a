"""squid.py - a local Squid in a temporary folder, in front of a web server: the
digest of its cache.

    squid.py SQUID DIGEST URLS

Requests 1000 pages from Squid, and writes the digest that it then serves to
DIGEST, and the URLs of the pages to URLS, one per line. Squid and the server end
with this program, even if it is terminated; Squid only writes to standard error.
"""
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

PAGES = 1000
WAIT = 60    # seconds at most until Squid has begun, or has made a digest
ROUNDS = 5   # seconds in which it has looked through its cache anew

# Squid makes digests once it has read its disk cache, so it has one.
SETTINGS = """
http_port 127.0.0.1:%d
cache_dir ufs %s 16 1 1
cache_effective_user %s
http_access allow localhost
visible_hostname localhost
cache_mem 16 MB
memory_cache_shared off
digest_generation on
digest_rebuild_period 1 second
digest_rewrite_period 1 second
pid_filename none
access_log none
cache_log /dev/null
cache_store_log none
netdb_filename none
coredump_dir none
pinger_enable off
shutdown_lifetime 1 second
"""


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 4096     # the page is sent at once

    def do_GET(self):
        text = b"page"
        self.send_response(200)
        self.send_header("Cache-Control", "public, max-age=86400")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def get(opener, url):
    """Returns the page, and its time in seconds if it has one."""
    with opener.open(url, timeout=10) as answer:
        made = answer.headers["Last-Modified"]
        when = parsedate_to_datetime(made).timestamp() if made else 0
        return answer.read(), when


def patiently(opener, url):
    """Retries while Squid starts, or has no digest yet."""
    for _ in range(WAIT):
        try:
            return get(opener, url)
        except OSError:
            time.sleep(1)
    sys.exit("squid.py: there is no %s" % url)


def fetch(port, urls):
    proxy = urllib.request.ProxyHandler({"http": "http://127.0.0.1:%d" % port})
    through = urllib.request.build_opener(proxy)
    for url in urls:
        patiently(through, url)


def digest(port):
    """Returns a digest of everything in the cache now."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    where = "http://127.0.0.1:%d/squid-internal-periodic/store_digest" % port
    begun = time.time()
    for _ in range(WAIT):
        bytes, when = patiently(direct, where)
        if when > begun + ROUNDS:
            return bytes
        time.sleep(1)
    sys.exit("squid.py: there is no new digest")


def cache(folder, port):
    """The settings of Squid with its cache in this folder, to which it goes as
    somebody else where this program runs as root."""
    user = pwd.getpwuid(os.getuid())
    if user.pw_uid == 0:
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
    settings = folder + "/squid.conf"
    with open(settings, "w") as file:
        file.write(SETTINGS % (port, folder + "/cache", user.pw_name))
    return settings


def ask(program, folder, urls):
    port = free_port()
    command = [program, "-N", "-f", cache(folder, port), "-d", "1"]
    subprocess.run(command + ["-z"], check=True)
    squid = subprocess.Popen(command)
    try:
        fetch(port, urls)
        return digest(port)
    finally:
        squid.terminate()
        squid.wait()


def main():
    program, to_digest, to_urls = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    urls = ["http://127.0.0.1:%d/page/%d" % (server.server_address[1], i)
            for i in range(PAGES)]
    folder = tempfile.mkdtemp()
    try:
        bytes = ask(program, folder, urls)
    finally:
        shutil.rmtree(folder)
    with open(to_digest, "wb") as file:
        file.write(bytes)
    with open(to_urls, "w") as file:
        file.writelines(url + "\n" for url in urls)


main()
