"""One process of a load that several send: told what to do by its parent's lines, it answers with lines of its own.

It reads its task, says that it is ready, waits for the clock's start, and sends its part. Its standard input ends with
its parent, however that ends: then it gives its requests up and ends, too.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys

import uvloop
from pydantic import TypeAdapter

from chaosgate.errors import ChaosgateError
from chaosgate.loadgen.calls import Part
from chaosgate.loadgen.generator import LoadGenerator, LoadSettings
from chaosgate.loadgen.shared_counter import SharedCounter
from chaosgate.loadgen.trace import Pending, PhaseClock
from chaosgate.model.observation import Observation

FLUSH_EVERY = 0.02
"""Seconds for which what is said is collected: a write for each request would wake the parent for each."""
PENDING_EVERY = 0.25
"""Seconds between two reports of what is in flight: half of how often a run's stop conditions look."""
LINE_LIMIT = 64 << 20
"""Bytes of the longest line, a task: a spec's prompts and traces stand in it."""
PENDING = TypeAdapter(list[Pending])


class Speaker:
    """Writes lines to the parent without making the requests wait for it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._lines: list[bytes] = []

    def say(self, kind: str, said: bytes = b"") -> None:
        """Say a line: its kind, one letter, and what it holds."""
        self._lines.append(kind.encode() + said + b"\n")

    def flush(self) -> None:
        """Hand everything that was said to the pipe."""
        if self._lines:
            self._writer.write(b"".join(self._lines))
            self._lines.clear()

    async def end(self) -> None:
        """Wait until the parent has all of it."""
        self.flush()
        await self._writer.drain()

    async def repeat(self, generator: LoadGenerator) -> None:
        """Flush all the time, and report what is in flight now and then."""
        loop = asyncio.get_running_loop()
        reported = 0.0
        while True:
            await asyncio.sleep(FLUSH_EVERY)
            if loop.time() >= reported + PENDING_EVERY:
                reported = loop.time()
                self.say("p", PENDING.dump_json(generator.pending()))
            self.flush()

    def observe(self, observation: Observation) -> None:
        """Say what became of a request."""
        self.say("o", observation.model_dump_json().encode())


async def work() -> None:
    """Carry out the one task that the parent gives."""
    reader, writer = await _pipes()
    speaker = Speaker(writer)
    task = json.loads(await reader.readline())
    settings = TypeAdapter(LoadSettings).validate_python(task["settings"])
    numbers = SharedCounter(task["counter"]).next
    clock = PhaseClock()
    generator = LoadGenerator(settings, speaker.observe, clock, Part(*task["part"]), numbers)
    await generator.prepare()
    speaker.say("r")
    await speaker.end()
    if begun := await reader.readline():
        clock.restart(json.loads(begun))
        await _send(generator, reader, speaker)


async def _send(generator: LoadGenerator, reader: asyncio.StreamReader, speaker: Speaker) -> None:
    until = asyncio.Event()
    load = asyncio.create_task(generator.run(until))
    told = asyncio.create_task(_listen(reader, until, load))
    repeat = asyncio.create_task(speaker.repeat(generator))
    try:
        await load
    except asyncio.CancelledError:
        # Its requests are given up and observed; the parent, where it is still there, wanted that.
        pass
    finally:
        told.cancel()
        repeat.cancel()
    speaker.say("d")
    await speaker.end()


async def _listen(reader: asyncio.StreamReader, until: asyncio.Event, load: asyncio.Task[None]) -> None:
    """A line ends the sending; the end of the input gives everything up."""
    while await reader.readline():
        until.set()
    load.cancel()


async def _pipes() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """What the parent says, and where it is answered."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def main() -> None:
    """Work, and end with one line of what went wrong."""
    # Ctrl-C reaches every process of the terminal; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        uvloop.run(work())
    except BrokenPipeError:
        # The parent has gone, and nobody is left to be told.
        sys.exit(0)
    except ChaosgateError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
