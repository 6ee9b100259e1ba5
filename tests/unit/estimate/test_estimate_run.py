from __future__ import annotations

import random
from dataclasses import replace

import pytest
from simulated_run import passing_run

from chaosgate.estimate import RunData, estimate_run, estimate_steady_state
from chaosgate.model.result import Estimates

RUN = passing_run()


def shuffled(run: RunData, seed: int) -> RunData:
    order = random.Random(seed)
    phases = {
        name: replace(
            phase,
            **{
                part: order.sample(list(getattr(phase, part)), len(getattr(phase, part)))
                for part in ("observations", "ledger", "timeline", "gauges")
            },
        )
        for name, phase in order.sample(list(run.phases.items()), len(run.phases))
    }
    return replace(run, phases=phases)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_data_does_not_matter(seed: int) -> None:
    assert estimate_run(shuffled(RUN, seed)) == estimate_run(RUN)


def test_estimates_survive_json() -> None:
    estimates = estimate_run(RUN)

    assert Estimates.model_validate_json(estimates.model_dump_json()) == estimates


def test_the_steady_state_can_be_estimated_before_anything_is_injected() -> None:
    early = estimate_steady_state(RUN.spec, RUN.phases["baseline"])
    late = estimate_run(RUN).steady_state

    assert [(e.sli, e.value, e.n, e.windows) for e in early] == [(e.sli, e.value, e.n, e.windows) for e in late]


def test_an_objective_on_a_fit_has_no_estimate() -> None:
    assert [each.objective for each in estimate_run(RUN).objectives] == ["first-token", "same-answers", "back"]


@pytest.mark.parametrize("missing", [{"phases": {}}, {"injections": {}}, {"phases": {}, "injections": {}}])
def test_missing_data_makes_estimates_without_numbers(missing: dict[str, dict[str, object]]) -> None:
    estimates = estimate_run(replace(RUN, **missing))

    assert all(e.value is None and e.reason for each in estimates.objectives for e in each.estimates)
    assert estimates.health.problems
