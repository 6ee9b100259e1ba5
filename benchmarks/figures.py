"""What benchmarks share: a figure with its goal and peers, timing whole processes, and showing the result."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
RUNS = 9
# Byte code is compiled for both sides: without it every start pays for compiling.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


@dataclass
class Figure:
    """One measured figure. `goal` is the largest value that is good, or with `at_least` the smallest."""

    name: str
    value: float
    unit: str
    goal: float
    peers: dict[str, float] = field(default_factory=dict)
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.value >= self.goal if self.at_least else self.value < self.goal


def seconds(command: Sequence[str | Path], cwd: Path = ROOT, expected: int = 0) -> float:
    """How long one run takes; it must end with the expected exit code."""
    begun = time.perf_counter()
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=ENVIRONMENT, capture_output=True, check=False)
    taken = time.perf_counter() - begun
    if done.returncode != expected:
        sys.exit(f"{command}: exit code {done.returncode}, {expected} expected\n{done.stderr.decode()}")
    return taken


def median(command: Sequence[str | Path], runs: int = RUNS, cwd: Path = ROOT) -> float:
    """The median of several runs after one that is not counted."""
    seconds(command, cwd)
    return statistics.median(seconds(command, cwd) for _ in range(runs))


def see_twofold(once: float, twice: float) -> None:
    """The self-test of a benchmark: what does twice the work must be seen to take about twice as long."""
    ratio = twice / once
    print(f"selftest: twice the work takes {ratio:.2f} times as long")
    if not 1.6 < ratio < 2.4:
        sys.exit("selftest: a twofold slowdown was not seen")


def show(figures: Sequence[Figure], as_json: bool) -> None:
    """A table for people, or one object a line."""
    for figure in figures:
        if as_json:
            print(json.dumps(asdict(figure)))
            continue
        peers = "  ".join(f"{name} {value:.3f}" for name, value in figure.peers.items())
        met = "met" if figure.met else "MISSED"
        goal = f"goal {'>=' if figure.at_least else '<'} {figure.goal:g}"
        print(f"{figure.name:<23} {figure.value:>9.3f} {figure.unit:<2} {goal:<12} {met:<6}  {peers}".rstrip())
