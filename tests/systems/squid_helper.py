"""squid_helper.py - Squid with `bloomery serve` as the helper of an external ACL.

    squid_helper.py SQUID BLOOMERY

Squid, on this machine alone and in a folder of its own, is in front of a server
of pages, and denies those whose path is in a filter; then in a new one that was
put in its place. Where the helper cannot answer (BH) it denies too. Another
helper denies domains and all that lies within them. Squid ends
with this program, and the helpers with Squid.
"""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402
from web import equal, status, until  # noqa: E402

PAGES = 200

SETTINGS = """
http_port 127.0.0.1:%(port)d
cache_effective_user %(user)s
external_acl_type listed concurrency=100 children-max=1 \
    ttl=0 negative_ttl=0 cache=0 %%PATH \
    %(bloomery)s serve --protocol squid --channels %(folder)s/denied.bly
external_acl_type single concurrency=0 children-max=1 ttl=0 negative_ttl=0 \
    cache=0 %%METHOD %%PATH \
    %(bloomery)s serve --protocol squid --field 2 %(folder)s/denied.bly
external_acl_type broken concurrency=100 children-max=1 ttl=0 negative_ttl=0 \
    cache=0 %%PATH \
    %(bloomery)s serve --protocol squid --channels %(folder)s/numbers.bly
external_acl_type names concurrency=100 children-max=1 ttl=0 negative_ttl=0 \
    cache=0 %%DST \
    %(bloomery)s serve --protocol squid --channels %(folder)s/domains.bly
acl posted method POST
acl strange urlpath_regex ^/strange
acl in_list external listed
acl in_list_too external single
acl no_answer external broken
acl bad_name external names
http_access deny bad_name
http_access deny !posted in_list
http_access deny posted in_list_too
http_access deny strange no_answer
http_access allow localhost
http_access deny all
cache deny all
visible_hostname localhost
cache_mem 8 MB
memory_cache_shared off
hosts_file %(folder)s/hosts
pid_filename none
access_log none
cache_log %(folder)s/log
cache_store_log none
netdb_filename none
coredump_dir none
pinger_enable off
shutdown_lifetime 1 second
"""


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass


def page(proxy, pages, path, method="GET", host="127.0.0.1"):
    return status(proxy, "http://%s:%d%s" % (host, pages, path),
                  {"Content-Length": "0"}, method)


def lent(bloomery, folder):
    """A copy of the program, with its library, for a user to whom the folder that
    it is in may be closed."""
    for file in glob.glob(os.path.dirname(bloomery) + "/libbloomery.so*"):
        shutil.copy(file, folder)
    return shutil.copy(bloomery, folder)


def build(bloomery, folder, numbers):
    """Squid leaves the escapes of a URL as they are, and its helpers take them
    for its own: so the filter has the path that is meant."""
    with open(folder + "/paths", "w") as file:
        file.writelines("/a page/%d\n" % i for i in numbers)
    subprocess.run([bloomery, "build", "-p", "1e-8", "-o",
                    folder + "/denied.bly", folder + "/paths"], check=True)
    os.chmod(folder + "/denied.bly", 0o644)


# Names of this machine, and whether Squid must deny them.
HOSTS = {"bad.example": 403, "a.b.BAD.example": 403, "badbad.example": 200,
         "good.example": 200, "ads.good.example": 403, "x.ads.good.example": 403}


def build_domains(bloomery, folder):
    with open(folder + "/hosts", "w") as file:
        file.writelines("127.0.0.1 %s\n" % name for name in HOSTS)
    with open(folder + "/list", "w") as file:
        file.write("# a list\n||bad.example^\n0.0.0.0.example\n"
                   "*.Ads.Good.example.\n")
    subprocess.run([bloomery, "build", "--as", "domain", "--comment", "#", "-p",
                    "1e-8", "-o", folder + "/domains.bly", folder + "/list"],
                   check=True)
    os.chmod(folder + "/domains.bly", 0o644)


def build_numbers(bloomery, folder):
    """A path is not a number, so this filter gives no answer."""
    subprocess.run([bloomery, "build", "--as", "number", "-n", "1", "-o",
                    folder + "/numbers.bly", "--key", "1"], check=True)
    os.chmod(folder + "/numbers.bly", 0o644)


def ask(bloomery, folder, proxy, pages):
    def get(i, method="GET"):
        return page(proxy, pages, "/a%20page/" + str(i), method)

    until(lambda: get(1), 403)
    for i in range(PAGES):
        equal(get(i), 403 if i % 2 else 200, i)
    for i in range(10):
        equal(get(i, "POST"), 403 if i % 2 else 200, "POST %d" % i)
    equal(page(proxy, pages, "/strange"), 403, "/strange")
    for name, wanted in HOSTS.items():
        equal(page(proxy, pages, "/page", host=name), wanted, name)
    build(bloomery, folder, range(0, PAGES, 2))
    until(lambda: get(0), 403)
    until(lambda: get(1), 200)
    for i in range(PAGES):
        equal(get(i), 200 if i % 2 else 403, i)


def main():
    program, bloomery = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = tempfile.mkdtemp()
    user = pwd.getpwuid(os.getuid())
    squid = None
    try:
        build(bloomery, folder, range(1, PAGES, 2))
        build_numbers(bloomery, folder)
        build_domains(bloomery, folder)
        if user.pw_uid == 0:
            user = pwd.getpwnam("nobody")
            os.chown(folder, user.pw_uid, user.pw_gid)
        port = free_port()
        with open(folder + "/squid.conf", "w") as file:
            file.write(SETTINGS % {"port": port, "user": user.pw_name,
                                   "bloomery": lent(bloomery, folder),
                                   "folder": folder})
        squid = subprocess.Popen([program, "-N", "-f", folder + "/squid.conf"],
                                 env={**os.environ, "LD_LIBRARY_PATH": folder})
        ask(bloomery, folder, port, server.server_address[1])
    finally:
        if squid is not None:
            squid.terminate()
            squid.wait()
        if os.path.exists(folder + "/log"):
            with open(folder + "/log") as log:
                sys.stderr.write(log.read())
        shutil.rmtree(folder)


main()
