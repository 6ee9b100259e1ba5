"""The gateway's configuration: what it reads, and the words with which it refuses the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gateway_rig import cut, latency

from chaosgate.errors import UsageError
from chaosgate.gateway.config import GatewayConfig, load_config

GOOD: dict[str, Any] = {
    "upstream": "http://127.0.0.1:8000",
    "run": "run-1",
    "spec": "sha256:abc",
    "seed": 7,
    "phases": {"baseline": [], "block1": ["slow", "cut"]},
    "faults": [cut(), latency()],
}


def load(tmp_path: Path, **changes: Any) -> GatewayConfig:
    """GOOD with `changes`, through a file."""
    (tmp_path / "config.json").write_text(json.dumps({**GOOD, **changes}))
    return load_config(tmp_path / "config.json")


def test_faults_are_read_as_their_kinds_and_act_in_the_order_of_the_spec(tmp_path: Path) -> None:
    config = load(tmp_path)

    assert [(fault.name, fault.kind) for fault in config.faults_of("block1")] == [
        ("cut", "stream.cut"),
        ("slow", "wire.latency"),
    ]
    assert config.faults_of("baseline") == config.faults_of("anonymous") == ()


def test_what_is_written_reads_back_equal(tmp_path: Path) -> None:
    config = load(tmp_path)

    assert load(tmp_path, **config.to_json()) == config


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"upstream": "localhost:8000"},
            "upstream: Value error, read 'localhost:8000'; write a base URL, such as http://127.0.0.1:8000",
        ),
        ({"sed": 1}, "sed: Extra inputs are not permitted"),
        (
            {"faults": [{**latency(), "kind": "wire.latncy"}]},
            "faults: Value error, unknown fault kind 'wire.latncy'; did you mean 'wire.latency'?",
        ),
        ({"faults": [{}]}, "faults: Value error, a fault is an object with a `kind`, such as wire.latency"),
        ({"faults": [latency(), latency()]}, "(document): Value error, two faults are called 'slow'; rename one"),
        (
            {"phases": {"block1": ["slo"]}},
            "(document): Value error, phase 'block1': unknown fault 'slo'; did you mean 'slow'?",
        ),
        (
            {"noise": True, "faults": [cut(), latency(), latency("noise-latency")]},
            "(document): Value error, a fault is called 'noise-latency'; with `noise` such names are those of "
            "requests: rename it",
        ),
        (
            {"variants": {"canary": "localhost:8000"}},
            "variants.canary: Value error, read 'localhost:8000'; write a base URL, such as http://127.0.0.1:8000",
        ),
        (
            {"phases": {"anonymous": []}},
            "(document): Value error, a phase is called 'anonymous', which means requests without a name; rename it",
        ),
    ],
)
def test_a_bad_configuration_is_refused_with_file_key_and_reason(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        load(tmp_path, **changes)

    assert str(refused.value) == f"{tmp_path}/config.json: {words}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"/none: cannot be read: No such file or directory$"):
        load_config(tmp_path / "none")


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{")
    with pytest.raises(UsageError, match=r"/x: is no JSON: Expecting property name"):
        load_config(tmp_path / "x")
