"""How often a scenario ends in the verdict it is made for: each is run many times, and the record is dated.

python benchmarks/stability.py --runs 20 --write docs/verdict-stability.md    about an hour
python benchmarks/stability.py --runs 3 --json                                one JSON object a line
python benchmarks/stability.py --selftest      expects a wrong verdict of one scenario and must notice
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHAOSGATE = ROOT / ".venv" / "bin" / "chaosgate"
EXPECTED = {
    "stream-degradation": ("pass", 0),
    "stream-cut-fails": ("fail", 1),
    "fault-out-of-reach": ("inconclusive", 3),
}
# What a scenario may take at most, in seconds.
LIMITS = {"stream-degradation": 120.0, "stream-cut-fails": 30.0, "fault-out-of-reach": 30.0}


@dataclass(frozen=True)
class Ending:
    """How one run ended. `seconds` counts from the command's start to its exit."""

    verdict: str
    exit_code: int
    clean: bool
    seconds: float
    reasons: tuple[str, ...]


def run_once(scenario: str, state: Path) -> Ending:
    """One run of a shipped scenario."""
    spec = ROOT / "chaos-specs" / "scenarios" / f"{scenario}.yaml"
    begun = time.perf_counter()
    command = [str(CHAOSGATE), "run", str(spec), "--state", str(state), "-o", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    taken = time.perf_counter() - begun
    answer = json.loads(done.stdout)
    verdict = answer["verdict"] or {"verdict": "none", "reasons": []}
    reasons = tuple(reason["text"] for reason in verdict["reasons"] if reason["verdict"] != "pass")
    clean = bool(answer["cleanup"] and answer["cleanup"]["clean"])
    return Ending(verdict["verdict"], done.returncode, clean, taken, reasons)


def run_all(runs: int, at_once: int) -> dict[str, list[Ending]]:
    """Every scenario `runs` times, taking turns, so that a slow stretch of the machine does not hit one alone."""
    turns = [scenario for _ in range(runs) for scenario in EXPECTED]
    endings: dict[str, list[Ending]] = {scenario: [] for scenario in EXPECTED}
    with tempfile.TemporaryDirectory() as state, ThreadPoolExecutor(at_once) as pool:
        for scenario, ending in zip(turns, pool.map(lambda turn: run_once(turn, Path(state)), turns), strict=True):
            endings[scenario].append(ending)
            word = "as expected" if as_expected(scenario, ending) else "; ".join(ending.reasons)
            line = f"{len(endings[scenario])}/{runs} {scenario}: {ending.verdict} {ending.seconds:.1f} s, {word}"
            print(line, file=sys.stderr, flush=True)
    return endings


def as_expected(scenario: str, ending: Ending, expected: Mapping[str, tuple[str, int]] = EXPECTED) -> bool:
    """Whether a run ended in its verdict and exit code, with nothing left behind."""
    return (ending.verdict, ending.exit_code) == expected[scenario] and ending.clean


def stability(
    endings: Mapping[str, Sequence[Ending]], expected: Mapping[str, tuple[str, int]] = EXPECTED
) -> dict[str, float]:
    """The share of runs that ended as expected, by scenario."""
    return {
        scenario: sum(as_expected(scenario, ending, expected) for ending in all_of) / len(all_of)
        for scenario, all_of in endings.items()
    }


def record(endings: Mapping[str, Sequence[Ending]], at_once: int) -> str:
    """The dated record, a Markdown page."""
    describe = ["git", "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    shares = stability(endings)
    lines = [
        "# How stable the verdicts are",
        "",
        f"Recorded {datetime.now(UTC):%Y-%m-%d} at commit {commit} by `python benchmarks/stability.py`, on",
        f"{os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()}). Every scenario of",
        f"`chaos-specs/scenarios` took its turn, again and again, {at_once} at a time; a run counts when verdict, exit",
        "code and seal are right.",
        "",
        "| scenario | expected | runs | as expected | verdicts | seconds: least, median, most | limit |",
        "|---|---|---|---|---|---|---|",
    ]
    for scenario, all_of in endings.items():
        verdict, code = EXPECTED[scenario]
        seconds = sorted(ending.seconds for ending in all_of)
        times = f"{seconds[0]:.1f}, {statistics.median(seconds):.1f}, {seconds[-1]:.1f}"
        counts = Counter(ending.verdict for ending in all_of)
        verdicts = ", ".join(f"{count} x {name}" for name, count in counts.items())
        held, limit = f"{shares[scenario]:.0%}", f"{LIMITS[scenario]:.0f}"
        lines.append(f"| {scenario} | {verdict} ({code}) | {len(all_of)} | {held} | {verdicts} | {times} | {limit} |")
    lines += ["", f"verdict_stability = {min(shares.values()):g}", ""]
    return "\n".join(lines)


def figures(endings: Mapping[str, Sequence[Ending]]) -> list[dict[str, object]]:
    """What `--json` prints."""
    shares = stability(endings)
    rows: list[dict[str, object]] = [
        {"name": "verdict_stability", "value": min(shares.values()), "unit": "share", "goal": 1, "peers": {}}
    ]
    for scenario, all_of in endings.items():
        most = max(ending.seconds for ending in all_of)
        rows.append({"name": f"{scenario}_s", "value": most, "unit": "s", "goal": LIMITS[scenario], "peers": {}})
    return rows


def selftest() -> None:
    """A wrong expectation must show as a stability below 1."""
    endings = {"stream-cut-fails": [run_once("stream-cut-fails", Path(tempfile.mkdtemp()))]}
    right, wrong = stability(endings), stability(endings, {"stream-cut-fails": ("pass", 0)})
    print(f"selftest: right expectation {right}, wrong expectation {wrong}")
    if right != {"stream-cut-fails": 1.0} or wrong != {"stream-cut-fails": 0.0}:
        sys.exit("selftest: a wrong verdict was not seen")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--at-once", type=int, default=1, help="drills side by side, each with ports of its own")
    parser.add_argument("--write", type=Path, help="where the record goes; without it, standard output")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--selftest", action="store_true")
    words = parser.parse_args()
    if words.selftest:
        selftest()
        return
    endings = run_all(words.runs, words.at_once)
    if words.json:
        for row in figures(endings):
            print(json.dumps(row))
    elif words.write:
        words.write.write_text(record(endings, words.at_once))
    else:
        print(record(endings, words.at_once))
    if min(stability(endings).values()) < 1:
        sys.exit(1)


if __name__ == "__main__":
    main()
