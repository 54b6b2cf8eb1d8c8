"""Two ends of a connection, for what is said over it."""

import socket
import threading


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of one connection over loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dial = threading.Thread(target=lambda: ends.append(listener.accept()[0]))
        ends: list[socket.socket] = []
        dial.start()
        other = socket.create_connection(listener.getsockname())
        dial.join()
    return ends[0], other
