"""A first spec is valid as it stands, for every kind, and says what is wrong with what it was asked for."""

from __future__ import annotations

from typing import ClassVar, Literal

import pytest

from chaosgate.errors import RegistryError, SpecError, UsageError
from chaosgate.model.fault import FAULTS, Sweep, WireFault
from chaosgate.model.load import parse_spec
from chaosgate.model.template import first_spec
from chaosgate.units import Duration


@pytest.mark.parametrize("kind", FAULTS.names())
def test_a_first_spec_is_valid_and_sweeps_what_was_asked_for(kind: str) -> None:
    spec = parse_spec(first_spec("mine", "embedded", "embedded/tiny", None, kind), "mine.yaml")
    assert spec.metadata.name == "mine"
    assert [fault.kind for fault in spec.spec.faults] == [kind]
    assert {objective.at for objective in spec.spec.objectives if isinstance(objective.at, str)} == {"recovery"}


@pytest.mark.parametrize("model", ["embedded/tiny", "models:/chat@prod", "true", "5", 'odd "name": #1', "./weights"])
def test_any_model_name_reads_back(model: str) -> None:
    text = first_spec("mine", "endpoint", model, "http://127.0.0.1:8000", "wire.latency")
    spec = parse_spec(text, "mine.yaml")
    assert spec.spec.target.model == model
    assert spec.spec.target.endpoint == "http://127.0.0.1:8000"


def test_own_parameters_of_a_kind_are_shown_with_their_defaults() -> None:
    text = first_spec("mine", "embedded", "embedded/tiny", None, "wire.latency")
    assert "# jitter: 0s" in text


def test_an_unknown_kind_gets_the_nearest_name() -> None:
    with pytest.raises(RegistryError, match=r"unknown fault kind 'wire.latenci'; did you mean 'wire.latency'"):
        first_spec("mine", "embedded", "embedded/tiny", None, "wire.latenci")


def test_a_wrong_answer_is_refused_like_a_wrong_spec() -> None:
    with pytest.raises(SpecError) as refused:
        first_spec("My Spec", "endpoint", "m", None, "wire.latency")
    assert str(refused.value) == (
        "first spec:6:9 metadata.name: read 'My Spec'; a name is lower case letters, digits and hyphens between them, "
        "at most 63 (a DNS label)\n"
        "first spec:12:5 spec.target: `engine: endpoint` needs one of `endpoint: URL` and "
        "`kubernetes: {service: NAME, port: NUMBER}`"
    )


def test_a_kind_with_a_required_parameter_is_honest_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Named(WireFault):
        """Needs a name of its own."""

        kind: Literal["test.named"]
        header: str
        dose: Sweep[Literal["delay"], Duration]
        max_dose: ClassVar[float] = 1.0

    monkeypatch.setattr(FAULTS, "_kinds", {**dict(FAULTS.items()), "test.named": Named})
    with pytest.raises(UsageError) as refused:
        first_spec("mine", "embedded", "embedded/tiny", None, "test.named")
    assert str(refused.value) == (
        "fault kind 'Named' needs 'header' (text), for which nothing general can be written; "
        "copy a spec from chaos-specs/atoms and change it"
    )
