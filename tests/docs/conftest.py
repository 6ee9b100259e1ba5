"""The packages that the pages write, installed as a stranger would install them, and a webhook for one of them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from strangers import PACKAGES, Webhook

# A package's own tests need it installed; they are run where it is.
collect_ignore = ["packages"]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all packages installed in it, to be put on the path of a process; no network is needed."""
    target = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
    packages = sorted(str(folder) for folder in PACKAGES.iterdir())
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), *packages]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    """A webhook that keeps what it is sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hook.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(hook.status)
            self.end_headers()

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook = Webhook(f"http://127.0.0.1:{server.server_port}/hook")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield hook
        server.shutdown()
        thread.join()
