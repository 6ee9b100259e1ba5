"""Other load tools beside ours: installed into environments of their own, run on the same server, and read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from figures import ENVIRONMENT

PROMPTS = 100_000
"""Both tools end when they have used up their prompts."""
MODEL = "mock"
LIMIT = 180.0
"""Seconds that one run of a peer may take, its start included."""
TOKENIZER = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
words = Tokenizer(models.WordLevel({"?": 0, "Say": 1, "ok": 2, ".": 3}, unk_token="?"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
made = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?", eos_token="?", pad_token="?")
made.save_pretrained(sys.argv[1])
"""
"""AIPerf needs a tokenizer and would fetch one: this one is made on the spot."""


class Peer(Protocol):
    """Another load tool. What it says is None where it did not come to a result."""

    def __init__(self, binary: Path, core: Sequence[str]) -> None: ...

    def streams(self, url: str, concurrency: int, seconds: float) -> float | None:
        """Streams a second in a closed loop."""

    def ttft_p50(self, url: str, rate: float, seconds: float) -> float | None:
        """The median time to first token, in seconds, at a constant rate."""

    def e2e_p95(self, url: str, rate: float, seconds: float, cap: int) -> float | None:
        """The 95th percentile of the request latency that it shows by default, with so many in flight at most."""

    def short(self, url: str) -> list[str]:
        """A command of a very short run."""


def install(name: str, folder: Path) -> Path | None:
    """The program `name` in an environment of its own in `folder`; None, and the error told, where there is none."""
    binary = folder / name / "bin" / name
    if binary.exists():
        return binary
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / name / "bin" / "python"
    for command in ([sys.executable, "-m", "venv", folder / name], [python, "-m", "pip", "install", "--quiet", name]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name}: not installed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            return None
    return binary


def run_quietly(command: Sequence[str], core: Sequence[str]) -> None:
    """Run a tool, pinned where a core is named; it is ended, with all that it started, where it takes too long."""
    pinned = ["taskset", "-c", core[0], *command] if core else list(command)
    process = subprocess.Popen(
        pinned,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        print(f"{Path(command[0]).name}: did not end within {LIMIT:g} s", file=sys.stderr)
    finally:
        # Also what it left running, which would slow down whatever is measured next.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _folder(key: str) -> Iterator[Path]:
    """A folder with prompts, one a line under `key`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "prompts.jsonl").open("w") as file:
            file.writelines(f'{{"{key}": "Say ok. {number}"}}\n' for number in range(PROMPTS))
        yield folder


class GuideLLM:
    """GuideLLM, as of 0.8."""

    def __init__(self, binary: Path, core: Sequence[str]) -> None:
        self._binary, self._core = binary, core

    def streams(self, url: str, concurrency: int, seconds: float) -> float | None:
        """As Peer's."""
        told = self._measure(url, f"kind=concurrent,streams={concurrency}", seconds)
        return None if told is None else told["metrics"]["request_totals"]["successful"] / told["duration"]

    def ttft_p50(self, url: str, rate: float, seconds: float) -> float | None:
        """As Peer's."""
        told = self._measure(url, f"kind=constant,rate={rate:g}", seconds)
        return None if told is None else _percentile(told, "time_to_first_token_ms", "p50") / 1000

    def e2e_p95(self, url: str, rate: float, seconds: float, cap: int) -> float | None:
        """As Peer's."""
        told = self._measure(url, f"kind=constant,rate={rate:g},max_concurrency={cap}", seconds)
        return None if told is None else _percentile(told, "request_latency", "p95")

    def short(self, url: str) -> list[str]:
        """As Peer's."""
        folder = Path(tempfile.gettempdir())
        (folder / "one-prompt.jsonl").write_text('{"prompt": "Say ok."}\n')
        return self._command(url, "kind=constant,rate=20", 1, folder / "one-prompt.jsonl", folder / "one-prompt.json")

    def _measure(self, url: str, profile: str, seconds: float) -> dict[str, Any] | None:
        with _folder("prompt") as folder:
            out = folder / "out.json"
            run_quietly(self._command(url, profile, seconds, folder / "prompts.jsonl", out), self._core)
            told = json.loads(out.read_text())["benchmarks"] if out.exists() else []
            return dict(told[0]) if told else None

    def _command(self, url: str, profile: str, seconds: float, prompts: Path, out: Path) -> list[str]:
        return [
            str(self._binary),
            "run",
            *("--backend", f"kind=openai_http,target={url}"),
            *("--profile", profile),
            *("--constraint", f"kind=max_duration,seconds={seconds:g}"),
            *("--data", f"kind=json_file,path={prompts}"),
            *("--output", f"kind=json,path={out}"),
            "--disable-console",
        ]


def _percentile(told: dict[str, Any], metric: str, name: str) -> float:
    return float(told["metrics"][metric]["successful"]["percentiles"][name])


class AIPerf:
    """AIPerf, as of 0.13."""

    def __init__(self, binary: Path, core: Sequence[str]) -> None:
        self._binary, self._core = binary, core

    def streams(self, url: str, concurrency: int, seconds: float) -> float | None:
        """As Peer's."""
        return self._measure(url, seconds, ("request_throughput", "avg"), "--concurrency", str(concurrency))

    def ttft_p50(self, url: str, rate: float, seconds: float) -> float | None:
        """As Peer's."""
        found = self._measure(url, seconds, ("time_to_first_token", "p50"), *_rate(rate))
        return None if found is None else found / 1000

    def e2e_p95(self, url: str, rate: float, seconds: float, cap: int) -> float | None:
        """As Peer's."""
        found = self._measure(url, seconds, ("request_latency", "p95"), *_rate(rate), "--concurrency", str(cap))
        return None if found is None else found / 1000

    def short(self, url: str) -> list[str]:
        """As Peer's."""
        folder = Path(tempfile.mkdtemp(prefix="aiperf-"))
        (folder / "prompts.jsonl").write_text('{"text": "Say ok."}\n')
        return self._command(url, folder, "--request-count", "1", "--concurrency", "1")

    def _measure(self, url: str, seconds: float, key: tuple[str, str], *words: str) -> float | None:
        with _folder("text") as folder:
            run_quietly(self._command(url, folder, "--benchmark-duration", f"{seconds:g}", *words), self._core)
            found = folder / "out" / "profile_export_aiperf.json"
            return float(json.loads(found.read_text())[key[0]][key[1]]) if found.exists() else None

    def _command(self, url: str, folder: Path, *words: str) -> list[str]:
        python = self._binary.with_name("python")
        subprocess.run(
            [str(python), "-c", TOKENIZER, str(folder / "words")], env=ENVIRONMENT, capture_output=True, check=True
        )
        return [
            str(self._binary),
            *("profile", "-m", MODEL, "--url", url, "--endpoint-type", "chat", "--streaming", "--ui", "none"),
            *("--custom-dataset-type", "single_turn", "--input-file", str(folder / "prompts.jsonl")),
            *("--tokenizer", str(folder / "words"), "--output-artifact-dir", str(folder / "out")),
            *words,
        ]


def _rate(rate: float) -> tuple[str, ...]:
    return ("--request-rate", f"{rate:g}", "--request-rate-mode", "constant")


PEERS: dict[str, type[Peer]] = {"guidellm": GuideLLM, "aiperf": AIPerf}
"""By the name of the package and of its program."""
