"""A fault of the cluster as `explain` tells of it: whose pods it may hit, and no share of requests."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_targets import cluster_fault
from simulated_run import LATENCY, OBJECTIVES, stream_spec

from chaosgate.cli.experiment import experiment_of
from chaosgate.cli.experiment_text import experiment_text
from chaosgate.model.carrier import Carrier

ELSEWHERE = {"namespace": "serving", "labels": {"app": "llm", "tier": "gold"}}


@pytest.mark.parametrize(
    ("fields", "pods"),
    [
        ({}, "pods of the run's own target"),
        ({"target": ELSEWHERE}, "pods of namespace serving with app=llm, tier=gold"),
        ({"target": {"labels": {"app": "llm"}}}, "pods with app=llm"),
    ],
)
def test_it_says_whose_pods_are_meant(fields: dict[str, Any], pods: str) -> None:
    spec = stream_spec(faults=(cluster_fault("pod.delete", **fields).to_json(),), fits=(), objectives=OBJECTIVES[3:])
    experiment = experiment_of(spec, Carrier())

    (hit,) = experiment.hits
    assert (hit.share, hit.path, hit.pods, hit.doses[0].selected) == (None, None, pods, None)
    text = experiment_text(experiment)
    assert f"Acts on Kubernetes objects: {pods}." in text
    assert "may be hit" not in text
    assert "it will touch nothing" not in text


def test_a_fault_of_requests_says_how_many_it_may_hit() -> None:
    experiment = experiment_of(stream_spec(faults=(LATENCY,)), Carrier())
    (hit,) = experiment.hits
    assert (hit.share, hit.pods) == (1.0, None)
    assert "may be hit" in experiment_text(experiment)
