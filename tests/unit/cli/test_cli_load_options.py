"""From the options of `chaosgate load` to its load: what they mean, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chaosgate.cli.load_options import WITHOUT_END, LoadOptions, load_plan
from chaosgate.cli.load_server import base_url
from chaosgate.cli.main import chaosgate
from chaosgate.errors import ChaosgateError, UsageError
from chaosgate.model.enclosed import OF_SPEC


def plan(**given: Any) -> Any:
    return load_plan(LoadOptions("http://127.0.0.1:8000", **given))


@pytest.mark.parametrize(
    ("given", "arrivals"),
    [
        ({}, {"process": "poisson", "rate": "10/s"}),
        ({"rate": "90/min", "process": "constant"}, {"process": "constant", "rate": "1.5/s"}),
        ({"rate": "5/s", "burstiness": 0.5}, {"process": "gamma", "rate": "5/s", "burstiness": 0.5}),
        ({"concurrency": 32}, {"process": "closed", "concurrency": 32}),
        (
            {"staircase": "5/s, 10/s", "hold": "2s"},
            {"process": "staircase", "steps": ["5/s", "10/s"], "hold": "2s", "gaps": "poisson"},
        ),
    ],
)
def test_options_are_arrivals(given: dict[str, Any], arrivals: dict[str, Any]) -> None:
    assert plan(**given).workload.arrivals.to_json() == arrivals


def test_a_trace_may_be_longer_than_a_spec_takes_in(tmp_path: Path) -> None:
    trace = tmp_path / "long.csv"
    count = OF_SPEC.requests + 1
    trace.write_text("at\n" + "".join(f"{number / 1000}\n" for number in range(count)), encoding="utf-8")
    assert len(plan(trace=trace).workload.arrivals.times) == count


def test_what_a_load_is_without_options() -> None:
    found = plan()
    assert (found.seconds, found.warmup, found.requests, found.sweep) == (30.0, 0.0, None, None)
    assert (found.workload.max_tokens, found.workload.timeout, found.workload.seed) == (64, 60.0, 1)
    assert plan(requests=7).seconds == WITHOUT_END
    assert plan(staircase="5/s,10/s,20/s", hold="2s").seconds == 6.0


@pytest.mark.parametrize(
    ("given", "rates"),
    [
        ("5/s..80/s", [5, 10, 20, 40, 80]),
        ("5/s..79/s", [5, 10, 20, 40]),
        ("10/s..10/s", [10]),
        ("5/s..20/s+5/s", [5, 10, 15, 20]),
        ("60/min..2/s+30/min", [1, 1.5, 2]),
    ],
)
def test_a_sweep_has_its_rates(given: str, rates: list[float]) -> None:
    assert list(plan(sweep=given, hold="30s").sweep.rates()) == pytest.approx(rates)


def test_a_preset_gives_way_to_what_is_said() -> None:
    assert plan(preset="steady").workload.arrivals.to_json()["rate"] == "12.5/s"
    assert plan(preset="warm-up", max_tokens=9).workload.max_tokens == 9


def test_bounds_on_requests_and_on_the_load_are_told_apart() -> None:
    found = plan(slos=("ttft<=300ms", "ttft-p95 <= 300ms", "e2e<2s", "error-rate<=1%"))
    assert [one.sli for one in found.bounds] == ["ttft", "e2e"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rate": "20"}, "--rate: "),
        ({"rate": "0/s"}, "--rate: "),
        ({"rate": "5/s", "concurrency": 3}, "--rate and --concurrency: write one of the two"),
        ({"sweep": "5/s..80/s", "trace": Path("t.csv")}, "--sweep and --trace: write one of the two"),
        ({"length": "5s", "requests": 3}, "--for and --requests: write one of the two"),
        ({"length": "5"}, "--for 5: read '5'"),
        ({"length": "0s"}, "--for 0s: is no time in which anything is sent; write one such as 30s"),
        (
            {"concurrency": 3, "workers": 8},
            "--workers: read 8, more than the concurrency of 3: some would have nothing to send",
        ),
        ({"length": "5s", "warmup": "5s"}, "--warmup 5s: leaves nothing of 5 s to count"),
        ({"sweep": "5/s"}, "--sweep 5/s: write the first and the last rate, such as 5/s..80/s"),
        ({"sweep": "80/s..5/s"}, "--sweep 80/s..5/s: the first rate must be above 0 and not above the last one"),
        ({"sweep": "5/s..80/s", "hold": "1s"}, "a step needs 20 or more: start higher, or hold longer"),
        ({"sweep": "5/s..80/s", "length": "3s"}, "--sweep: --for and --requests do not go with it"),
        ({"concurrency": 0}, "--concurrency: "),
        ({"concurrency": 4, "process": "poisson"}, "--process: goes with --rate or --staircase"),
        ({"burstiness": 0.5, "process": "constant"}, "--burstiness: goes with --process gamma, not with constant"),
        ({"speed": 2.0}, "--speed 2: is that of a --trace"),
        ({"rate": ""}, "--rate: read ''"),
        ({"cancel": "10%"}, "--cancel 10%: write a share and a time, such as 10%@500ms"),
        ({"cancel": "10@5ms"}, "--cancel: "),
        ({"prompts": "recal-24"}, "--prompts recal-24: unknown prompt set 'recal-24'; did you mean 'recall-24'?"),
        ({"prompts": "missing.jsonl"}, "--prompts: "),
        ({"trace": Path("missing.csv")}, "--trace: "),
        ({"preset": "stedy"}, "did you mean 'steady'?"),
        ({"max_tokens": 0}, "--max-tokens: "),
        ({"seed": -1}, "--seed: "),
        ({"workers": 0}, "--workers: "),
        ({"timeout": "0s"}, "--timeout: "),
        ({"slos": ("ttft",)}, "--slo ttft: write an SLI and a bound, such as 'ttft-p95<=300ms'"),
        ({"slos": ("ttft<=300",)}, "--slo ttft<=300: read '<= 300'; ttft is a duration"),
        ({"slos": ("tfft<=300ms",)}, "unknown SLI"),
        ({"slos": ("exact-match>=99%",)}, "compares answers with those of a baseline, which only a run has"),
        ({"good": "95"}, "--good 95: "),
        ({"stops": ("error-rate",)}, "--stop error-rate: write an SLI and a bound, such as 'error-rate > 50 %'"),
        ({"export": "vllm"}, "--export vllm: needs -O FILE"),
        ({"file": Path("/no/such/folder/out.json")}, "-O /no/such/folder/out.json: there is no folder /no/such/folder"),
        ({"save": Path("/dev/null")}, "--save /dev/null: is no folder; choose another"),
    ],
)
def test_a_mistake_names_its_option(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ChaosgateError) as refused:
        plan(**given)
    assert says in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "url",
    [
        "user:hunter2@127.0.0.1:9",
        "http://user:hunter2@[::1",
        "http://user:hunter2@127.0.0.1:abc",
        "ftp://user:hunter2@h",
        "http://127.0.0.1:9/?key=hunter2",
        "http://user:hunter2@127.0.0.1:9/v1?api_key=hunter2",
        "http://h/#hunter2",
    ],
)
def test_a_refused_address_shows_no_secret(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        base_url(url)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("HTTP://[::1]:9/v1/", "http://[::1]:9"),
        ("http://h/p/v1/chat/completions", "http://h/p"),
        ("https://u:p@h", "https://u:p@h"),
    ],
)
def test_an_address_may_end_in_what_the_api_adds(url: str, base: str) -> None:
    assert base_url(url) == base


def test_a_trace_longer_than_a_spec_takes_in_can_be_sent(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("at\n" + "1\n" * 6_000)
    assert plan(trace=str(tmp_path / "t.csv")).requests in (6_000, None)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://h", "http://", "localhost"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is no URL"):
        base_url(url)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Missing argument 'URL'"),
        (("http://h", "--rat", "5/s"), "No such option"),
        (("http://h", "--process", "uniform"), "'uniform' is not one of"),
        (("http://h", "--api-key-env", "NO_SUCH_KEY"), "--api-key-env NO_SUCH_KEY: the variable is not set"),
        (("h:8000",), "h:8000: is no URL; write http://h:8000 or https://h:8000"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(words: tuple[str, ...], says: str) -> None:
    done = CliRunner().invoke(chaosgate, ["load", *words])
    assert done.exit_code == 2
    assert says in done.output
    assert len(done.output.splitlines()) == 1
