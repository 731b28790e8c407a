"""Packets for the kernel's filter. packets.py make NETWORKS PACKETS writes, from a
seed, the keys of networks into `networks`, the packets' senders into `senders`,
for each the keys of 32, 28 and 24 bits into `keys`, and into `blocked` those that
are in a network. packets.py send FROM TO sends a packet of each of `senders` by
one interface, and prints those that come in by the other."""
import random
import socket
import struct
import sys
from ipaddress import ip_address

LENGTHS, MARK, PART = (32, 28, 24), 0x88b5, 200


def key(address, length):
    return "%08x%02x" % (address >> (32 - length) << (32 - length), length)


def make(networks, packets):
    draw = random.Random(31)
    blocked = [(draw.getrandbits(32), draw.choice((32, 32, 32, 28, 24)))
               for _ in range(networks)]
    known = {key(*one) for one in blocked}
    with open("networks", "w") as out:
        print("\n".join(sorted(known)), file=out)
    with open("senders", "w") as senders, open("keys", "w") as keys, \
            open("blocked", "w") as dropped:
        for _ in range(packets):
            address = draw.getrandbits(32)
            if draw.random() < .25:
                base, length = draw.choice(blocked)
                rest = (1 << (32 - length)) - 1
                address = base & ~rest | address & rest
            asked = [key(address, length) for length in LENGTHS]
            print(ip_address(address), file=senders)
            print("\n".join(asked), file=keys)
            if not known.isdisjoint(asked):
                print(ip_address(address), file=dropped)


def send(source, target):
    """Sends in parts, each followed by a frame that is not IPv4."""
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind((source, 0))
    into = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    into.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    into.bind((target, 3))
    into.settimeout(10)
    senders = open("senders").read().split()
    for at in range(0, len(senders), PART):
        for one in senders[at:at + PART]:
            out.send(b"\xff" * 6 + b"\2" * 6 + struct.pack(
                ">HBBHHHBBH4s4s", 0x800, 0x45, 0, 20, 0, 0, 64, 253, 0,
                socket.inet_aton(one), b"\x7f\0\0\1"))
        out.send(b"\xff" * 6 + b"\2" * 6 + struct.pack(">H", MARK))
        while True:
            frame = into.recv(2048)
            kind = struct.unpack(">H", frame[12:14])[0]
            if kind == MARK:
                break
            if kind == 0x800:
                print(socket.inet_ntoa(frame[26:30]))


if sys.argv[1] == "make":
    make(int(sys.argv[2]), int(sys.argv[3]))
else:
    send(sys.argv[2], sys.argv[3])
