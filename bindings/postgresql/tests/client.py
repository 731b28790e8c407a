"""client.py - speaks PostgreSQL's protocol to a socket, as JDBC, node-postgres
and others do: the server decides what the type of a parameter is.

    python3 client.py SOCKET USER DATABASE <QUERIES

Each line of the input is a query and its parameters, separated by TABs. A
parameter is sent as text without a type, or as one of the type that is written
before it: "1043:7" is varchar, which is what JDBC's setString sends. Prints a
line for each query: its first value, or the code of the error.
"""
import socket
import struct
import sys


def message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def text(string):
    return string.encode() + b"\0"


class Server:
    def __init__(self, path, user, database):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.stream = self.socket.makefile("rb")
        self.socket.sendall(message(b"", struct.pack("!i", 3 << 16)
                                    + text("user") + text(user)
                                    + text("database") + text(database)
                                    + b"\0"))
        self.answers()

    def answers(self):
        """All messages until the server is ready for the next query."""
        some = []
        while not some or some[-1][0] != b"Z":
            kind = self.stream.read(1)
            size, = struct.unpack("!i", self.stream.read(4))
            some.append((kind, self.stream.read(size - 4)))
        return some

    def ask(self, query, parameters):
        typed = [p.rpartition(":") for p in parameters]
        count = struct.pack("!h", len(typed))
        types = b"".join(struct.pack("!I", int(t or 0)) for t, _, _ in typed)
        values = b"".join(struct.pack("!i", len(v.encode())) + v.encode()
                          for _, _, v in typed)
        self.socket.sendall(
            message(b"P", b"\0" + text(query) + count + types)
            + message(b"B", b"\0\0" + struct.pack("!h", 0) + count + values
                      + struct.pack("!h", 0))
            + message(b"E", b"\0" + struct.pack("!i", 0))
            + message(b"S", b""))
        for kind, body in self.answers():
            if kind == b"E":
                fields = dict((f[:1], f[1:]) for f in body.split(b"\0"))
                return fields[b"C"].decode()
            if kind == b"D":
                size, = struct.unpack("!i", body[2:6])
                return body[6:6 + size].decode() if size >= 0 else "NULL"
        return "no row"


server = Server(*sys.argv[1:4])
for line in sys.stdin:
    query, *parameters = line.rstrip("\n").split("\t")
    print(server.ask(query, parameters))
