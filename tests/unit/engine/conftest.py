from __future__ import annotations

import os

# As the server does for itself, and in time only where no other test has imported numpy before.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.network.weights import Weights, seeded


@dataclass
class Served:
    """A server process that answers at `url`."""

    url: str
    process: subprocess.Popen[str]

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code and what it wrote to stderr."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=20)
        return self.process.returncode, errors


def engine_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "chaosgate.engine", *arguments]


def start_engine(folder: Path, *arguments: str) -> Served:
    ready = folder / "ready.json"
    command = engine_command("--port", "0", "--ready-file", str(ready), *arguments)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"no ready file: {process.communicate()[1]}")
        time.sleep(0.01)
    told = json.loads(ready.read_text())
    assert told["pid"] == process.pid
    assert os.listdir(folder) == ["ready.json"], "the draft of the ready file is gone"
    return Served(told["url"], process)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = start_engine(tmp_path_factory.mktemp("engine"))
    yield server
    code, errors = server.stop()
    assert code == 0
    assert "Traceback" not in errors


@pytest.fixture(scope="session")
def config() -> ModelConfig:
    return ModelConfig()


@pytest.fixture(scope="session")
def weights(config: ModelConfig) -> Weights:
    return seeded(config, 7)


@pytest.fixture(scope="session")
def model(config: ModelConfig, weights: Weights) -> Transformer:
    return Transformer(config, weights)
