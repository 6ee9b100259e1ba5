"""How fast and how truthful the load client is, beside a bare client and, with --peers, beside other load tools.

python benchmarks/load.py                      about three minutes on a quiet machine
python benchmarks/load.py --seconds 2          a short look
python benchmarks/load.py --peers FOLDER       GuideLLM and AIPerf beside it, installed into environments in FOLDER
python benchmarks/load.py --selftest           a client that does twice the work must be seen to be half as fast

Server and client are processes of their own, each pinned to a core where there are two. The server answers at once, so
that the client is what is measured; `mock_over_bare` says how much more the server would bear.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from figures import BIN, ENVIRONMENT, ROOT, Figure, see_twofold, show
from load_peers import PEERS, Peer, install, run_quietly

CONCURRENCY = 32
ROUNDS = 5
SLOW_RATE = 50.0
FIRST = 0.02
"""Seconds before the first event, where the added time is measured."""
SERVICE, SLOTS, STALL, STALL_AT, STALL_RUN = 0.04, 10, 2.0, 5.0, 20.0
"""Seconds a request is served, how many at once; the stall, when it begins, and the length of the run."""

Seen = Mapping[str, Any]


def cores() -> tuple[list[str], list[str]]:
    """The words that pin server and client to a core each; none on one core."""
    free = sorted(os.sched_getaffinity(0))
    return (["--core", str(free[0])], ["--core", str(free[1])]) if len(free) > 1 else ([], [])


def rig(*words: str | Path) -> list[str]:
    """A command line of the rig."""
    return [str(BIN / "python"), str(ROOT / "benchmarks" / "load_rig.py"), *map(str, words)]


@contextmanager
def server(*words: str) -> Iterator[str]:
    """A mock server, fresh; its URL."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready"
        process = subprocess.Popen(rig("serve", ready, *words, *cores()[0]), env=ENVIRONMENT)
        try:
            while not ready.exists():
                if process.poll() is not None:
                    sys.exit(f"the mock server ended with exit code {process.returncode}")
                time.sleep(0.005)
            yield ready.read_text()
        finally:
            process.terminate()
            process.wait()


def told(url: str) -> Seen:
    """What the server knows of itself."""
    with urllib.request.urlopen(f"{url}/told") as answer:
        return dict(json.load(answer))


def client(what: str, url: str, seconds: float, *words: str) -> Seen:
    """What a client of the rig saw."""
    command = rig(what, url, str(seconds), *words, *cores()[1])
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def closed(what: str, url: str, seconds: float, *words: str) -> Seen:
    """A closed loop of CONCURRENCY."""
    return client(what, url, seconds, "--concurrency", str(CONCURRENCY), *words)


def rate(seen: Seen, per: str = "seconds") -> float:
    """Streams a second, or a CPU second."""
    return float(seen["streams"]) / float(seen[per])


def speed_figures(seconds: float) -> tuple[list[Figure], float]:
    """Ours beside the bare client, in turn; and our streams a second."""
    with server() as url:
        pairs = []
        for _ in range(ROUNDS):
            before = told(url)
            bare = closed("bare", url, seconds)
            after = told(url)
            bears = (after["posts"] - before["posts"]) / (after["cpu"] - before["cpu"])
            pairs.append((bare, closed("ours", url, seconds), bears))
    by_cpu = statistics.median(rate(ours, "cpu") / rate(bare, "cpu") for bare, ours, _ in pairs)
    ratio = statistics.median(rate(ours) / rate(bare) for bare, ours, _ in pairs)
    bare_rate = statistics.median(rate(bare) for bare, _, _ in pairs)
    our_rate = statistics.median(rate(ours) for _, ours, _ in pairs)
    bears = statistics.median(pair[2] for pair in pairs)
    peers = {"ours/s": our_rate, "bare/s": bare_rate, "by CPU time": by_cpu}
    headroom = Figure("mock_over_bare", bears / bare_rate, "", 1.0, {"mock/cpu s": bears}, at_least=True)
    return [headroom, Figure("streams_over_bare", ratio, "", 0.8, peers, at_least=True)], our_rate


def delay_figure(seconds: float, at: float) -> Figure:
    """How late requests are sent at a rate of `at`, open loop; beside it the bare client's, by the loop's timers."""
    with server() as url:
        bare, seen = (client(what, url, seconds, "--rate", f"{at:.0f}") for what in ("bare", "ours"))
    peers = {"rate": at, "failed": float(seen["failed"]), "bare": 1000 * bare["delay_p99"]}
    return Figure("schedule_delay_p99_ms", 1000 * seen["delay_p99"], "ms", 5.0, peers)


