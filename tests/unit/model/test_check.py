"""Semantic checks on drafts that no built-in kind can bring about; the others are in refusals.yaml, word by word."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Literal

import pytest

from chaosgate.errors import dotted
from chaosgate.model.base import Frozen
from chaosgate.model.check import FAULT_LIST, FIT_LIST, OBJECTIVE_LIST, Draft, check
from chaosgate.model.fault import Sweep, WireFault
from chaosgate.model.fit import Fit, Response
from chaosgate.model.sli import SLIS
from chaosgate.model.spec import Objective
from chaosgate.units import Bound


class Burst(WireFault):
    """A kind whose dose is a number of requests."""

    kind: Literal["test.burst"]
    dose: Sweep[Literal["requests"], int]
    max_dose: ClassVar[float] = 100


def messages(fault: dict[str, Any], fit: dict[str, Any], objective: dict[str, Any], whole: bool = True) -> list[str]:
    lists = {FAULT_LIST: (Burst, fault), FIT_LIST: (Knee, fit), OBJECTIVE_LIST: (Objective, objective)}
    data = {"spec": {path[1]: [item] for path, (_, item) in lists.items()}}
    valid: dict[Any, Frozen] = {(*path, 0): model.model_validate(item) for path, (model, item) in lists.items()}
    return [f"{dotted(one.path)}: {one.message}" for one in check(Draft(data, valid, whole))]


BURST = {
    "name": "burst",
    "kind": "test.burst",
    "dose": {"parameter": "requests", "values": [5, 50], "hold": "1s", "washout": "1s"},
}


class Knee(Fit):
    """A fit of any kind that asks for a bound and a share."""

    response: Response


KNEE = {"name": "knee", "kind": "any", "fault": "burst"}
RESPONSE = {"sli": "ttft", "bound": "<= 300ms", "share": "5 %"}
ROOM = {"name": "room", "fit": "knee"}


def test_a_bound_without_a_unit_fits_a_dose_that_is_counted() -> None:
    assert messages(BURST, {**KNEE, "response": RESPONSE}, {**ROOM, "lower": ">= 10"}) == []
    assert messages(BURST, {**KNEE, "response": RESPONSE}, {**ROOM, "lower": ">= 10ms"}) == [
        "spec.objectives[0].lower: read '>= 10ms'; 'requests' of fault 'burst' needs a whole number"
    ]


def test_counted_doses_rise_up_to_the_limit_of_the_kind() -> None:
    burst = {**BURST, "dose": {**BURST["dose"], "values": [0, 50, 50, 5, 200]}}  # type: ignore[dict-item]
    assert messages(burst, {**KNEE, "response": RESPONSE}, {**ROOM, "lower": ">= 10"}) == [
        "spec.faults[0].dose.values[0]: read 0; a dose is more than 0: controls at dose 0 are added anyway",
        "spec.faults[0].dose.values[2]: read 50 after 50; write the doses in rising order, each once",
        "spec.faults[0].dose.values[3]: read 5 after 50; write the doses in rising order, each once",
        "spec.faults[0].dose.values[4]: read 200; at most 100 is allowed for test.burst",
    ]


def test_an_unknown_response_gets_the_nearest_sli() -> None:
    knee = {**KNEE, "response": {**RESPONSE, "sli": "tftt"}}
    assert messages(BURST, knee, {**ROOM, "lower": ">= 10"}) == [
        "spec.fits[0].response.sli: unknown SLI 'tftt'; did you mean 'ttft'?"
    ]


def recovery_messages(faults: list[str], of: str | None) -> list[str]:
    data = {"spec": {"faults": [{**BURST, "name": name} for name in faults]}}
    back = Objective(name="back", sli="error-rate", bound=Bound.parse("<= 5 %"), at="recovery", fault=of)
    return [f"{dotted(one.path)}: {one.message}" for one in check(Draft(data, {(*OBJECTIVE_LIST, 0): back}, True))]


def test_a_recovery_is_that_of_the_last_fault() -> None:
    faults = ["slow", "lossy", "deaf"]
    for name, later in pairwise(faults):
        assert recovery_messages(faults, name) == [
            f"spec.objectives[0].fault: read {name!r}; its recovery lies before the sweep of {later!r}; "
            "put it last or into a spec of its own"
        ]
    assert recovery_messages(faults, "deaf") == recovery_messages(faults, None) == []


def test_a_name_is_not_called_unknown_where_the_list_itself_is_broken() -> None:
    fit = Knee.model_validate({**KNEE, "response": RESPONSE})
    for whole, expected in ((False, []), (True, ["unknown fault 'burst'; known: none"])):
        found = check(Draft({"spec": {"fits": [KNEE]}}, {(*FIT_LIST, 0): fit}, whole))
        assert [one.message for one in found] == expected


class Peak(Fit):
    """A fit of any kind that reads amounts."""

    reads: ClassVar[Literal["breaks", "amounts"]] = "amounts"


@pytest.mark.parametrize(
    ("sli", "said"),
    [
        ("tokens-per-second", []),
        ("ttft", ["read 'ttft'; fit 'any' needs a rate: write one of goodput, request-rate, tokens-per-second"]),
        ("request-rat", ["unknown SLI 'request-rat'; did you mean 'request-rate'?"]),
    ],
)
def test_a_fit_of_amounts_asks_for_a_rate(sli: str, said: list[str]) -> None:
    fit = Peak.model_validate({**KNEE, "response": {"sli": sli}})
    found = check(Draft({"spec": {"faults": [BURST], "fits": [KNEE]}}, {(*FIT_LIST, 0): fit}, True))
    assert [one.message for one in found] == said


def test_an_sli_that_lacks_its_module_is_refused_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SLIS.get("bleu4"), "needs", "no_such_module")
    knee = {**KNEE, "response": {"sli": "bleu4", "bound": ">= 80 %", "share": "5 %"}}
    said = "read 'bleu4', which needs no_such_module, and that is not installed; install it: "
    assert messages(BURST, knee, {"name": "words", "sli": "bleu4", "bound": ">= 80 %", "at": "baseline"}) == [
        f"spec.fits[0].response.sli: {said}pip install 'chaosgate[quality]'",
        f"spec.objectives[0].sli: {said}pip install 'chaosgate[quality]'",
    ]
