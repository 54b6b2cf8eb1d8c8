"""Another site than muckrake's, which may frame some of its pages."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Club(ThreadingHTTPServer):
    """At a free port: a page of these lines."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.lines: list[str] = []

    @property
    def origin(self) -> str:
        """By the name that a server is told; nobody has told it the number."""
        return f"http://localhost:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: Club

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        text = f"<!doctype html><title>a club</title>{''.join(self.server.lines)}"
        self.wfile.write(text.encode())

    def log_message(self, *said: object) -> None:
        """Nobody reads it."""
