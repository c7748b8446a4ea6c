"""A small server on loopback that keeps what is put there, and fails when told to."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal


class Web:
    """The server: what it holds, who asked for what, and how it behaves."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.media: dict[str, str] = {}
        self.asked: list[tuple[str, str, str]] = []
        """Method, path and credentials of every request."""
        self.puts = 0
        self.good_puts: int | None = None
        """So many are taken; those after that fail."""
        self.failing: Literal["answer 500", "cut"] = "answer 500"
        self.port = 0

    def url(self, path: str, *, host: str = "127.0.0.1", user: str = "") -> str:
        return f"http://{user}{host}:{self.port}{path}"


@contextmanager
def serving() -> Generator[Web]:
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def note(self) -> None:
            web.asked.append((self.command, self.path, self.headers.get("Authorization", "")))

        def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            # What object storage of any kind tells, too.
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Mon, 16 Nov 2026 00:00:00 GMT")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.note()
            path = self.path.partition("?")[0]
            match path:
                case "/forbidden.ipynb":
                    self.answer(403, b"the signature s3cret is too old")
                case "/chunked.ipynb":
                    self.send_response(200)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    self.wfile.write(b"2\r\n{}\r\n0\r\n\r\n")
                case "/endless.ipynb":
                    self.send_response(200)
                    self.send_header("Content-Length", "100000001")
                    self.end_headers()
                    self.close_connection = True
                case "/elsewhere.ipynb":
                    self.answer(302, Location="http://nowhere.invalid/x.ipynb")
                case _ if path in web.files:
                    self.answer(200, web.files[path])
                case _:
                    self.answer(404)

        def do_PUT(self) -> None:
            self.note()
            web.puts += 1
            fails = web.good_puts is not None and web.puts > web.good_puts
            length = int(self.headers["Content-Length"])
            if fails and web.failing == "cut":
                self.rfile.read(length // 2)
                self.close_connection = True
                self.connection.close()
                return
            data = self.rfile.read(length)
            if fails:
                return self.answer(500, b"the disk is full, says s3cret")
            if self.path.startswith("/reading/"):
                return self.answer(405)
            web.files[self.path.partition("?")[0]] = data
            web.media[self.path.partition("?")[0]] = self.headers.get("Content-Type", "")
            self.answer(201)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.port = server.server_port
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
