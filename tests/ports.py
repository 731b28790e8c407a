"""Free ports on this machine for servers that a test starts."""
import random
import socket


def free_port():
    """None that the system gives to clients: one of those that tries until
    somebody listens could find itself."""
    while True:
        number = random.randrange(10000, 32000)
        with socket.socket() as some:
            try:
                some.bind(("127.0.0.1", number))
                return number
            except OSError:
                continue
