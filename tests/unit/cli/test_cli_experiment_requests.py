"""How many requests of the workload a fault may touch: as many as it selects, none, or nobody knows."""

from __future__ import annotations

from typing import Any

import pytest
from simulated_run import LATENCY, stream_spec

from chaosgate.cli.experiment import Experiment, experiment_of
from chaosgate.cli.experiment_text import experiment_text
from chaosgate.model.carrier import Carrier
from chaosgate.model.workload import SetPrompts

ENGINE_MODEL = "embedded/tiny"
TENANTS = ("tenant-a", "tenant-b")


def experiment(prompts: str = "recall-24", **fields: Any) -> Experiment:
    spec = stream_spec(faults=({**LATENCY, **fields},))
    workload = spec.spec.workload.model_copy(update={"prompts": SetPrompts(set=prompts)})
    body = spec.spec.model_copy(update={"workload": workload})
    return experiment_of(spec.model_copy(update={"spec": body}), Carrier())


def share(found: Experiment) -> float | None:
    """The part of the requests in its first dose's windows that a fault may touch."""
    dose = found.hits[0].doses[0]
    return None if dose.selected is None else dose.selected / dose.requests


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ({}, 1),
        ({"path": "/v1/completions"}, 0),
        ({"model": ENGINE_MODEL}, 1),
        ({"model": "another"}, 0),
        ({"stream": True, "share": "25 %"}, 0.25),
        ({"stream": False}, 0),
        ({"tenant": "red"}, 0),
        ({"header": {"content-type": "application/json"}}, 1),
        ({"header": {"X-Team": "red"}}, 0),
        ({"header": {"User-Agent": "curl"}}, None),
        ({"optIn": True}, 0),
    ],
)
def test_the_workloads_own_requests_are_counted(select: dict[str, Any], expected: float | None) -> None:
    assert share(experiment(select=select)) == expected


def test_of_two_tenants_each_has_its_part() -> None:
    tenants = [share(experiment("two-tenant", select={"tenant": tenant})) for tenant in TENANTS]
    models = [share(experiment("two-tenant", select={"model": f"{ENGINE_MODEL}:{name}"})) for name in TENANTS]
    assert tenants == models
    assert sum(part or 0 for part in tenants) == 1
    assert all(part is not None and 0 < part < 1 for part in tenants)


def test_pulses_touch_who_comes_while_they_are_on() -> None:
    hold = experiment().spec.spec.faults[0].dose.hold
    pulse = {"width": f"{hold / 8:g}s", "period": f"{hold / 2:g}s"}
    assert share(experiment(shape={"pulse": pulse}, select={"share": "50 %"})) == pytest.approx(0.125)
    assert share(experiment(shape={"ramp": f"{hold:g}s"}, select={"share": "50 %"})) == 0.5


@pytest.mark.parametrize(
    ("select", "says"),
    [
        ({"stream": True, "path": "/v1/chat/completions"}, "100 % of the requests to /v1/chat/completions that are"),
        ({"optIn": True}, "it will touch nothing, and then the run can never pass."),
        ({"header": {"User-Agent": "curl"}}, "How many of the workload's requests these are is not known before"),
    ],
)
def test_a_selection_is_explained(select: dict[str, Any], says: str) -> None:
    assert says in " ".join(experiment_text(experiment(select=select)).split())
