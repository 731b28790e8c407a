"""nginx.py - nginx that asks `bloomery serve` whether a client may have a page.

    nginx.py NGINX BLOOMERY

nginx, on this machine alone and in a folder of its own, sends the address of
each client to /deny, and denies those in a list of networks; and the path of
each page to /allow, and gives only listed ones. While the server is down it
gives none. nginx and the server end with this program.
"""
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402
from web import equal, status, until  # noqa: E402

SETTINGS = """
%(user)s
daemon off;
worker_processes 1;
pid %(folder)s/pid;
error_log %(folder)s/log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path %(folder)s/body;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    set_real_ip_from 127.0.0.1;
    server {
        listen 127.0.0.1:%(port)d;
        root %(folder)s/pages;
        location / {
            auth_request /denied;
        }
        location /paths/ {
            auth_request /allowed;
        }
        location = /denied {
            internal;
            proxy_pass http://unix:%(folder)s/ask:/deny?filter=nets&key=$remote_addr;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
        }
        location = /allowed {
            internal;
            proxy_pass http://unix:%(folder)s/ask:/allow?filter=paths&key=$request_uri;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
        }
    }
}
"""

# Addresses of clients, and whether nginx gives them a page.
CLIENTS = {"192.0.2.7": 403, "192.0.3.7": 200, "2001:db8::1": 403,
           "2001:db9::1": 200, "::ffff:192.0.2.9": 403}
PATHS = {"/paths/open/a": 200, "/paths/open": 200, "/paths/closed": 403}


def page(port, path, client):
    return status(port, path, {"X-Real-IP": client})


def build(bloomery, folder, name, how, lines):
    subprocess.run([bloomery, "build", "--as", how, "-n", "10", "-p", "1e-8",
                    "-o", folder + "/" + name + ".bly"], check=True,
                   input="\n".join(lines).encode())


def pages(folder):
    for path in ["/page", "/paths/open/a", "/paths/open/index.html",
                 "/paths/closed"]:
        os.makedirs(os.path.dirname(folder + "/pages" + path), exist_ok=True)
        with open(folder + "/pages" + path, "w") as file:
            file.write("page")


def serve(bloomery, folder):
    return subprocess.Popen([bloomery, "serve", "--http", folder + "/ask",
                             "--mode", "666", folder + "/nets.bly",
                             folder + "/paths.bly"])


def ask(port, bloomery, folder, running):
    until(lambda: page(port, "/page", "192.0.3.7"), 200)
    for client, wanted in CLIENTS.items():
        equal(page(port, "/page", client), wanted, client)
    for path, wanted in PATHS.items():
        got = page(port, path, "192.0.3.7")
        equal(200 if got == 301 else got, wanted, path)
    server = running.pop()
    server.terminate()
    server.wait()
    equal(page(port, "/page", "192.0.3.7"), 500, "no server")


def main():
    program, bloomery = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    folder = tempfile.mkdtemp()
    running = []
    try:
        build(bloomery, folder, "nets", "cidr", ["192.0.2.0/24",
                                                 "2001:db8::/32"])
        build(bloomery, folder, "paths", "path", ["/paths/open"])
        pages(folder)
        user = pwd.getpwuid(os.getuid())
        os.chmod(folder, 0o755)
        port = free_port()
        with open(folder + "/nginx.conf", "w") as file:
            file.write(SETTINGS % {
                "port": port, "folder": folder,
                "user": "user nobody nogroup;" if user.pw_uid == 0 else ""})
        running.append(subprocess.Popen([program, "-p", folder, "-c",
                                         folder + "/nginx.conf"]))
        running.append(serve(bloomery, folder))
        ask(port, bloomery, folder, running)
    finally:
        for one in running:
            one.terminate()
            one.wait()
        if os.path.exists(folder + "/log"):
            with open(folder + "/log") as log:
                sys.stderr.write(log.read())
        shutil.rmtree(folder)


main()
