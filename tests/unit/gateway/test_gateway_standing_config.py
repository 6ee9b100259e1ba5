"""What a gateway alone is told: flags, a file, or both."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.errors import ChaosgateError, SpecError, UsageError
from chaosgate.gateway.standing_config import DEFAULT_SEED, standing_config

UPSTREAM = "http://127.0.0.1:8000"
FILE = """\
upstream: http://127.0.0.1:8000
seed: 7
faults:
  - wire.latency=200ms,share=10%
  - {kind: wire.error, name: flaky, dose: 5 %, status: 503, select: {path: /v1/completions}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "gateway.yaml"
    path.write_text(FILE)
    return path


def test_every_fault_may_touch_every_request() -> None:
    config = standing_config(["wire.latency=1ms", "wire.error=1%"], upstream=UPSTREAM)
    assert (config.upstream, config.seed, config.run, config.spec) == (UPSTREAM, DEFAULT_SEED, "no-run", "no-spec")
    assert config.unnamed == ("wire-latency", "wire-error")
    assert [fault.kind for fault in config.faults_of("anonymous")] == ["wire.latency", "wire.error"]


def test_a_file_says_the_same_as_flags(file: Path) -> None:
    config = standing_config(file=file)
    assert (config.upstream, config.seed, config.unnamed) == (UPSTREAM, 7, ("wire-latency", "flaky"))
    flags = ["wire.latency=200ms,share=10%", "wire.error=5%,name=flaky,status=503,path=/v1/completions"]
    assert standing_config(flags, upstream=UPSTREAM, seed=7) == config


def test_a_file_says_what_no_flag_does(file: Path) -> None:
    file.write_text(
        f"{FILE}replicas: [http://h:1]\nvariants: {{canary: http://h:2}}\nhealthPath: /health\n"
        "tls: {caFile: ca.pem}\ntimeouts: {firstByte: 2m}\nfilters: [{kind: byte-limit, limit: 9}]\n"
    )
    config = standing_config(file=file)
    assert (config.replicas, config.variants, config.health_path) == (
        ("http://h:1",),
        {"canary": "http://h:2"},
        "/health",
    )
    assert (config.tls.ca_file, config.timeouts.first_byte) == (Path("ca.pem"), 120.0)
    assert [one.kind for one in config.filters] == ["byte-limit"]


def test_flags_come_after_the_file_and_win(file: Path) -> None:
    config = standing_config(["wire.latency=1ms"], upstream="http://h:1", seed=2, file=file)
    assert (config.upstream, config.seed) == ("http://h:1", 2)
    assert config.unnamed == ("wire-latency", "flaky", "wire-latency-2")


def test_without_an_upstream_it_says_which_option_is_missing() -> None:
    with pytest.raises(UsageError, match="--upstream: is missing; name the server behind the gateway"):
        standing_config([])


def test_an_upstream_that_is_no_url_is_refused() -> None:
    said = r"^--upstream: read 'localhost:8000'; write a base URL, such as http://127\.0\.0\.1:8000$"
    with pytest.raises(UsageError, match=said):
        standing_config([], upstream="localhost:8000")


def test_a_wrong_flag_is_not_placed_in_the_file(file: Path) -> None:
    with pytest.raises(UsageError, match=r"^--upstream: read 'localhost:8000'"):
        standing_config(upstream="localhost:8000", file=file)


def test_a_password_in_a_wrong_url_is_not_told(file: Path) -> None:
    file.write_text("upstream: ftp://me:hush@host")
    with pytest.raises(SpecError) as caught:
        standing_config(file=file)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("upstream", ["http://h:1/v1", "http://h:1/v1/"])
def test_an_upstream_whose_path_clients_send_too_is_refused_with_the_right_one(upstream: str) -> None:
    with pytest.raises(UsageError, match=r"read 'http://h:1/v1'; write the base URL, without /v1: http://h:1$"):
        standing_config([], upstream=upstream)


def test_a_fault_of_a_file_needs_no_name_either(file: Path) -> None:
    file.write_text("upstream: http://h:1\nfaults: [wire.error=1%, {kind: wire.error, dose: 5 %}]\n")
    assert standing_config(file=file).unnamed == ("wire-error", "wire-error-2")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("seed: 7", "sead: 7", ":2:1 sead: unknown key 'sead'; did you mean 'seed'?"),
        ("seed: 7", "run: mine", ":2:1 run: unknown key 'run'"),
        ("seed: 7", "seed: x", ":2:7 seed: "),
        ("share=10%", "share=10", ":4:5 faults[0]: --fault wire.latency=200ms,share=10: select.share: read 10 without"),
        ("dose: 5 %, ", "", ":5:5 faults[1]: lacks dose; write {kind: wire.latency, dose: 200ms}"),
        ("dose: 5 %", "dose: 5", ":5:5 faults[1]: dose: read 5 without a unit; write a share such as 5 %"),
        ("kind: wire.error", "kind: wire.eror", ":5:5 faults[1]: unknown fault kind 'wire.eror'; did you mean"),
        (
            "kind: wire.error",
            "kind: pod.delete",
            ":5:5 faults[1]: pod.delete acts on the cluster",
        ),
        ("name: flaky", "name: wire-latency", "two faults are called 'wire-latency'; rename one"),
        (
            FILE[FILE.index("faults:") :],
            "faults: wire.latency=1ms",
            "faults: read 'wire.latency=1ms'; write a list",
        ),
        (FILE, "", "is empty; write `upstream: http://127.0.0.1:8000`, and below it"),
        ("upstream: http", "upstream: ftp", ":1:11 upstream: read 'ftp://127.0.0.1:8000'; write a base URL"),
        ("seed: 7", "healthPath: health", ":2:13 healthPath: read 'health'; write a path, such as /health"),
        ("seed: 7", "timeouts: {conect: 1s}", ":2:12 timeouts.conect: unknown key 'conect'; did you mean 'connect'?"),
        ("seed: 7", "tls: {caFil: x}", ":2:7 tls.caFil: unknown key 'caFil'; did you mean 'caFile'?"),
        ("seed: 7", "tls: {caFile: 3}", ":2:15 tls.caFile: read 3; write the path of a file"),
        ("seed: 7", "noise: 3", ":2:8 noise: read 3; write true or false"),
        ("seed: 7", "filters: 3", ":2:10 filters: read 3; write a list"),
        (
            "seed: 7",
            "filters: [{kind: byte-limit}, {kind: byte-limt}]",
            ":2:38 filters[1].kind: unknown filter kind 'byte-limt'; did you mean 'byte-limit'?",
        ),
        (
            "seed: 7",
            "filters: [{kind: byte-limit}, {kind: byte-limit, limt: 3}]",
            ":2:50 filters[1].limt: unknown key 'limt'; did you mean 'limit'?",
        ),
        ("seed: 7", "variants: {A_B: http://h}", ":2:12 variants.A_B: read 'A_B'; a name is lower case letters"),
    ],
)
def test_what_is_wrong_in_a_file_is_placed(file: Path, right: str, wrong: str, said: str) -> None:
    assert FILE.count(right) == 1
    file.write_text(FILE.replace(right, wrong))
    with pytest.raises(ChaosgateError) as caught:
        standing_config(file=file)
    assert caught.value.exit_code == 2
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.yaml .*cannot be read: No such file"):
        standing_config(file=tmp_path / "none.yaml")
