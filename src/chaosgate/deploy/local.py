"""Bring up a target on this machine: the embedded engine or a running server, its gateway, and the sweeper."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaosgate.artifacts.files import write_whole
from chaosgate.deploy.gateway_config import gateway_config
from chaosgate.deploy.processes import last_lines, python, spawn
from chaosgate.errors import DeployError, Problem
from chaosgate.model.carried_faults import EngineFaults, engine_faults
from chaosgate.model.fault import ClusterFault
from chaosgate.model.result import Process, SecretRef
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import engine_token, read_token_file, token_digest

READY_DEADLINE = 30.0
"""Seconds a process has until it serves."""


@dataclass(frozen=True)
class Served:
    """A process that serves: its addresses as it announced them."""

    process: Process
    addresses: Mapping[str, Any]


def unsupported(spec: ChaosSpec) -> Iterator[Problem]:
    """What a spec asks of its target that cannot be brought up on this machine."""
    target = spec.spec.target
    if target.engine == "vllm":
        yield Problem(
            ("spec", "target", "engine"),
            "read 'vllm', which this version does not start; serve the model yourself and write `engine: endpoint` "
            "with `endpoint: URL`",
        )
    if target.kubernetes is not None:
        yield Problem(
            ("spec", "target", "kubernetes"),
            "a Service or Deployment is reached by a run on its cluster: chaosgate run SPEC --on argo; or forward its "
            "port and write `endpoint: http://127.0.0.1:PORT` instead",
        )
    if target.engine == "embedded" and target.replicas != 1:
        yield Problem(
            ("spec", "target", "replicas"),
            f"read {target.replicas}; on one machine the embedded engine runs as 1 replica",
        )
    for index, fault in enumerate(spec.spec.faults):
        if isinstance(fault, ClusterFault):
            yield Problem(
                ("spec", "faults", index, "kind"),
                f"read {fault.kind!r}, which changes Kubernetes objects, and a run on one machine has none; run it on "
                "a cluster: chaosgate run SPEC --on argo",
            )


def start_engine(spec: ChaosSpec, run_dir: Path, lifetime: float) -> Served:
    """The embedded engine on a free port of the loopback interface, for at most `lifetime` seconds.

    It carries the spec's faults for whoever has its token, which comes from the gateway's: that must be there.
    """
    words = ("--host", "127.0.0.1", "--port", "0", "--model", spec.spec.target.model, *_faults(spec, run_dir))
    return start_server(run_dir, "engine", ("-m", "chaosgate.engine", *words), lifetime)


def _faults(spec: ChaosSpec, run_dir: Path) -> tuple[str, ...]:
    """How the engine is told which faults it may carry; not at all where the spec has none of its own."""
    faults = engine_faults(spec.spec.faults)
    if not faults:
        return ()
    token = engine_token(read_token_file(token_file(run_dir)))
    file = run_dir / "engine.json"
    write_whole(file, EngineFaults(faults=faults, token_digest=token_digest(token)).model_dump_json().encode())
    return ("--faults", str(file))


def start_gateway(
    spec: ChaosSpec, run: str, run_dir: Path, upstream: str, phases: Mapping[str, list[str]], lifetime: float
) -> Served:
    """The run's gateway in front of `upstream`; `phases` says which faults each phase may see."""
    config_file = run_dir / "gateway.json"
    write_whole(config_file, gateway_config(spec, run, upstream, phases).encode())
    words = ("--host", "127.0.0.1", "--port", "0", "--admin-port", "0")
    files = ("--config", str(config_file), "--token-file", str(token_file(run_dir)))
    return start_server(run_dir, "gateway", ("-m", "chaosgate.gateway", *words, *files), lifetime)


def new_token(run_dir: Path) -> SecretRef:
    """A fresh admin token in a file that only this user reads; a DeployError where one stands already."""
    file = token_file(run_dir)
    _write_secret(file, secrets.token_urlsafe(32))
    return SecretRef(file=str(file))


def _write_secret(file: Path, secret: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        # A file or a link that somebody else put there would hand them the token.
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise DeployError(f"{file}: cannot be made: {error.strerror}; a run starts in a folder of its own") from error
    with os.fdopen(handle, "w") as output:
        output.write(secret)


def token_file(run_dir: Path) -> Path:
    """Where the admin token of a run is kept."""
    return run_dir / "gateway.token"


def arm_sweeper(run: str, state: Path, run_dir: Path, seconds: float) -> Process:
    """A watchdog in a session of its own that cleans up when the runner is gone or `seconds` have passed."""
    words = ("--run", run, "--state", str(state), "--seconds", f"{seconds:.1f}")
    process, _ = spawn(run_dir, "sweeper", python("-m", "chaosgate.components.sweeper", *words))
    return process


def start_server(run_dir: Path, role: str, words: Sequence[str], lifetime: float) -> Served:
    """Start a server that writes a ready file once it serves and ends after `lifetime` seconds, whoever else is gone.

    A DeployError tells why it does not serve.
    """
    ready = run_dir / "ready" / f"{role}.json"
    ready.parent.mkdir(parents=True, exist_ok=True)
    last = ("--lifetime", f"{lifetime:.1f}", "--ready-file", str(ready))
    process, child = spawn(run_dir, role, python(*words, *last))
    return Served(process, _wait_ready(run_dir, role, ready, child))


def _wait_ready(run_dir: Path, role: str, ready: Path, child: subprocess.Popen[bytes]) -> Mapping[str, Any]:
    deadline = time.monotonic() + READY_DEADLINE
    while time.monotonic() < deadline:
        if ready.exists():
            addresses: dict[str, Any] = json.loads(ready.read_text())
            return addresses
        if child.poll() is not None:
            raise DeployError(f"the {role} ended with exit code {child.returncode}: {last_lines(run_dir, role)}")
        time.sleep(0.02)
    raise DeployError(f"the {role} did not serve within {READY_DEADLINE:.0f} s: {last_lines(run_dir, role)}")
