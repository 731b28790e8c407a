"""ask.py SOCKET NAME ADDRESSES: looks up each address, one per line, in a
socketmap, and prints those found."""
import socket
import sys

AT_ONCE = 500


def netstring(text):
    return b"%d:%s," % (len(text), text)


def read_netstring(file):
    digits = b""
    while not digits.endswith(b":"):
        one = file.read(1)
        if not one:
            sys.exit("ask.py: the server has gone")
        digits += one
    text = file.read(int(digits[:-1]) + 1)
    return text[:-1]


def main():
    path, name, list_ = sys.argv[1:]
    addresses = open(list_, "rb").read().split(b"\n")[:-1]
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        answers = server.makefile("rb")
        for i in range(0, len(addresses), AT_ONCE):
            some = addresses[i:i + AT_ONCE]
            server.sendall(b"".join(netstring(name.encode() + b" " + one)
                                    for one in some))
            for one in some:
                answer = read_netstring(answers)
                if answer.startswith(b"OK "):
                    sys.stdout.buffer.write(one + b"\n")
                elif answer.strip() != b"NOTFOUND":
                    sys.exit("ask.py: %r" % answer)


main()
