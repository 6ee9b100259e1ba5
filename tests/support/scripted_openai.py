"""A server of OpenAI's API that says what it is told to, also what no server should."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    """What the server answers, and the bodies it was sent."""

    url: str = ""
    status: int = 200
    models: bytes = b'{"data": [{"id": "m"}, {"id": "m:a"}]}'
    stream: bytes = b""
    asked: list[dict[str, Any]] = field(default_factory=list)


def event(**chunk: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def says(*pieces: str) -> bytes:
    """Events that add up to an answer."""
    return b"".join(event(choices=[{"delta": {"content": piece}}]) for piece in pieces)


@contextmanager
def scripted(script: Script) -> Iterator[Script]:
    """`script` with the URL of a server that follows it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(script.models)

        def do_POST(self) -> None:
            script.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._send(script.stream)

        def _send(self, body: bytes) -> None:
            self.send_response(script.status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        script.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
