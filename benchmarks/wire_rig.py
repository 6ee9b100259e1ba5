"""What the gateway is measured with: a mock server, a bare pass-through, and a client, all on uvloop.

python benchmarks/wire_rig.py mock READY          a server on raw protocols; READY gets its URL
python benchmarks/wire_rig.py pass READY URL      aiohttp on both sides and nothing between
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import aiohttp
import uvloop
from aiohttp import web

ANSWER = b'{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok"}}]}'
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"token"}}]}\n\n'
_WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)
_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
_HOP = frozenset(("host", "transfer-encoding", "connection", "keep-alive"))


class Mock(asyncio.Protocol):
    """Answers `/v1/chat/completions` at once, and `/stream/<events>/<per second>` with so many events."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._got = bytearray()

    def data_received(self, data: bytes) -> None:
        self._got += data
        while (end := self._got.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._got[:end])
            whole = end + 4 + _length(head)
            if len(self._got) < whole:
                return
            del self._got[:whole]
            self._answer(head.split(b" ", 2)[1].decode().split("/"))

    def _answer(self, path: Sequence[str]) -> None:
        if path[1] != "stream":
            self._transport.write(_WHOLE)
            return
        self._transport.write(_STREAM)
        loop, pause = asyncio.get_running_loop(), 1 / float(path[3])
        self._emit(loop, loop.time(), pause, int(path[2]))

    def _emit(self, loop: asyncio.AbstractEventLoop, due: float, pause: float, left: int) -> None:
        if self._transport.is_closing():
            return
        if left == 0:
            self._transport.write(b"0\r\n\r\n")
            return
        self._transport.write(_CHUNK)
        loop.call_at(due + pause, self._emit, loop, due + pause, pause, left - 1)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def serve_mock(ready: Path) -> None:
    """Serve for ever."""
    server = await asyncio.get_running_loop().create_server(Mock, "127.0.0.1", 0, backlog=1024)
    _write(ready, server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def serve_pass(ready: Path, url: str) -> None:
    """Serve for ever."""
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    )

    async def handle(request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        body = request.content.iter_any() if request.body_exists else None
        async with session.request(request.method, url + request.raw_path, headers=headers, data=body) as answer:
            passed = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(application, access_log=None, auto_decompress=False)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    _write(ready, runner.addresses[0][1])
    await asyncio.Event().wait()


def _write(ready: Path, port: int) -> None:
    part = ready.with_suffix(".part")
    part.write_text(f"http://127.0.0.1:{port}")
    part.rename(ready)


@dataclass
class Seen:
    """What a client saw: seconds from when each request was due to its end, and of streams their events and reads."""

    seconds: list[float] = field(default_factory=list)
    events: int = 0
    reads: int = 0


class Client(asyncio.Protocol):
    """One keep-alive connection; `done` is called with it at the end of each response."""

    def __init__(self, seen: Seen, done: Callable[[Client], None]) -> None:
        self._seen = seen
        self._done = done
        self._got = bytearray()
        self._due = 0.0
        self._streams = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def send(self, request: bytes, due: float) -> None:
        """Send one request, which was due at `due` on the performance counter."""
        self._due = due
        self._streams = b"/stream/" in request[:40]
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        if self._streams:
            events = data.count(b"data:")
            self._seen.events += events
            self._seen.reads += events > 0
        self._got += data
        if self._streams:
            ended = self._got.endswith(b"0\r\n\r\n")
            del self._got[:-5]
        else:
            end = self._got.find(b"\r\n\r\n")
            ended = end >= 0 and len(self._got) >= end + 4 + _length(bytes(self._got[:end]))
        if ended:
            self._seen.seconds.append(time.perf_counter() - self._due)
            self._got.clear()
            self._done(self)

    def connection_lost(self, error: Exception | None) -> None:
        if self._got or error is not None:
            raise RuntimeError("a connection broke while a response was under way") from error


def post(path: str, body: bytes = b"{}") -> bytes:
    """A request, byte for byte."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


CHAT = post("/v1/chat/completions", b'{"model":"m","messages":[{"role":"user","content":"Say ok."}]}')


class Load:
    """Connections to one server, opened as they are needed and kept."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port or 80)
        self._free: list[Client] = []
        self._left = 0
        self._all_done = asyncio.Event()
        self.seen = Seen()

    async def open_loop(self, rate: float, count: int) -> None:
        """`count` requests at `rate` a second, each sent when it is due, whatever became of those before it."""
        self._expect(count)
        loop, due_now = asyncio.get_running_loop(), asyncio.Queue[float]()
        begun = time.perf_counter()

        def keep_time() -> None:
            # The loop's own timers are up to 1 ms early or late, which would be held against the server.
            for number in range(count):
                due = begun + number / rate
                time.sleep(max(0.0, due - time.perf_counter()))
                loop.call_soon_threadsafe(due_now.put_nowait, due)

        keeping = loop.run_in_executor(None, keep_time)
        for _ in range(count):
            due = await due_now.get()
            (await self._connection()).send(CHAT, due)
        await keeping
        await self._all_done.wait()

    async def streams(self, count: int, events: int, rate: float) -> None:
        """`count` streams at once of so many events at `rate` a second each."""
        self._expect(count)
        request = post(f"/stream/{events}/{rate}")
        clients = [await self._connection(new=True) for _ in range(count)]
        for client in clients:
            client.send(request, time.perf_counter())
            # Streams that begin together would send their events together.
            await asyncio.sleep(1 / rate / count)
        await self._all_done.wait()

    async def in_turn(self, count: int, at_once: int, first: int = 0) -> None:
        """`count` requests whose bodies all differ, `at_once` under way at a time."""
        for start in range(0, count, at_once):
            few = min(at_once, count - start)
            self._expect(few)
            for number in range(few):
                body = b'{"model":"m","prompt":"number %d"}' % (first + start + number)
                (await self._connection()).send(post("/v1/completions", body), time.perf_counter())
            await self._all_done.wait()

    def close(self) -> None:
        """Close the connections that no request is on."""
        for client in self._free:
            client.transport.close()
        self._free.clear()

    def _expect(self, count: int) -> None:
        self._left = count
        self._all_done.clear()

    async def _connection(self, new: bool = False) -> Client:
        if self._free and not new:
            return self._free.pop()
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(lambda: Client(self.seen, self._ended), *self._address))[1]

    def _ended(self, client: Client) -> None:
        self._free.append(client)
        self._left -= 1
        if self._left == 0:
            self._all_done.set()


if __name__ == "__main__":
    what, ready_file, *rest = sys.argv[1:]
    uvloop.run(serve_mock(Path(ready_file)) if what == "mock" else serve_pass(Path(ready_file), *rest))
