"""What every fault of single requests shares: whom it touches, at which dose, and what of it must show."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chaosgate.draws import Draw
from chaosgate.errors import dotted
from chaosgate.faults.kv.token_overwrite import TokenOverwrite
from chaosgate.model.fault import Fault, Sweep, WireFault, fault_of
from chaosgate.model.prompt_text import PromptText
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.validation import validate

PULSE = {"pulse": {"width": "1s", "period": "4s"}}
SHAPES = (None, {"ramp": "2s"}, {"ramp": "10s"}, PULSE)


class Words(WireFault):
    """A fault whose dose counts, and that rewrites prompts."""

    dose: Sweep[Literal["words"], int]
    max_dose: ClassVar[float] = 100.0

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        return prompt


def latency(**fields: Any) -> Any:
    sweep = {"parameter": "delay", "values": ["100ms"], "hold": "10s", "washout": "0s"}
    return fault_of({"name": "slow", "kind": "wire.latency", "dose": sweep, **fields})


def words(**fields: Any) -> Words:
    sweep = {"parameter": "words", "values": [7], "hold": "10s", "washout": "0s"}
    return Words.model_validate({"name": "more", "kind": "words", "dose": sweep, **fields})


def planned(fault: Fault, facts: RequestFacts, requests: int = 400) -> set[int]:
    return {number for number in range(requests) if fault.planned(fault.draw(7, f"7.block1.{number}"), facts)}


def test_without_an_opt_in_nobody_is_touched_and_with_it_the_same_as_ever() -> None:
    share = {"share": "30 %"}
    asking = RequestFacts("/", {"X-Chaos-Mode": "slow"})
    waiting = latency(select={**share, "optIn": True})
    assert planned(waiting, RequestFacts("/")) == set()
    assert waiting.unasked(RequestFacts("/"))
    assert planned(waiting, asking) == planned(latency(select=share), RequestFacts("/"))
    assert 80 < len(planned(waiting, asking)) < 160
    assert not waiting.unasked(asking)
    assert not latency().unasked(RequestFacts("/"))


def test_an_opt_in_does_not_undo_the_selection() -> None:
    asking = RequestFacts("/a", {"X-Chaos-Mode": "on"})
    assert planned(latency(select={"path": "/b", "optIn": True}), asking) == set()


def test_the_body_is_read_for_the_selection_or_the_prompt() -> None:
    assert not latency().reads_body()
    assert latency(select={"model": "m"}).reads_body()
    assert words().reads_body()


def test_a_dose_is_constant_without_a_shape() -> None:
    assert {latency().dose_at(0.1, seconds) for seconds in (0, 3, 100)} == {0.1}


def test_a_dose_moves_with_its_shape() -> None:
    ramp, pulse = latency(shape={"ramp": "4s"}), latency(shape=PULSE)
    assert [ramp.dose_at(0.2, seconds) for seconds in (0, 1, 4, 9)] == [0, 0.05, 0.2, 0.2]
    assert [pulse.dose_at(0.2, seconds) for seconds in (0, 0.5, 1, 3.9, 4)] == [0.2, 0.2, 0, 0, 0.2]


def test_a_dose_that_counts_is_whole_and_rounded_down() -> None:
    ramp = words(shape={"ramp": "4s"})
    assert [ramp.dose_at(7, seconds) for seconds in (0, 1, 3.99, 4)] == [0, 1, 6, 7]


@given(
    st.sampled_from(SHAPES),
    st.sampled_from((latency, words)),
    st.floats(0, 20),
    st.tuples(st.integers(0, 50), st.integers(0, 50)),
)
def test_a_larger_dose_is_never_smaller_at_any_moment(
    shape: dict[str, Any] | None, make: Any, seconds: float, doses: tuple[int, int]
) -> None:
    fault, (low, high) = make(shape=shape), sorted(doses)
    assert 0 <= fault.dose_at(low, seconds) <= fault.dose_at(high, seconds) <= high


@pytest.mark.parametrize(
    ("fields", "exposure"),
    [
        ({}, 1),
        ({"select": {"share": "20 %"}}, 0.2),
        ({"shape": {"ramp": "10s"}}, 0.5),
        ({"shape": PULSE}, 0.3),
        ({"shape": {"ramp": "10s"}, "select": {"share": "20 %"}}, 0.1),
    ],
)
def test_what_must_show_is_half_of_what_a_request_gets_on_average(fields: dict[str, Any], exposure: float) -> None:
    fault = latency(**fields)
    assert fault.exposure() == pytest.approx(exposure)
    assert fault.least_rise(0.1) == pytest.approx(0.05 * exposure)
    assert fault.witness(0.1).moved == pytest.approx(0.05 * exposure)


def test_a_shape_that_no_window_shows_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"`shape\.ramp` is 11s and `dose\.hold` 10s: a window ends before"):
        latency(shape={"ramp": "11s"})


def test_a_shape_does_not_go_with_a_shared_cache() -> None:
    sweep = {"parameter": "share", "values": ["5 %"], "hold": "10s", "washout": "0s"}
    data = {"name": "over", "kind": "kv.token-overwrite", "dose": sweep, "shape": {"ramp": "2s"}}
    assert validate(TokenOverwrite, data)[1] == []
    found, problems = validate(TokenOverwrite, {**data, "shares": True}, ("spec", "faults", 0))
    assert found is None
    assert [f"{dotted(one.path)}: {one.message}" for one in problems] == [
        "spec.faults[0]: `shape` does not go with a fault whose requests share what it leaves in the cache: a request "
        "would read what another dose left there; leave one of the two out"
    ]
