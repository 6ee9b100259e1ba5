"""What a spec may say of its load, what it is refused, and that a spec without the new keys is what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chaosgate.errors import SpecError
from chaosgate.model.load import parse_spec
from chaosgate.model.presets import presets
from chaosgate.model.workload import Workload
from chaosgate.prompts.sources import prompts_of

BASE = (Path(__file__).parent / "base_spec.yaml").read_text()
ARRIVALS, PROMPTS = "arrivals: {process: poisson, rate: 40/s}", "prompts: {set: recall-24}"
POISSON = {"process": "poisson", "rate": "20/s"}
SET = {"set": "recall-24"}


def workload(**given: Any) -> Workload:
    return Workload.model_validate({"arrivals": POISSON, "prompts": SET, **given})


def test_a_load_without_the_optional_keys_is_written_as_it_was_before_they_were_there() -> None:
    """Digests and generated pipelines rest on this text."""
    assert workload().to_json() == {
        "arrivals": {"process": "poisson", "rate": "20/s"},
        "prompts": {"set": "recall-24"},
        "maxTokens": 64,
        "warmup": "5s",
        "timeout": "30s",
        "seed": 0,
    }


def test_the_digest_of_the_base_spec_is_what_it_was() -> None:
    digest = "sha256:2d42c14e559b2645ffeff4cd2b5455961bb1736cea87f78a026eeff84152486c"
    assert parse_spec(BASE, "spec.yaml").digest() == digest


def test_how_many_processes_send_the_load_is_no_part_of_the_digest() -> None:
    more = BASE.replace(PROMPTS, f"{PROMPTS}\n    workers: 4")
    assert parse_spec(more, "spec.yaml").digest() == parse_spec(BASE, "spec.yaml").digest()
    cancelled = BASE.replace(PROMPTS, f"{PROMPTS}\n    cancel: {{share: 10 %, after: 500ms}}")
    assert parse_spec(cancelled, "spec.yaml").digest() != parse_spec(BASE, "spec.yaml").digest()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            ARRIVALS,
            "arrivals: {rate: 40/s}",
            "spec.workload.arrivals.process: is missing; write 'poisson', 'constant', 'gamma', 'closed', 'staircase', "
            "'ramp' or 'trace'",
        ),
        (ARRIVALS, "arrivals: {process: poisson, rat: 4/s}", "arrivals.rat: unknown key 'rat'; did you mean 'rate'?"),
        (ARRIVALS, "arrivals: {process: gamma, rate: 4/s}", "arrivals.burstiness: is missing; write a number"),
        (
            ARRIVALS,
            "arrivals: {process: gamma, rate: 4/s, burstiness: 0}",
            "arrivals.burstiness: read 0; at least 0.01 is needed",
        ),
        (
            ARRIVALS,
            "arrivals: {process: ramp, from: 0/s, to: 0/s, over: 1s}",
            "arrivals: `from` and `to` are all 0/s, and then no request is sent; write a rate above 0, such as 20/s",
        ),
        (
            ARRIVALS,
            "arrivals: {process: staircase, steps: [1/s, 2], hold: 1s}",
            "arrivals.steps[1]: read 2 without a unit; write a rate such as 20/s, 90/min or 400/h",
        ),
        (ARRIVALS, "arrivals: {process: closed, concurrency: 0}", "concurrency: read 0; at least 1 is needed"),
        (ARRIVALS, "arrivals: {process: closed, rate: 4/s}", "arrivals.rate: unknown key 'rate'; allowed: concurrency"),
        (PROMPTS, "prompts: {sett: x}", "prompts: read {sett: ...}; write {set: ...}, {file: ...} or {lengths: ...}"),
        (PROMPTS, "prompts: {set: x, files: y}", "spec.workload.prompts.files: unknown key 'files'; allowed: set"),
        (
            PROMPTS,
            "prompts: {lengths: {words: {distribution: lognormall, max: 3}}}",
            "distribution: read 'lognormall'; write 'fixed', 'uniform', 'normal' or 'lognormal'; did you mean "
            "'lognormal'?",
        ),
        (
            PROMPTS,
            "prompts: {lengths: trace}",
            "spec.workload: `lengths: trace` goes with arrivals of `process: trace`, whose file tells the lengths",
        ),
        (PROMPTS, "preset: stedy", "spec.workload: unknown preset 'stedy'; did you mean 'steady'?"),
        (PROMPTS, f"{PROMPTS}\n    workers: 65", "spec.workload.workers: read 65; at most 64 is allowed"),
        (
            PROMPTS,
            f"{PROMPTS}\n    cancel: {{share: 0 %, after: 1s}}",
            "spec.workload.cancel.share: read '0 %'; more than 0 % is needed",
        ),
        (
            PROMPTS,
            f"{PROMPTS}\n    spikes: {{rate: 5/s, width: 2s, every: 2s}}",
            "spec.workload.spikes: `width` is not less than `every`, and then spikes never end",
        ),
        (
            PROMPTS,
            f"{PROMPTS}\n    tenants: [{{name: a, {ARRIVALS}, {PROMPTS}}}]",
            "spec.workload: `arrivals` stands beside `tenants`, each of which has its own; remove one of the two",
        ),
    ],
)
def test_a_mistake_in_a_load_is_answered(old: str, new: str, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_spec(BASE.replace(old, new), "spec.yaml")
    assert said in str(refused.value)


TENANT = {"arrivals": POISSON, "prompts": SET}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "`arrivals` is missing; write arrivals: {process: poisson, rate: 20/s}, or `tenants` with their own"),
        ({"tenants": [{"name": "a", **TENANT}] * 2}, "two tenants have one name; read a, a: rename one"),
        (
            {"tenants": [{"name": "a", "prompts": SET, "arrivals": {"process": "closed", "concurrency": 2}}]},
            "`process: closed` has no rate of its own; a tenant needs another, such as poisson",
        ),
        (
            {
                "arrivals": {"process": "closed", "concurrency": 2},
                "prompts": SET,
                "spikes": {"rate": "5/s", "width": "1s", "every": "2s"},
            },
            "`spikes` are added to an open loop; a closed one (`process: closed`) has none",
        ),
        (
            {"arrivals": {"process": "trace", "file": "t.csv", "rows": "1 0.5"}, "prompts": SET},
            "`rows` are not in the order of their times; leave it out, it is written from `file`",
        ),
        (
            {"arrivals": {"process": "trace", "file": "t.csv", "rows": "0,1 0.5"}, "prompts": SET},
            "`rows` holds no rows of a trace; leave it out, it is written from `file`",
        ),
    ],
)
def test_loads_that_contradict_themselves_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Workload.model_validate(given)
    assert said in str(refused.value)


SPIKES = {"rate": "100/s", "width": "1s", "every": "10s"}


@pytest.mark.parametrize(
    ("given", "at", "rate", "mean"),
    [
        ({}, 5.0, 20.0, 20.0),
        ({"arrivals": {"process": "gamma", "rate": "20/s", "burstiness": 0.5}}, 5.0, 20.0, 20.0),
        ({"arrivals": {"process": "closed", "concurrency": 3}}, 5.0, None, None),
        ({"arrivals": {"process": "ramp", "from": "0/s", "to": "40/s", "over": "20s"}}, 5.0, 10.0, 5.0),
        ({"arrivals": {"process": "ramp", "from": "0/s", "to": "40/s", "over": "20s"}}, 40.0, 40.0, 30.0),
        ({"arrivals": {"process": "staircase", "steps": ["10/s", "30/s"], "hold": "10s"}}, 20.0, 30.0, 20.0),
        ({"spikes": SPIKES}, 5.0, 20.0, 20.0),
        ({"spikes": SPIKES}, 10.5, 120.0, 20.0 + 50 / 10.5),
        ({"spikes": SPIKES}, 29.0, 20.0, 20.0 + 200 / 29),
    ],
)
def test_rates_at_a_moment_and_on_average(
    given: dict[str, Any], at: float, rate: float | None, mean: float | None
) -> None:
    load = workload(**given)
    assert load.rate_at(at) == (rate if rate is None else pytest.approx(rate))
    assert load.mean_rate(at) == (mean if mean is None else pytest.approx(mean))


def test_the_rates_of_tenants_add_up() -> None:
    tenants = [
        {"name": "a", "arrivals": POISSON, "prompts": SET},
        {"name": "b", "arrivals": {"process": "constant", "rate": "5/s"}, "prompts": SET, "spikes": SPIKES},
    ]
    load = Workload.model_validate({"tenants": tenants})
    assert (load.rate_at(10.5), load.mean_rate(9.0)) == (125.0, 25.0)
    assert load.varies
    assert not workload(arrivals={"process": "constant", "rate": "5/s"}).varies


@pytest.mark.thorough
@given(st.floats(0.1, 300), st.sampled_from(["poisson", "constant"]))
def test_the_mean_rate_is_the_mean_of_the_rate(seconds: float, gaps: str) -> None:
    steps = {"process": "staircase", "steps": ["10/s", "0/s", "30/s"], "hold": "17s", "gaps": gaps}
    load = workload(arrivals=steps, spikes=SPIKES)
    moments = [(at + 0.5) * seconds / 4000 for at in range(4000)]
    mean = sum(load.rate_at(at) or 0.0 for at in moments) / 4000
    assert load.mean_rate(seconds) == pytest.approx(mean, rel=0.02, abs=0.05)


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_a_load_and_keys_beside_it_change_it(name: str) -> None:
    load = Workload.model_validate({"preset": name})
    assert load.mean_rate(60.0) is not None
    changed = Workload.model_validate({"preset": name, "max_tokens": 3, "arrivals": POISSON})
    assert changed.max_tokens == 3
    assert changed.arrivals == workload().arrivals
    assert changed.prompts == load.prompts
    assert Workload.model_validate(load.to_json()) == load
    spec = BASE.replace(f"    {ARRIVALS}\n    {PROMPTS}\n", f"    preset: {name}\n")
    assert parse_spec(spec, "spec.yaml").spec.workload.arrivals == load.arrivals
    assert presets()[name].field
    assert presets()[name].ours


def test_the_life_phases_have_the_figures_that_they_claim() -> None:
    warm_up = Workload.model_validate({"preset": "warm-up"}).arrivals
    assert warm_up is not None
    assert warm_up.process == "gamma"
    mean = 1 / warm_up.rate
    assert (mean, mean / warm_up.burstiness**0.5) == (pytest.approx(0.080), pytest.approx(0.020))
    (long_tail,) = Workload.model_validate({"preset": "long-tail"}).streams()
    made = prompts_of(long_tail, 7)
    words = sorted(len(made.at(index).text.split(" ")) for index in range(len(made)))
    assert 100 < words[-1] / words[0] <= 128
    (steady,) = Workload.model_validate({"preset": "steady"}).streams()
    tokens = {prompts_of(steady, 7).at(index).max_tokens or 0 for index in range(256)}
    assert (min(tokens), max(tokens)) == (54, 74)
