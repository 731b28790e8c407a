"""An independent model: model.py LIST VISITS prints visited URLs that are in
the list, by sets; model.py expressions URLS each URL's expressions; model.py
urls LINES SEED makes URLs, many of them written oddly; model.py prefixes FROM
TO prints the first four bytes of the SHA-256 of made expressions."""
import hashlib
import random
import re
import socket
import sys


def decoded(text):
    while True:
        plain = re.sub(rb"%([0-9A-Fa-f]{2})",
                       lambda m: bytes([int(m[1], 16)]), text)
        if plain == text:
            return text
        text = plain


def encoded(text):
    return b"".join(b"%%%02X" % c if c <= 32 or c >= 127 or c in b"#%"
                    else bytes([c]) for c in text)


def address(host):
    """Reads octal and hexadecimal numbers too, like the system."""
    if not re.fullmatch(rb"[0-9][0-9a-fA-FxX]*(\.[0-9][0-9a-fA-FxX]*){0,3}",
                        host):
        return None
    try:
        return socket.inet_ntoa(socket.inet_aton(host.decode())).encode()
    except OSError:
        return None


def parts(url):
    """Returns host, path and query, and whether the host is numeric."""
    url = re.sub(rb"[\t\r]", b"", url.strip(b" \r")).split(b"#")[0]
    url = decoded(url)
    url = re.sub(rb"(?s)^[^:/?]*://", b"", url)
    place, rest = re.fullmatch(rb"(?s)([^/?]*)(.*)", url).groups()
    place = re.sub(rb":[0-9]*\Z", b"", place.split(b"@")[-1])
    place = re.sub(rb"\.+", b".", place).strip(b".").lower()
    number = address(place)
    path, mark, query = rest.partition(b"?")
    stack, folder = [], True
    for part in path.split(b"/")[1:]:
        folder = part in (b"", b".", b"..")
        if part == b"..":
            stack = stack[:-1]
        elif not folder:
            stack.append(part)
    path = b"".join(b"/" + part for part in stack)
    path += b"/" if folder or not stack else b""
    return (number or encoded(place), encoded(path), encoded(mark + query),
            number is not None or place.startswith(b"["))


def expressions(url):
    host, path, query, numeric = parts(url)
    if host == b"":
        return []
    names = host.split(b".")
    last = names[-5:] if len(names) > 5 else names[1:]
    hosts = [host]
    if not numeric:
        hosts += [b".".join(last[i:]) for i in range(len(last) - 1)]
    paths = [path + query] + ([path] if query else [])
    at = [i + 1 for i in range(len(path)) if path[i:i + 1] == b"/"]
    paths += [path[:i] for i in at[:4] if path[:i] != path]
    return [h + p for h in hosts for p in paths]


def lines(name):
    with open(name, "rb") as file:
        return file.read().split(b"\n")[:-1]


def odd(draw):
    """Draws a URL from few letters, so that escapes, dots and slashes meet."""
    host = "".join(draw.choice("aB.c1x%2e0") for _ in range(draw.randint(1, 14)))
    path = "".join(draw.choice("/.a%25E3?&#b2 ~:\xe9")
                   for _ in range(draw.randint(0, 24)))
    return (draw.choice(["http://", "HTTPS://", "", "ftp://u:p@"]) + host +
            draw.choice(["", ":80", ":"]) + draw.choice(["/", "", "//"]) + path)


def main():
    job, *rest = sys.argv[1:]
    out = sys.stdout.buffer
    if job == "urls":
        draw = random.Random(int(rest[1]))
        for _ in range(int(rest[0])):
            out.write(odd(draw).encode("latin-1") + b"\n")
    elif job == "expressions":
        for url in lines(rest[0]):
            for one in expressions(url):
                out.write(one + b"\t" + url + b"\n")
    elif job == "prefixes":
        for i in range(int(rest[0]), int(rest[1])):
            one = hashlib.sha256(b"host%d.example.org/" % i)
            out.write(one.hexdigest()[:8].encode() + b"\n")
    else:
        bad = set(lines(job))
        for url in lines(rest[0]):
            if not bad.isdisjoint(expressions(url)):
                out.write(url + b"\n")


main()
