"""Sites for a crawler, on loopback: site.py serve PORT LOG FOLDER HOST... serves
made pages, and FOLDER under /doc/, and writes a line for each request: time, host,
path. site.py links prints the made pages to be fetched, without the leaves, and
site.py lists prints those, behind the list that links to each; site.py documents
FOLDER URL... prints the result of a crawl of FOLDER, and site.py resolve BASE
prints the URL of each line, a link on that page.

Each host has / with links to its lists, lists with links to leaves of all hosts,
to each other and to forbidden pages, and a robots.txt."""
import html.parser
import os
import re
import sys
import threading
import time
import urllib.parse
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

LISTS, LEAVES = 5, int(os.environ.get("LEAVES", "50"))
ROBOTS = """# made
User-agent: other
Disallow: /

User-agent: Bloomery-Crawler
User-agent: third
Disallow: /private
Allow: /private/open
Disallow: /*.cgi$
Disallow: /list/*/hidden  # and what is below

User-agent: *
Disallow: /
"""
BARRED = ["/private", "/private/x", "/a.cgi", "/list/1/hidden/y"]
OPEN = ["/private/open/z", "/a.cgi?q", "/list/hidden?a=1&b=2"]


def host_of(hosts, i):
    return hosts[i % len(hosts)]


def leaves(hosts, number):
    """Returns a list's leaves, numbered across all hosts."""
    for i in range(number * LEAVES, (number + 1) * LEAVES):
        yield host_of(hosts, i), "/leaf/%d" % i


def made(hosts, port, host, path):
    """Returns a page of links, or None."""
    if path == "/":
        links = ["list/%d" % i for i in range(LISTS)]
        links += BARRED + OPEN + ["/moved", "/gone"]
    elif path.startswith("/list/") and path[6:].isdigit():
        number = int(path[6:]) + LISTS * hosts.index(host)
        links = ["http://%s:%d%s#x" % (h, port, p)
                 for h, p in leaves(hosts, number)]
        links += ["../list/0", "./1#top", "#top", "", "mailto:a@example.org",
                  "http://127.0.0.77:%d/" % port, "//127.0.0.77:%d/x" % port,
                  "http://%s:1/" % host, "ftp://%s:%d/" % (host, port),
                  "http://a@%s:%d/" % (host, port), "/x/../list/2"]
    elif path.startswith("/leaf/") or path in BARRED or path in OPEN:
        links = ["/"]
    elif path == "/here":
        links = ["/"]
    else:
        return None
    ways = ['<p><A class=x HREF = "%s">%s</a>\n',
            "<p><a href='%s' title=\"/none\">%s</a>\n",
            '<p><a data-href="/none" href=%s title="/none">%s</a>\n']
    return "\0".join(ways[i % 3 if link else 0] %
                     (link.replace("&", "&amp;"), i)
                     for i, link in enumerate(links)).encode()


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1                       # an answer is one packet, or few

    def do_GET(self):
        host = self.server.server_address[0]
        with self.server.lock:
            print("%.6f" % time.monotonic(), host, self.path,
                  self.headers.get("User-Agent"), file=self.server.log,
                  flush=True)
        if self.path.startswith("/doc/"):
            return super().do_GET()
        body, kind, status = None, "Text/HTML", 200
        if LEAVES == 0:
            pass
        elif self.path == "/robots.txt":
            body, kind = ROBOTS.encode(), "text/plain"
        elif self.path == "/moved":
            status, body = 302, b"moved"
        else:
            body = made(self.server.hosts, self.server.server_address[1], host,
                        self.path)
        if body is None:
            status, body = 404, b'<a href="/never">'
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/here")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def translate_path(self, path):
        return super().translate_path(path[4:])

    def list_directory(self, path):
        self.send_error(404)

    def log_message(self, *_):
        pass


def serve(port, log, folder, hosts):
    lock, out, servers = threading.Lock(), open(log, "w"), []
    for host in hosts + ["127.0.0.77"]:
        one = ThreadingHTTPServer(
            (host, port), lambda *a: Handler(*a, directory=folder))
        one.hosts, one.log, one.lock = hosts, out, lock
        port = one.server_address[1]
        servers.append(one)
    print(port, flush=True)
    for one in servers[1:]:
        threading.Thread(target=one.serve_forever, daemon=True).start()
    servers[0].serve_forever()


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found += [v for k, v in attributes if k == "href" and v]


# A reference by appendix B of RFC 3986: scheme, host, path, query. A scheme
# begins with a letter, or "(https://x)" would have one.
REFERENCE = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?"
                       r"([^?#]*)(\?[^#]*)?", re.DOTALL)


def without_dots(path):
    """Implements RFC 3986, 5.2.4, keeping empty segments."""
    kept, segments = [], path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1:] in (["."], [".."]):
        kept.append("")
    return "/" + "/".join(kept)


def resolve(base, link):
    """Implements RFC 3986, 5.2.2, for a base with a host and a path; drops the
fragment."""
    protocol, site, below, asked = REFERENCE.match(base).groups()
    scheme, host, path, query = REFERENCE.match(link).groups()
    if scheme is not None and host is None:
        return link                                     # mailto: and others
    if host is None:
        host = site
        if path == "":
            path, query = below, asked if query is None else query
        elif not path.startswith("/"):
            path = below[:below.rindex("/") + 1] + path
    if query in (None, "?"):                            # libcurl drops that
        query = ""
    return (scheme or protocol).lower() + "://" + host.lower() + \
        urllib.parse.quote(without_dots(path) + query, "/%!$&'()*+,;=:@~?",
                           "latin-1")


def documents(folder, *starts):
    """Crawls files breadth-first, reading the links of HTML documents."""
    site = starts[0][:starts[0].index("/doc/")]
    waiting, known = list(starts), set(starts)
    for url in waiting:
        path, found = urllib.parse.unquote(urllib.parse.urlsplit(url).path), []
        name = folder + path[4:]
        if path.startswith("/doc/") and os.path.isdir(name):
            if not path.endswith("/"):                  # it is sent there
                found = ["/".join(re.match("([^?]*)(.*)", url).groups())]
            name += "/index.html"
        if path.startswith("/doc/") and os.path.isfile(name) and not found \
                and name.endswith((".html", ".htm")):
            parser = Links()
            parser.feed(open(name, encoding="latin-1").read())
            found = parser.found
        for link in found:
            if link.startswith("#"):
                continue
            whole = resolve(url, link.strip())
            if whole.startswith(site + "/") and whole not in known:
                known.add(whole)
                waiting.append(whole)
    print("\n".join(waiting))


def main():
    job, *rest = sys.argv[1:]
    if job == "serve":
        serve(int(rest[0]), rest[1], rest[2], rest[3:])
    elif job == "documents":
        documents(*rest)
    elif job == "resolve":
        for line in sys.stdin:
            print(resolve(rest[0], line.rstrip("\n")))
    else:
        port, hosts = int(rest[0]), rest[1:]
        for i, host in enumerate(hosts):
            paths = ["/", "/moved", "/here", "/gone"] + OPEN
            paths += ["/list/%d" % n for n in range(LISTS)]
            if job == "links":
                for path in paths:
                    print("http://%s:%d%s" % (host, port, path))
            else:
                for n in range(LISTS):
                    for leaf in leaves(hosts, LISTS * i + n):
                        print("http://%s:%d/list/%d http://%s:%d%s" %
                              (host, port, n, leaf[0], port, leaf[1]))


main()
