"""A stranger's fault, installed as a distribution of its own, is found by the registry and keeps the contract."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAULT = '''
from typing import ClassVar, Literal

from chaosgate.model.fault import FAULTS, Delay, Sweep, WireFault, Witness
from chaosgate.units import Duration


@FAULTS.register("stranger.pause")
class Pause(WireFault):
    """A pause before each request."""

    kind: Literal["stranger.pause"]
    dose: Sweep[Literal["pause"], Duration]
    max_dose: ClassVar[float] = 5.0

    def effects(self, dose, draw):
        """One delay."""
        return (Delay(dose),)

    def witness(self, dose):
        """The answer ends later."""
        return Witness("mean time", "duration", dose / 2, lambda seen: seen.end - seen.sent)
'''
CHECK = """
from chaosgate.conformance import check_fault
from chaosgate.model.fault import FAULTS

assert "wire.latency" in FAULTS
dose = {"parameter": "pause", "values": ["1s"], "hold": "2s", "washout": "1s"}
check_fault(FAULTS.get("stranger.pause"), {"name": "mine", "kind": "stranger.pause", "dose": dose})
print(", ".join(FAULTS.names()))
"""


def install(folder: Path, module: str) -> None:
    """Lay a distribution out as an installer would: the module, and metadata with one entry point."""
    (folder / "stranger_faults.py").write_text(module)
    metadata = folder / "stranger_faults-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger-faults\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[chaosgate.plugins]\nstranger = stranger_faults\n")


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_a_strangers_fault_is_in_the_registry(tmp_path: Path) -> None:
    install(tmp_path, FAULT)
    done = run(tmp_path, CHECK)
    assert done.returncode == 0, done.stderr
    assert "stranger.pause" in done.stdout.split(", ")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (
            "raise RuntimeError('no licence')",
            "plug-in 'stranger' (stranger_faults) failed to load: no licence; repair or",
        ),
        (FAULT.replace("stranger.pause", "wire.latency"), "fault kind 'wire.latency' is registered twice: by"),
    ],
)
def test_a_plugin_that_cannot_load_is_named(tmp_path: Path, module: str, sentence: str) -> None:
    install(tmp_path, module)
    done = run(tmp_path, CHECK)
    assert done.returncode != 0
    assert sentence in done.stderr
