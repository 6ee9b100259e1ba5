"""Who asks for a fault: by the header's names, by `on`, by baggage, and nobody else."""

from __future__ import annotations

import pytest

from chaosgate.model.opt_in import named_faults, opted_in
from chaosgate.model.request_facts import RequestFacts


@pytest.mark.parametrize(
    ("headers", "asks"),
    [
        ({}, False),
        ({"X-Chaos-Mode": "slow"}, True),
        ({"x-chaos-mode": " cut , slow "}, True),
        ({"X-Chaos-Mode": "slower"}, False),
        ({"X-Chaos-Mode": "on"}, True),
        ({"X-Chaos-Mode": "off"}, False),
        ({"X-Chaos-Mode": ""}, False),
        ({"baggage": "llm.mesh.noise=latency:50ms"}, True),
        ({"Baggage": "user=1,llm.mesh.noise="}, True),
        ({"baggage": "llm.mesh.gray=canary"}, False),
        ({"baggage": "llm.mesh.noise"}, False),
        ({"X-Other": "slow"}, False),
    ],
)
def test_a_request_asks_for_a_fault(headers: dict[str, str], asks: bool) -> None:
    assert opted_in(RequestFacts("/", headers), "slow") is asks


def test_names_are_read_in_their_order() -> None:
    assert named_faults(RequestFacts("/", {"X-Chaos-Mode": "b, a,,"})) == ("b", "a")
