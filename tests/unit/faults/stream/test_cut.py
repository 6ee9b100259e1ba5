from __future__ import annotations

from typing import Any

import pytest

from chaosgate.conformance.observations import observations
from chaosgate.faults.stream.cut import StreamCut
from chaosgate.model.fault import FAULTS, Cut, DoseAxis


def cut(**changed: Any) -> StreamCut:
    dose = {"parameter": "probability", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return StreamCut.model_validate({"name": "cutter", "kind": "stream.cut", "dose": dose, **changed})


def test_its_dose_is_the_share_of_streams() -> None:
    assert FAULTS.get("stream.cut") is StreamCut
    assert StreamCut.axis() == DoseAxis("probability", "share")


def test_a_hit_stream_is_cut_after_its_events() -> None:
    fault = cut(after=3, marker=True)
    assert fault.effects(1.0, fault.draw(7, "7.block1.1")) == (Cut(3, True),)
    assert fault.effects(0.0, fault.draw(7, "7.block1.1")) == ()


def test_the_share_of_streams_cut_is_the_dose() -> None:
    fault = cut()
    hit = [bool(fault.effects(0.2, fault.draw(7, f"7.block1.{number}"))) for number in range(5000)]
    assert sum(hit) / len(hit) == pytest.approx(0.2, abs=0.02)


def test_without_the_marker_the_client_misses_the_end() -> None:
    witness = cut().witness(0.4)
    assert witness.moved == pytest.approx(0.2)
    assert {seen.outcome for seen in observations() if witness.value(seen)} == {"cut"}


def test_with_the_marker_only_the_length_tells() -> None:
    witness = cut(after=1, marker=True).witness(0.4)
    assert {len(seen.tokens) for seen in observations() if witness.value(seen)} == {0, 1}
