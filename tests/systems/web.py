"""Requests to a server on this machine, and what their answers must be."""
import http.client
import os
import sys
import time

WAIT = 60    # seconds at most until a server has begun, or has a new filter


def status(port, url, headers, method="GET"):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.request(method, url, headers=headers)
    try:
        return c.getresponse().status
    finally:
        c.close()


def until(what, wanted):
    """Repeats the request until this is the answer."""
    end = time.monotonic() + WAIT
    while True:
        try:
            got = what()
        except OSError as e:
            got = e
        if got == wanted:
            return
        if time.monotonic() > end:
            fail(got, wanted, "the first request")
        time.sleep(0.1)


def equal(got, wanted, what):
    if got != wanted:
        fail(got, wanted, what)


def fail(got, wanted, what):
    sys.exit("%s: %s instead of %s for %s"
             % (os.path.basename(sys.argv[0]), got, wanted, what))