def added_figure(seconds: float, peers: Mapping[str, Peer]) -> Figure:
    """What the client adds to the first token: its own p50 less the server's."""

    def added(measure: Callable[[str], float | None]) -> float | None:
        with server("--first", str(FIRST)) as url:
            p50 = measure(url)
            return None if p50 is None else 1000 * (p50 - told(url)["waited_p50"])

    def of(what: str) -> Callable[[str], float]:
        return lambda url: float(client(what, url, seconds, "--rate", str(SLOW_RATE))["ttft_p50"])

    others = {"bare": added(of("bare"))}
    others |= {name: added(lambda url, one=peer: one.ttft_p50(url, SLOW_RATE, seconds)) for name, peer in peers.items()}
    value = added(of("ours"))
    assert value is not None
    return Figure("added_ttft_p50_ms", value, "ms", 0.8, _known(others))


def stall_figures(peers: Mapping[str, Peer]) -> list[Figure]:
    """The p95 of a server that stalls: what is true from the schedule, and what each tool says by default."""
    words = ("--service", str(SERVICE), "--slots", str(SLOTS), "--stall", f"{STALL_AT}:{STALL}")
    with server(*words) as url:
        ours = float(client("ours", url, STALL_RUN, "--rate", str(SLOW_RATE))["e2e_p95"])
    others: dict[str, float | None] = {}
    for name, peer in peers.items():
        with server(*words) as url:
            others[name] = peer.e2e_p95(url, SLOW_RATE, STALL_RUN, SLOTS)
    true = true_p95()
    error = 100 * abs(ours - true) / true
    return [
        Figure("stall_p95_s", ours, "s", 0.99 * true, {"true": true, **_known(others)}, at_least=True),
        Figure("stall_p95_error_pct", error, "%", 1.0),
    ]


def true_p95() -> float:
    """The p95 from due to done of a queue before SLOTS servers that serve SERVICE each and stop once for STALL."""
    free, taken = [0.0] * SLOTS, []
    for number in range(round(STALL_RUN * SLOW_RATE)):
        due = number / SLOW_RATE
        begun = max(due, heapq.heappop(free))
        if STALL_AT <= begun < STALL_AT + STALL:
            begun = STALL_AT + STALL
        done = begun + SERVICE
        done += STALL if begun < STALL_AT <= done else 0.0
        heapq.heappush(free, done)
        taken.append(done - due)
    return sorted(taken)[round(0.95 * len(taken)) - 1]


def first_figure(peers: Mapping[str, Peer]) -> Figure:
    """Seconds from the start of the process to the first request at the server, the median of several starts."""

    def ours(url: str) -> list[str]:
        return [str(BIN / "chaosgate"), "load", url, "--rate", "20/s", "--requests", "5", "--no-live"]

    def first(command: Callable[[str], list[str]]) -> float:
        with server() as url:
            begun = time.monotonic()
            run_quietly(command(url), cores()[1][1:])
            return float(told(url)["first_post"] or begun) - begun

    taken = [first(ours) for _ in range(2 * ROUNDS)][1:]
    others = {name: first(lambda url, one=peer: one.short(url)) for name, peer in peers.items()}
    return Figure("first_request_s", statistics.median(taken), "s", 1.0, others)


def peer_speed(peers: Mapping[str, Peer], seconds: float) -> dict[str, float | None]:
    """Streams a second of each peer in the same closed loop, pinned to the same core."""
    found: dict[str, float | None] = {}
    for name, peer in peers.items():
        with server() as url:
            found[name] = peer.streams(url, CONCURRENCY, max(seconds, 5.0))
    return found


def _known(found: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in found.items() if value is not None}


def measured(seconds: float, peers: Mapping[str, Peer]) -> list[Figure]:
    """All figures."""
    speed, our_rate = speed_figures(seconds)
    speed[-1].peers |= {f"{name}/s": value for name, value in _known(peer_speed(peers, seconds)).items()}
    return [
        *speed,
        delay_figure(seconds, our_rate / 2),
        added_figure(seconds, peers),
        *stall_figures(peers),
        first_figure(peers),
    ]


def selftest(seconds: float) -> None:
    """A client that does twice the work must be seen to take twice as long for a stream."""
    with server() as url:
        once, twice = (closed("ours", url, seconds, *words) for words in ((), ("--twice",)))
    see_twofold(1 / rate(once, "cpu"), 1 / rate(twice, "cpu"))


def main() -> None:
    """Read the options, measure, show."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long each turn of a client lasts")
    parser.add_argument(
        "--peers", type=Path, metavar="FOLDER", help="measure other tools, too; installed here if need be"
    )
    words = parser.parse_args()
    if words.selftest:
        selftest(words.seconds)
        return
    peers = {}
    for name, kind in PEERS.items() if words.peers else ():
        binary = install(name, words.peers.resolve())
        if binary is not None:
            peers[name] = kind(binary, cores()[1][1:])
    show(measured(words.seconds, peers), words.json)


if __name__ == "__main__":
    main()
