"""A real S3 server, on loopback; it ends when this process does."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import subprocess
import sys
from collections.abc import Generator
from typing import Any

ACCESS_KEY, SECRET_KEY = "AKIAVERYVISIBLE", "0verySecret+Word/"

_SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


class S3Server:
    """An S3 server, and what tests ask of it past our own client."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._names = (f"bucket-{number}" for number in itertools.count())

    def bucket(self) -> str:
        """Make a new, empty bucket."""
        name = next(self._names)
        self.ask("PUT", f"/{name}")
        return name

    @contextlib.contextmanager
    def looking_at_credentials(self) -> Generator[None]:
        """Refuse whoever has the wrong ones, as they all have here; outside of this, anybody is let in."""
        self.ask("POST", "/moto-api/reset-auth", b"0")
        try:
            yield
        finally:
            self.ask("POST", "/moto-api/reset-auth", b"inf")

    def ask(self, method: str, path: str, body: bytes | None = None) -> str:
        """Send a request by hand."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request(method, path, body, {"Authorization": f"AWS {ACCESS_KEY}:unchecked"})
            answer = connection.getresponse()
            text = answer.read().decode()
        assert answer.status < 300, text
        return text


@contextlib.contextmanager
def s3_server() -> Generator[S3Server, None, None]:
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield S3Server(int(process.stdout.readline()))
        process.kill()


def s3_options(port: int) -> dict[str, Any]:
    return {
        "endpoint": f"http://127.0.0.1:{port}",
        "access_key_id": ACCESS_KEY,
        "secret_access_key": SECRET_KEY,
        "client_options": {"allow_http": True},
    }
