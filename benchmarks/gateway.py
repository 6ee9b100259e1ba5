"""What a request loses at the gateway, beside the same HTTP library with nothing in between and beside toxiproxy.

python benchmarks/gateway.py                       about five minutes on a quiet machine
python benchmarks/gateway.py --seconds 2 --requests 5000    a short look
python benchmarks/gateway.py --toxiproxy PATH      a toxiproxy-server; without it the one on PATH, or none
python benchmarks/gateway.py --selftest            twice the requests must cost twice the CPU time

Every server is a process of its own: the mock server behind all of them, `direct` is without anything between, `bare`
passes on with aiohttp alone, `gateway` has no fault on, `slow` has one wire.latency on. They take turns within one run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import uvloop
from figures import BIN, ENVIRONMENT, ROOT, Figure, see_twofold, show
from wire_rig import Load, Seen

RATE = 200.0
OPENING = 40
DELAY = 0.05
STREAMS = 200
EVENTS_A_SECOND = 100.0
MOST_EVENTS_A_READ = 1.2
AT_ONCE = 32
TOKEN = "a-token-for-benchmarks"


@dataclass(frozen=True)
class Server:
    """A server under measurement: where it is, and its process."""

    url: str
    process: psutil.Process

    def cpu(self) -> float:
        """CPU seconds it has spent."""
        spent = self.process.cpu_times()
        return spent.user + spent.system

    def rss(self) -> float:
        """Megabytes it holds."""
        return float(self.process.memory_info().rss) / 1e6


@contextmanager
def started(command: Sequence[str | Path], ready: Path) -> Iterator[psutil.Process]:
    """A process that has written `ready`; it is ended afterwards."""
    process = subprocess.Popen([str(word) for word in command], cwd=ROOT, env=ENVIRONMENT)
    try:
        while not ready.exists():
            if process.poll() is not None:
                sys.exit(f"{command}: exit code {process.returncode} before it served")
            time.sleep(0.01)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def rig(folder: Path, what: str, *rest: str) -> Iterator[Server]:
    """The mock server or the bare pass-through."""
    ready = folder / f"{what}.ready"
    with started([BIN / "python", ROOT / "benchmarks" / "wire_rig.py", what, ready, *rest], ready) as process:
        yield Server(ready.read_text(), process)


@contextmanager
def gateway(folder: Path, name: str, upstream: str, delay: float | None = None) -> Iterator[Server]:
    """The gateway, with one latency fault on for every request where `delay` has its seconds."""
    sweep = {"parameter": "delay", "values": [f"{1000 * (delay or 1):g}ms"], "hold": "1s", "washout": "1s"}
    fault = {"name": "slow", "kind": "wire.latency", "dose": sweep}
    faults = [] if delay is None else [fault]
    names = [fault["name"] for fault in faults]
    about = {"upstream": upstream, "run": "benchmark", "spec": "none", "seed": 1, "phases": {}}
    (folder / f"{name}.json").write_text(json.dumps({**about, "faults": faults, "unnamed": names}))
    (folder / "token").write_text(TOKEN)
    ready = folder / f"{name}.ready"
    files = ("--config", folder / f"{name}.json", "--token-file", folder / "token", "--ready-file", ready)
    with started([BIN / "python", "-m", "chaosgate.gateway", *files], ready) as process:
        addresses = json.loads(ready.read_text())
        if delay is not None:
            _put(f"{addresses['admin']}/v1/faults/slow", {"dose": delay, "window": 0, "ttl": 3600.0}, "PUT")
        yield Server(addresses["url"], process)


@contextmanager
def toxiproxy(binary: str, upstream: str) -> Iterator[Server]:
    """toxiproxy with no toxic on."""
    api, data = _free_port(), _free_port()
    process = subprocess.Popen([binary, "-port", str(api)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(api)
        proxy = {"name": "peer", "listen": f"127.0.0.1:{data}", "upstream": upstream.removeprefix("http://")}
        _put(f"http://127.0.0.1:{api}/proxies", proxy, "POST")
        yield Server(f"http://127.0.0.1:{data}", psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait()


def _put(url: str, body: Mapping[str, object], method: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers, method=method)).close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    sys.exit(f"nothing listens on port {port} after 5 s")


async def latencies(servers: Mapping[str, Server], seconds: float) -> dict[str, list[float]]:
    """Milliseconds of each server's requests at RATE, the servers in turn for a second each, `seconds` times.

    Connections are opened before each turn, by OPENING requests that do not count: a delay of 50 ms needs ten at once,
    no delay one, and what opening them costs is no error of the delay.
    """
    loads = {name: Load(server.url) for name, server in servers.items()}
    for turn in range(round(seconds) + 1):
        for load in loads.values():
            counted = len(load.seen.seconds)
            await load.open_loop(RATE, OPENING)
            del load.seen.seconds[counted:]
            await load.open_loop(RATE, round(RATE))
            # The gateway closes idle connections as other servers do; each turn has its own.
            load.close()
            if turn == 0:
                load.seen.seconds.clear()
    return {name: [1000 * one for one in load.seen.seconds] for name, load in loads.items()}


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all are at or below."""
    return sorted(values)[min(len(values) - 1, round(share * len(values)))]


