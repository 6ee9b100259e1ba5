"""What the load client is measured with: a mock server of streams, and clients that say what they saw, all on uvloop.

python benchmarks/load_rig.py serve READY [--first S] [--service S --slots N --stall BEGIN:LENGTH] [--core N]
python benchmarks/load_rig.py ours URL SECONDS [--concurrency N | --rate N] [--twice] [--core N]
python benchmarks/load_rig.py bare URL SECONDS [--concurrency N | --rate N] [--core N]

The server answers each POST with a stream of EVENTS events, and GET /told with what it knows of itself. A client prints
one JSON object. With `--twice` ours does twice the work for what it counts, which the self-test must see.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import aiohttp
import uvloop

EVENTS = 16
MODEL = "mock"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_JSON = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
_END = b"0\r\n\r\n"


def _chunk(data: str) -> bytes:
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


def _token(number: int) -> bytes:
    """An event as vLLM writes it, the last one with its finish reason; completions' `text` is there for who asks so."""
    finish = "stop" if number == EVENTS - 1 else None
    choice = {"index": 0, "delta": {"content": f"w{number} "}, "text": f"w{number} ", "finish_reason": finish}
    about = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}
    return _chunk(json.dumps(about))


_TOKENS = [_token(number) for number in range(EVENTS)]
_USAGE = {"prompt_tokens": 8, "completion_tokens": EVENTS, "total_tokens": 8 + EVENTS}
_CLOSING = (
    _chunk(
        json.dumps(
            {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": MODEL, "choices": [], "usage": _USAGE}
        )
    )
    + _chunk("[DONE]")
    + _END
)


@dataclass
class Script:
    """How the server answers: the first event after `first` seconds, all after `service`, `slots` at once.

    From `stall_at` seconds after the first request on nothing is answered for `stall` seconds.
    """

    first: float = 0.0
    service: float = 0.0
    slots: int = 0
    stall_at: float = 0.0
    stall: float = 0.0


@dataclass
class Told:
    """What the server knows: when the first POST came (monotonic), how many, and what it waited before first events."""

    first_post: float | None = None
    posts: int = 0
    waited: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """For `GET /told`."""
        spent = time.process_time()
        middle = statistics.median(self.waited) if self.waited else None
        return {"first_post": self.first_post, "posts": self.posts, "cpu": spent, "waited_p50": middle}


class Engine:
    """Serves requests in their order, `slots` at a time, and not while it stalls."""

    def __init__(self, script: Script, told: Told) -> None:
        self._script, self._told = script, told
        self._waiting: deque[Callable[[], None]] = deque()
        self._busy = 0

    def arrive(self, serve: Callable[[], None]) -> None:
        """`serve` is called once there is a slot."""
        self._told.posts += 1
        if self._told.first_post is None:
            self._told.first_post = time.monotonic()
        self._waiting.append(serve)
        self._begin()

    def leave(self) -> None:
        """A slot is free again."""
        self._busy -= 1
        self._begin()

    def done_at(self, begun: float) -> float:
        """When work that is begun at `begun`, on the monotonic clock, is done: it stands still during the stall."""
        script = self._script
        stall = (self._told.first_post or begun) + script.stall_at
        if stall <= begun < stall + script.stall:
            begun = stall + script.stall
        done = begun + script.service
        return done + script.stall if begun < stall <= done else done

    def _begin(self) -> None:
        while self._waiting and (not self._script.slots or self._busy < self._script.slots):
            self._busy += 1
            self._waiting.popleft()()


class Mock(asyncio.Protocol):
    """One connection to the server."""

    def __init__(self, engine: Engine, script: Script, told: Told) -> None:
        self._engine, self._script, self._told = engine, script, told
        self._got = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        self._got += data
        while (end := self._got.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._got[:end]).lower()
            whole = end + 4 + _length(head)
            if len(self._got) < whole:
                return
            del self._got[:whole]
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        if head.startswith(b"post"):
            came = time.perf_counter()
            self._engine.arrive(lambda: self._serve(came))
            return
        models = {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "mock"}]}
        text = json.dumps(self._told.to_json() if b" /told " in head else models)
        self._transport.write((_JSON % (len(text), text)).encode())

    def _serve(self, came: float) -> None:
        if self._script.service:
            self._at(self._engine.done_at(time.monotonic()), lambda: self._all(came))
        elif self._script.first:
            self._at(time.monotonic() + self._script.first, lambda: self._all(came))
        else:
            self._all(came)

    def _at(self, due: float, call: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(max(0.0, due - time.monotonic()), call)

    def _all(self, came: float) -> None:
        self._engine.leave()
        if self._transport.is_closing():
            return
        self._told.waited.append(time.perf_counter() - came)
        self._transport.write(_HEAD)
        for token in _TOKENS:
            self._transport.write(token)
        self._transport.write(_CLOSING)


def _length(head: bytes) -> int:
    _, _, rest = head.partition(b"content-length:")
    return int(rest.split(b"\r\n", 1)[0]) if rest else 0


async def serve(ready: Path, script: Script) -> None:
    """Serve for ever; `ready` gets the URL."""
    told = Told()
    engine = Engine(script, told)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Mock(engine, script, told), "127.0.0.1", 0, backlog=1024)
    part = ready.with_suffix(".part")
    part.write_text(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    part.rename(ready)
    await server.serve_forever()


class Bare:
    """The same requests by aiohttp alone: sent, read to the end, their events counted, and nothing kept of answers."""

    BODY = {"model": MODEL, "messages": [{"role": "user", "content": "Say ok."}], "stream": True, "max_tokens": 16}

    def __init__(self, url: str, seconds: float) -> None:
        self._url, self._seconds = f"{url}/v1/chat/completions", seconds
        self._ended = 0
        self._delays: list[float] = []
        self._firsts: list[float] = []

    async def closed(self, concurrency: int) -> dict[str, float | None]:
        """A closed loop."""
        begun = time.perf_counter()

        async def user(session: aiohttp.ClientSession) -> None:
            while time.perf_counter() < begun + self._seconds:
                await self._ask(session)

        return await self._timed(lambda session: asyncio.gather(*(user(session) for _ in range(concurrency))))

    async def open(self, rate: float) -> dict[str, float | None]:
        """An open loop: a task for each request, begun by the event loop's timer."""
        begun = time.perf_counter()

        async def one(session: aiohttp.ClientSession, due: float) -> None:
            self._delays.append(time.perf_counter() - due)
            self._firsts.append(await self._ask(session) - due)

        async def all_due(session: aiohttp.ClientSession) -> None:
            tasks = []
            for number in range(int(self._seconds * rate)):
                due = begun + number / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                tasks.append(asyncio.create_task(one(session, due)))
            await asyncio.gather(*tasks)

        return await self._timed(all_due)

    async def _timed(self, load: Callable[[aiohttp.ClientSession], Awaitable[object]]) -> dict[str, float | None]:
        begun, spent = time.perf_counter(), time.process_time()
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            await load(session)
        return {
            "streams": self._ended,
            "seconds": time.perf_counter() - begun,
            "cpu": time.process_time() - spent,
            "delay_p99": quantile(self._delays, 0.99),
            "ttft_p50": quantile(self._firsts, 0.5),
        }

    async def _ask(self, session: aiohttp.ClientSession) -> float:
        """When the first piece of the answer came."""
        events, first = 0, 0.0
        async with session.post(self._url, json=self.BODY) as response:
            async for chunk in response.content.iter_any():
                first = first or time.perf_counter()
                events += chunk.count(b"data:")
        self._ended += events == EVENTS + 2
        return first


async def ours(url: str, seconds: float, arrivals: dict[str, Any], twice: bool) -> dict[str, float | None]:
    """The load generator itself, with everything that it keeps of a request."""
    from chaosgate.loadgen.generator import LoadGenerator, LoadSettings
    from chaosgate.loadgen.trace import PhaseClock
    from chaosgate.model.observation import Observation
    from chaosgate.model.workload import Workload

    told = {"arrivals": arrivals, "prompts": {"set": "recall-24"}, "maxTokens": 16, "warmup": "0s", "timeout": "60s"}
    workload = Workload.model_validate(told)
    seen: list[Observation] = []
    settings = LoadSettings(url, MODEL, workload, "bench", seconds, 0.0, drain=60.0)
    clock = PhaseClock()
    loads = [LoadGenerator(settings, seen.append, clock)]
    if twice:
        loads.append(LoadGenerator(settings, lambda uncounted: None, clock))
    for load in loads:
        await load.prepare()
    clock.restart()
    begun, spent = time.perf_counter(), time.process_time()
    await asyncio.gather(*(load.run(asyncio.Event()) for load in loads))
    taken, spent = time.perf_counter() - begun, time.process_time() - spent
    return {"seconds": taken, "cpu": spent, **_seen(seen)}


def _seen(observations: list[Any]) -> dict[str, float | None]:
    whole = [one for one in observations if one.outcome == "ok"]
    firsts = [one.first - one.scheduled for one in whole if one.first is not None]
    return {
        "streams": float(len(whole)),
        "failed": float(len(observations) - len(whole)),
        "delay_p99": quantile([one.sent - one.scheduled for one in observations], 0.99),
        "ttft_p50": quantile(firsts, 0.5),
        "e2e_p95": quantile([one.end - one.scheduled for one in whole], 0.95),
    }


def quantile(values: list[float], share: float) -> float | None:
    """The smallest value that at least `share` of all are at or below; None of none."""
    return sorted(values)[max(0, -int(-share * len(values) // 1) - 1)] if values else None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["serve", "ours", "bare"])
    parser.add_argument("where")
    parser.add_argument("seconds", type=float, nargs="?", default=1.0)
    for name in ("first", "service", "rate"):
        parser.add_argument(f"--{name}", type=float, default=0.0)
    for name in ("slots", "concurrency"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--core", type=int)
    parser.add_argument("--stall", default="0:0")
    parser.add_argument("--twice", action="store_true")
    return parser.parse_args()


def main() -> None:
    """One of the three."""
    words = _arguments()
    if words.core is not None:
        os.sched_setaffinity(0, {words.core})
    if words.what == "serve":
        at, length = map(float, words.stall.split(":"))
        uvloop.run(serve(Path(words.where), Script(words.first, words.service, words.slots, at, length)))
        return
    if words.what == "bare":
        alone = Bare(words.where, words.seconds)
        seen: Any = uvloop.run(alone.closed(words.concurrency) if words.concurrency else alone.open(words.rate))
    else:
        open_loop = {"process": "constant", "rate": f"{words.rate:g}/s"}
        # Twice the work, and as much of it in flight.
        slots = words.concurrency // 2 if words.twice else words.concurrency
        arrivals = {"process": "closed", "concurrency": slots} if slots else open_loop
        seen = uvloop.run(ours(words.where, words.seconds, arrivals, words.twice))
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
