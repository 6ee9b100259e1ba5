"""What is shown of a load names its process, and where the target sets the rate nothing is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chaosgate.cli.main import chaosgate
from chaosgate.cli.outlook import outlooks, shown_at
from chaosgate.model.blocks import make_blocks
from chaosgate.model.load import load_spec

SCENARIOS = Path(__file__).parents[3] / "chaos-specs" / "scenarios"
ARRIVALS, PROMPTS = 'arrivals: {process: poisson, rate: "{{ parameters.rate }}"}', "prompts: {set: recall-24}"
PARAMETERS = "  parameters:\n    rate: {type: rate, default: 20/s, min: 1/s, max: 50/s}\n"
CLOSED = "arrivals: {process: closed, concurrency: 8}"


def written(folder: Path, arrivals: str, prompts: str = PROMPTS) -> Path:
    """The first scenario with another load."""
    text = (SCENARIOS / "stream-degradation.yaml").read_text()
    for old, new in ((ARRIVALS, arrivals), (PROMPTS, prompts), (PARAMETERS, "")):
        assert old in text
        text = text.replace(old, new)
    (folder / "spec.yaml").write_text(text)
    return folder / "spec.yaml"


def call(*words: object) -> Result:
    result = CliRunner().invoke(chaosgate, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return result


def said(*words: object) -> str:
    return " ".join(call(*words).stdout.split())


def test_a_closed_loop_says_that_its_rate_is_unknown(tmp_path: Path) -> None:
    spec = written(tmp_path, CLOSED)
    text = said("explain", spec)
    assert (
        "The load: 8 at a time, a closed loop: the next request goes out when one has ended, at a rate that the target "
        "sets, the prompts of recall-24 in their order, at most 8 tokens an answer" in text
    )
    assert "of load with as many requests as the target answers" in text
    assert "block1 doses 40s unknown requests" in text
    assert "depends; on how many requests the target answers: it sets the rate of a closed loop." in text
    told = json.loads(call("explain", spec, "-o", "json").stdout)
    assert told["requests"] is None
    assert {stretch["requests"] for stretch in told["stretches"]} == {None}
    assert {look["chance"] for look in told["outlooks"]} == {"depends"}
    assert "requests as the target allows" in call("plan", spec).stdout


def test_no_objective_of_a_closed_loop_is_promised_or_written_off(tmp_path: Path) -> None:
    spec = load_spec(written(tmp_path, CLOSED))
    found = list(outlooks(spec, make_blocks(spec)))
    assert {(one.requests, one.chance) for one in found} == {(None, "depends")}
    assert shown_at(spec, spec.spec.faults[0]).per_window is None


@pytest.mark.parametrize(
    ("arrivals", "words", "requests"),
    [
        ("arrivals: {process: gamma, rate: 20/s, burstiness: 0.5}", "20/s, gamma arrivals of burstiness 0.5", 1924),
        (
            "arrivals: {process: ramp, from: 0/s, to: 40/s, over: 40s}",
            "a ramp from 0/s to 40/s over 40s, poisson arrivals that wait for no answer",
            # 17 s of baseline: 144.5; 79.2 s of block: 800 while it rises, then 40/s.
            144.5 + 800 + 40 * 39.2,
        ),
        (
            "arrivals: {process: staircase, steps: [10/s, 30/s], hold: 10s, gaps: constant}",
            "steps of 10/s, 30/s, 10s each, constant arrivals that wait for no answer",
            100 + 7 * 30 + 100 + 69.2 * 30,
        ),
        (
            "arrivals: {process: poisson, rate: 20/s}\n    spikes: {rate: 50/s, width: 1s, every: 10s}",
            "20/s, poisson arrivals that wait for no answer, 50/s more for 1s every 10s, the prompts",
            1924 + 50 + 50 * 7,
        ),
    ],
)
def test_a_rate_that_changes_counts_by_its_integral(tmp_path: Path, arrivals: str, words: str, requests: float) -> None:
    spec = written(tmp_path, arrivals)
    assert words in said("explain", spec)
    assert json.loads(call("explain", spec, "-o", "json").stdout)["requests"] == pytest.approx(requests)


def test_a_trace_is_shown_with_its_file_and_counted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("at,input,output\n" + "".join(f"{at / 10},5,6\n" for at in range(100)))
    spec = written(
        tmp_path, "arrivals: {process: trace, file: t.csv, speed: 2, repeat: true}", "prompts: {lengths: trace}"
    )
    text = said("explain", spec)
    assert "the times of t.csv at 2 times its speed, over and over, which wait for no answer, prompts as long" in text
    told = json.loads(call("explain", spec, "-o", "json").stdout)
    assert told["requests"] == pytest.approx(20 * 96.2, rel=0.01)


def test_tenants_are_shown_each_with_its_load(tmp_path: Path) -> None:
    tenant = "{{name: {}, arrivals: {{process: poisson, rate: {}/s}}, prompts: {{set: {}}}}}"
    tenants = f"tenants: [{tenant.format('acme', 5, 'recall-8')}, {tenant.format('tenant-a', 15, 'two-tenant')}]"
    text = said("explain", written(tmp_path, tenants, ""))
    assert "acme with 5/s, poisson arrivals that wait for no answer, the prompts of recall-8 in their order;" in text
    assert "tenant-a with 15/s, poisson arrivals that wait for no answer, the prompts of two-tenant" in text
    assert "about 1,924 requests" in text


def test_a_fault_that_selects_a_tenant_may_hit_as_many_as_that_one_sends(tmp_path: Path) -> None:
    tenant = "{{name: {}, arrivals: {{process: poisson, rate: {}/s}}, prompts: {{set: recall-8}}}}"
    spec = written(tmp_path, f"tenants: [{tenant.format('acme', 5)}, {tenant.format('other', 15)}]", "")
    text = spec.read_text()
    assert "select: {share: 100 %, " in text
    spec.write_text(text.replace("select: {share: 100 %, ", "select: {tenant: acme, "))
    (hit,) = json.loads(call("explain", spec, "-o", "json").stdout)["hits"]
    assert {dose["selected"] / dose["requests"] for dose in hit["doses"]} == {0.25}


@pytest.mark.parametrize(
    ("file", "content", "said_of_it"),
    [
        ("p.csv", "prompt,anser\na,b\n", "p.csv:1: read the columns 'prompt', 'anser'"),
        ("p.jsonl", '{"prompt": 5}\n', "p.jsonl:1: prompt: read 5; write text"),
        ("p.txt", "hello\n", "p.txt: read the ending '.txt'; prompts are in a .jsonl or a .csv file"),
    ],
)
def test_what_is_wrong_in_a_file_of_prompts_is_said_before_a_run(
    tmp_path: Path, file: str, content: str, said_of_it: str
) -> None:
    (tmp_path / file).write_text(content)
    spec = written(tmp_path, "arrivals: {process: poisson, rate: 20/s}", f"prompts: {{file: {file}}}")
    result: Any = CliRunner().invoke(chaosgate, ["validate", str(spec)])
    assert result.exit_code == 2
    assert f"spec.workload.prompts.file: {said_of_it}" in result.output