def latency_figures(taken: Mapping[str, Sequence[float]]) -> Iterator[Figure]:
    """What each server adds to the direct way, and how exact the delay of the fault is."""
    others = [name for name in taken if name not in ("direct", "gateway", "slow")]
    for label, share, goal in (("p50", 0.5, 0.8), ("p99", 0.99, 1.5)):
        direct = quantile(taken["direct"], share)
        peers = {"direct": direct, **{name: quantile(taken[name], share) - direct for name in others}}
        added = quantile(taken["gateway"], share) - direct
        yield Figure(f"added_latency_{label}_ms", added, "ms", goal, peers)
    idle = statistics.median(taken["gateway"])
    errors = [abs(one - 1000 * DELAY - idle) for one in taken["slow"]]
    peers = {"p50": quantile(errors, 0.5)}
    yield Figure("fault_delay_error_p99_ms", quantile(errors, 0.99), "ms", 2.0, peers)


async def stream_rate(server: Server, seconds: float, rate: float) -> tuple[float, float]:
    """Events a CPU second of the server, and events a read of its client, at STREAMS streams of `rate` a second."""
    load = Load(server.url)
    before = server.cpu()
    await load.streams(STREAMS, max(1, round(seconds * rate)), rate)
    spent, seen = server.cpu() - before, load.seen
    load.close()
    expected = STREAMS * max(1, round(seconds * rate))
    if seen.events < expected:
        sys.exit(f"{server.url}: {seen.events} of {expected} events arrived")
    return seen.events / spent, _a_read(seen)


def _a_read(seen: Seen) -> float:
    return seen.events / max(seen.reads, 1)


async def stream_figure(bare: Server, gate: Server, seconds: float) -> Figure:
    """The gateway's events a CPU second beside the bare pass-through's.

    Where the machine is too slow, events pile up and come several a read, which hides what each costs: then fewer are
    offered.
    """
    rate = EVENTS_A_SECOND
    while True:
        pairs = [(await stream_rate(bare, seconds, rate), await stream_rate(gate, seconds, rate)) for _ in range(3)]
        most = max(a_read for pair in pairs for _, a_read in pair)
        if most <= MOST_EVENTS_A_READ or rate < 10:
            break
        rate /= 2
    peers = {
        "bare events/cpu s": statistics.median(one[0] for one, _ in pairs),
        "offered a second": STREAMS * rate,
        "events a read": most,
    }
    ratio = statistics.median(two[0] / one[0] for one, two in pairs)
    return Figure("stream_over_passthrough", ratio, "", 0.7, peers, at_least=True)


async def memory_figure(gate: Server, requests: int) -> Figure:
    """How much the gateway grows by `requests` requests that all differ, as for 100 000, after a warm-up."""
    load = Load(gate.url)
    warm = max(2000, requests // 20)
    await load.in_turn(warm, AT_ONCE)
    before = gate.rss()
    await load.in_turn(requests, AT_ONCE, first=warm)
    load.close()
    growth = (gate.rss() - before) * 100_000 / requests
    return Figure("memory_growth_mb_100k", growth, "MB", 20.0, {"before": before, "requests": requests})


async def headroom_figure(mock: Server) -> Figure:
    """What the mock server itself bears: it must not be what is measured."""
    load = Load(mock.url)
    before, begun = mock.cpu(), time.perf_counter()
    await load.in_turn(20_000, AT_ONCE)
    taken, spent = time.perf_counter() - begun, mock.cpu() - before
    load.close()
    peers = {"by its own CPU": 20_000 / spent}
    return Figure("mock_requests_a_second", 20_000 / taken, "/s", 10 * RATE, peers, at_least=True)


async def measured(servers: Mapping[str, Server], seconds: float, requests: int) -> list[Figure]:
    """All figures."""
    return [
        await headroom_figure(servers["direct"]),
        *latency_figures(await latencies(servers, seconds)),
        await stream_figure(servers["bare"], servers["gateway"], min(seconds, 10.0)),
        await memory_figure(servers["gateway"], requests),
    ]


async def selftest(gate: Server) -> None:
    """Twice the requests must cost twice the CPU time."""
    load, spent = Load(gate.url), []
    await load.in_turn(1000, AT_ONCE)
    for count in (2000, 4000):
        before = gate.cpu()
        await load.in_turn(count, AT_ONCE)
        spent.append(gate.cpu() - before)
    load.close()
    see_twofold(*spent)


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--json", "--selftest"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each server at the open loop")
    parser.add_argument("--requests", type=int, default=100_000, help="for the growth of memory")
    parser.add_argument("--toxiproxy", default=shutil.which("toxiproxy-server"), help="its server program")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        direct = stack.enter_context(rig(folder, "mock"))
        servers = {"direct": direct, "gateway": stack.enter_context(gateway(folder, "idle", direct.url))}
        if words.selftest:
            uvloop.run(selftest(servers["gateway"]))
            return
        servers["bare"] = stack.enter_context(rig(folder, "pass", direct.url))
        servers["slow"] = stack.enter_context(gateway(folder, "slow", direct.url, DELAY))
        if words.toxiproxy:
            servers["toxiproxy"] = stack.enter_context(toxiproxy(words.toxiproxy, direct.url))
        show(uvloop.run(measured(servers, words.seconds, words.requests)), words.json)


if __name__ == "__main__":
    main()
