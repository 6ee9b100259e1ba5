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
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import BIN, ROOT, Figure, median, seconds, see_twofold, show

DRILL = "chaos-specs/scenarios/stream-degradation.yaml"
PEER = "chaostoolkit==1.19.0"
# The smallest experiment Chaos Toolkit validates: it does nothing.
PEER_EXPERIMENT = {"title": "nothing", "description": "nothing", "method": []}


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
    see_twofold(median(once), median(twice))


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
