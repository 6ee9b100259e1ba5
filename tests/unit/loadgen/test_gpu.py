"""GPUs by NVML or nvidia-smi, in base units; without either the reason."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chaosgate.loadgen.gpu import MISSING, GpuReader, parse_smi

LISTED = "0, 37, 1024, 81559, 312.55, 61\n1, [N/A], [N/A], 81559, [Not Supported], 60\n"


def test_smi_is_read_in_base_units_and_what_a_gpu_has_not_is_absent() -> None:
    assert parse_smi(LISTED) == {
        "gpu:0:utilisation": pytest.approx(0.37),
        "gpu:0:memory-used-bytes": 1024.0 * 2**20,
        "gpu:0:memory-total-bytes": 81559.0 * 2**20,
        "gpu:0:power-watts": 312.55,
        "gpu:0:celsius": 61.0,
        "gpu:1:memory-total-bytes": 81559.0 * 2**20,
        "gpu:1:celsius": 60.0,
    }


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A nvidia-smi that a test writes, and no NVML."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "nvidia-smi"


def script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_smi_is_asked_once_in_five_seconds(smi: Path) -> None:
    script(smi, 'echo "$@" >> ' + str(smi) + ".asked\n" + f"printf '{LISTED}'".replace("\n", "\\n"))
    now = [0.0]
    reader = GpuReader(clock=lambda: now[0])
    assert reader.read()["gpu:0:celsius"] == 61.0
    now[0] = 4.9
    assert reader.read() == {}
    now[0] = 5.0
    assert reader.read()["gpu:1:celsius"] == 60.0
    asked = Path(f"{smi}.asked").read_text().splitlines()
    assert len(asked) == 2
    assert asked[0].startswith("--query-gpu=index,utilization.gpu,memory.used,")


def test_a_machine_without_smi_says_so(smi: Path) -> None:
    with pytest.raises(OSError, match=MISSING):
        GpuReader().read()


def test_an_smi_that_fails_is_quoted(smi: Path) -> None:
    script(smi, 'echo "NVIDIA-SMI has failed because it couldn\'t communicate with the driver."; exit 9')
    with pytest.raises(OSError, match='nvidia-smi says "NVIDIA-SMI has failed'):
        GpuReader().read()


def test_an_smi_that_lists_nothing_is_a_reason(smi: Path) -> None:
    script(smi, "exit 0")
    with pytest.raises(OSError, match="the driver lists none"):
        GpuReader().read()


class Refusal(Exception):
    """NVML's error."""


def refuse(*_: Any) -> Any:
    raise Refusal


def nvml(**more: Any) -> SimpleNamespace:
    """The module pynvml with one GPU."""
    functions = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetMemoryInfo": lambda device: SimpleNamespace(used=5, total=10),
        "nvmlDeviceGetUtilizationRates": lambda device: SimpleNamespace(gpu=50),
        "nvmlDeviceGetPowerUsage": lambda device: 250_000,
        "nvmlDeviceGetTemperature": lambda device, sensor: 70,
    }
    return SimpleNamespace(NVMLError=Refusal, NVML_TEMPERATURE_GPU=0, **(functions | more))


def test_nvml_is_read_in_base_units(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    assert GpuReader().read() == {
        "gpu:0:utilisation": 0.5,
        "gpu:0:memory-used-bytes": 5.0,
        "gpu:0:memory-total-bytes": 10.0,
        "gpu:0:power-watts": 250.0,
        "gpu:0:celsius": 70.0,
    }


def test_what_nvml_refuses_is_absent(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml(nvmlDeviceGetUtilizationRates=refuse))
    assert "gpu:0:utilisation" not in GpuReader().read()


def test_a_binding_without_a_driver_leaves_it_to_smi(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml(nvmlInit=refuse))
    with pytest.raises(OSError, match=MISSING):
        GpuReader().read()
