"""The labels of everything a pipeline makes."""

from __future__ import annotations

from pathlib import Path

from chaosgate.compile.common import labels
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.planner import CLUSTER, make_plan

SPEC = load_spec(Path("chaos-specs/scenarios/stream-degradation.yaml"))


def test_the_labels_of_chaosgate_win() -> None:
    carrier = Carrier(labels={"chaosgate/spec": "other", "team": "inference"})
    found = labels(make_plan(SPEC, CLUSTER), SPEC, carrier)
    assert found["chaosgate/spec"] == "stream-degradation"
    assert found["team"] == "inference"
    assert found["suite"] == "quickstart"
