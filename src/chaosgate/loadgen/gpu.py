"""What the GPUs of this machine show, by NVML where its Python binding is installed, else by nvidia-smi."""

from __future__ import annotations

import csv
import importlib
import io
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

EVERY = 5.0
"""Seconds between two readings: nvidia-smi takes a tenth of one of a core."""
TIMEOUT = 5.0
MISSING = "no GPU can be read: nvidia-smi is not on the PATH, and nvidia-ml-py is not installed"
_MEBI = 1024.0 * 1024.0
_COLUMNS: Mapping[str, tuple[str, float]] = {
    "utilization.gpu": ("utilisation", 0.01),
    "memory.used": ("memory-used-bytes", _MEBI),
    "memory.total": ("memory-total-bytes", _MEBI),
    "power.draw": ("power-watts", 1.0),
    "temperature.gpu": ("celsius", 1.0),
}
"""What nvidia-smi is asked for, as which reading, and its unit: percent, MiB, W, degrees Celsius."""


class GpuReader:
    """Reads all GPUs, at most every five seconds; in between there is nothing new and the reading is empty."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = -1.0
        self._nvml: Any = _nvml()

    def read(self) -> Mapping[str, float]:
        """The readings as `gpu:<index>:<reading>`; one that a GPU does not have is absent. An OSError says why none."""
        now = self._clock()
        if now < self._next:
            return {}
        self._next = now + EVERY
        found = dict(_by_nvml(self._nvml)) if self._nvml is not None else parse_smi(_by_smi())
        if not found:
            raise OSError("no GPU can be read: the driver lists none")
        return found


def _nvml() -> Any:
    """The module pynvml, ready to be asked; None where it or the driver's library is not there."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return None
    return nvml


def _by_nvml(nvml: Any) -> Iterator[tuple[str, float]]:
    for index in range(_asked(nvml, nvml.nvmlDeviceGetCount) or 0):
        device = _asked(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
        memory = _asked(nvml, nvml.nvmlDeviceGetMemoryInfo, device)
        use = _asked(nvml, nvml.nvmlDeviceGetUtilizationRates, device)
        power = _asked(nvml, nvml.nvmlDeviceGetPowerUsage, device)
        heat = _asked(nvml, nvml.nvmlDeviceGetTemperature, device, nvml.NVML_TEMPERATURE_GPU)
        found = {
            "utilisation": None if use is None else use.gpu / 100,
            "memory-used-bytes": None if memory is None else memory.used,
            "memory-total-bytes": None if memory is None else memory.total,
            "power-watts": None if power is None else power / 1000,
            "celsius": heat,
        }
        yield from ((f"gpu:{index}:{name}", float(value)) for name, value in found.items() if value is not None)


def _asked(nvml: Any, question: Callable[..., Any], *arguments: Any) -> Any:
    """The answer, None where this GPU has none: one cut into instances tells no utilisation."""
    try:
        return question(*arguments)
    except nvml.NVMLError:
        return None


def _by_smi() -> str:
    found = shutil.which("nvidia-smi")
    if found is None:
        raise OSError(MISSING)
    asked = [found, f"--query-gpu=index,{','.join(_COLUMNS)}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"no GPU can be read: nvidia-smi did not answer within {TIMEOUT:g} s") from error
    if done.returncode:
        said = (done.stdout.strip() or done.stderr.strip()).splitlines()
        raise OSError(f"no GPU can be read: nvidia-smi says {said[0] if said else done.returncode!r}")
    return done.stdout


def parse_smi(text: str) -> dict[str, float]:
    """The readings in nvidia-smi's CSV without header and units; `[N/A]` and its like are absent."""
    found: dict[str, float] = {}
    for row in csv.reader(io.StringIO(text), skipinitialspace=True):
        for (name, unit), written in zip(_COLUMNS.values(), row[1:], strict=False):
            try:
                found[f"gpu:{row[0]}:{name}"] = float(written) * unit
            except ValueError:
                continue
    return found
