"""What travels with a request: written and read back, and what else stands there is refused with its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.model.carried_faults import (
    CarriedFaults,
    Dosed,
    EngineFaults,
    carried_names,
    engine_faults,
    read_carried_faults,
    refused_names,
)
from chaosgate.model.fault import FAULTS, Fault
from chaosgate.tokens import token_digest

DIGEST = token_digest("t")
DOSED = st.builds(Dosed, name=st.from_regex(r"[a-z0-9]{1,20}", fullmatch=True), dose=st.floats(0, 1e6))


def fault(kind: str, parameter: str, value: str) -> Fault:
    dose = {"parameter": parameter, "values": [value], "hold": "1s", "washout": "1s"}
    return FAULTS.get(kind).model_validate({"name": "mine", "kind": kind, "dose": dose})


@given(st.integers(0, 2**63 - 1), st.integers(0, 10**9), st.lists(DOSED, min_size=1, max_size=64))
def test_what_is_carried_reads_back_and_fits_into_a_header(seed: int, number: int, faults: list[Dosed]) -> None:
    carried = CarriedFaults(seed=seed, request=f"{seed}.block1.{number}", faults=tuple(faults))
    text = carried.to_header()
    assert read_carried_faults(text) == carried
    assert text.isascii()
    assert len(text) < 8000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", ": Input should be a valid dictionary or instance of CarriedFaults"),
        ('{"seed": 1, "request": "r", "faults": []}', ": Value error, neither a fault nor a salt is carried"),
        ('{"seed": 1, "request": "r", "faults": [{"name": "a", "dose": NaN}]}', "NaN is no number"),
        (
            '{"seed": 1, "request": "r", "faults": [{"name": "a", "dose": -1}]}',
            "faults.0.dose: Input should be greater than or equal to 0",
        ),
        ('{"seed": 1, "request": "r", "faults": [], "seed": 2}', "the key 'seed' stands twice in one object"),
        ("[" * 100_000, "it is nested too deep"),
    ],
)
def test_what_cannot_be_carried_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"(?s).*") as refused:
        read_carried_faults(text)
    assert str(refused.value).startswith(reason)


def test_an_engine_is_told_its_faults_as_what_they_are() -> None:
    inside = fault("kv.token-overwrite", "share", "10 %")
    told = EngineFaults(faults=engine_faults([fault("wire.error", "probability", "5 %"), inside]), token_digest=DIGEST)
    assert EngineFaults.model_validate_json(told.model_dump_json()).faults == (inside,)


def test_an_engine_is_told_no_fault_of_the_wire() -> None:
    with pytest.raises(ValueError, match="Input should be a valid dictionary or instance of EngineFault"):
        EngineFaults(faults=(fault("wire.error", "probability", "5 %"),), token_digest=DIGEST)  # type: ignore[arg-type]


def test_the_answers_of_an_engine_are_read() -> None:
    assert carried_names(["a,b", " c "]) == {"a", "b", "c"}
    assert carried_names([]) == frozenset()
    assert refused_names(["a: no such site: x", "b:\tdose 3"]) == {"a": "no such site: x", "b": "dose 3"}
    assert len(refused_names([f"a: {'x' * 5000}"])["a"]) == 300
