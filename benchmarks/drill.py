"""How long a person waits: for help, for one validation, for the drill, and from a fresh clone to its verdict.

    python benchmarks/drill.py                  help and validation, beside Chaos Toolkit where it can be installed
    python benchmarks/drill.py --drill          the drill as well (about two minutes)
    python benchmarks/drill.py --fresh-clone    clone, set-up and drill in an empty folder (about three minutes)
    python benchmarks/drill.py --json           one JSON object a line: name, value, unit, goal, peers
    python benchmarks/drill.py --selftest       runs what is measured twice over and must see it take twice as long

Wall-clock seconds of whole processes, the median of several runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
DRILL = "chaos-specs/scenarios/stream-degradation.yaml"
RUNS = 9
PEER = "chaostoolkit==1.19.0"
# The smallest experiment Chaos Toolkit validates: it does nothing.
PEER_EXPERIMENT = {"title": "nothing", "description": "nothing", "method": []}
# Byte code is compiled for both sides: without it every start pays for compiling.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


@dataclass
class Figure:
    """One measured figure. `goal` is the largest value that is good."""

    name: str
    value: float
    unit: str
    goal: float
    peers: dict[str, float] = field(default_factory=dict)

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.value < self.goal


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


def quick_figures(peer: Path | None) -> list[Figure]:
    """Help and the validation of one spec; the peer's own, measured in turn."""
    figures = [
        Figure("help_s", median([BIN / "chaosgate", "--help"]), "s", 0.2),
        Figure("validate_1_s", median([BIN / "chaosgate", "validate", DRILL]), "s", 0.3),
    ]
    if peer is not None:
        figures[0].peers["chaostoolkit"] = median([peer / "bin" / "chaos", "--help"], cwd=peer)
        experiment = peer / "experiment.json"
        experiment.write_text(json.dumps(PEER_EXPERIMENT))
        command = [peer / "bin" / "chaos", "--no-version-check", "validate", experiment]
        figures[1].peers["chaostoolkit"] = median(command, cwd=peer)
    return figures


def install_peer(folder: Path) -> Path | None:
    """Chaos Toolkit in an environment of its own, byte code compiled; None, and its error, when it does not install."""
    environment = folder / "peer"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    install = [
        BIN / "uv",
        "pip",
        "install",
        "--quiet",
        "--compile-bytecode",
        "--python",
        environment / "bin" / "python",
    ]
    done = subprocess.run([*map(str, install), PEER, "setuptools<81"], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{PEER} does not install: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return environment


def drill_figure() -> Figure:
    """The drill, once."""
    with tempfile.TemporaryDirectory() as state:
        return Figure("drill_s", seconds([BIN / "chaosgate", "run", DRILL, "--state", state]), "s", 120.0)


def fresh_clone_figure() -> Figure:
    """From `git clone` to the drill's verdict, with nothing set up."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        taken = seconds(["git", "clone", "--quiet", ROOT, clone])
        return Figure("fresh_clone_s", taken + seconds(["make", "drill"], cwd=clone), "s", 210.0)


def selftest() -> None:
    """What takes twice as long must be seen to take twice as long."""
    once = [BIN / "chaosgate", "validate", DRILL]
    twice = ["sh", "-c", f"{BIN}/chaosgate validate {DRILL} && {BIN}/chaosgate validate {DRILL}"]
    ratio = median(twice) / median(once)
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
        print(
            f"{figure.name:<16} {figure.value:>9.3f} {figure.unit}  goal < {figure.goal:g}  {met:<6}  {peers}".rstrip()
        )


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--drill", "--fresh-clone", "--json", "--selftest"):
        parser.add_argument(flag, action="store_true")
    words = parser.parse_args()
    if words.selftest:
        selftest()
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = quick_figures(install_peer(Path(folder)))
    figures += [drill_figure()] if words.drill else []
    figures += [fresh_clone_figure()] if words.fresh_clone else []
    show(figures, words.json)


if __name__ == "__main__":
    main()
