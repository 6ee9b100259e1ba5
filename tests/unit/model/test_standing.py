from __future__ import annotations

import pytest

from chaosgate.errors import RegistryError
from chaosgate.faults.wire.latency import WireLatency
from chaosgate.model.standing import standing_fault


def test_a_standing_fault_has_one_dose_and_its_parameters() -> None:
    fault = standing_fault("wire.latency", "slow", "50ms", {"jitter": "5ms", "select": {"share": "10 %"}})
    assert isinstance(fault, WireLatency)
    assert (fault.name, fault.dose.values, fault.jitter, fault.select.share) == ("slow", (0.05,), 0.005, 0.1)


def test_an_unknown_kind_is_named_with_its_neighbour() -> None:
    with pytest.raises(RegistryError, match=r"did you mean 'wire\.latency'"):
        standing_fault("wire.latenzy", "slow", "50ms", {})


@pytest.mark.parametrize(("dose", "parameters"), [("50 %", {}), ("50ms", {"jitters": "1ms"}), ("-1s", {})])
def test_a_wrong_dose_or_parameter_is_refused(dose: str, parameters: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"jitters|dose|duration"):
        standing_fault("wire.latency", "slow", dose, parameters)
