"""Labels that Kubernetes would refuse are refused when a pipeline is compiled, and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.compile.common import check_labels, labels
from chaosgate.errors import UsageError
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.planner import CLUSTER, make_plan

SPEC = load_spec(Path("chaos-specs/scenarios/stream-degradation.yaml"))


@pytest.mark.parametrize(
    ("key", "value"),
    [("team", "inference"), ("example.com/team", ""), ("a" * 63, "b" * 63), ("a.b-c/D_9", "1e3"), ("x", "A_b.c-9")],
)
def test_labels_as_kubernetes_wants_them_pass(key: str, value: str) -> None:
    check_labels("label", {key: value})


@pytest.mark.parametrize(
    "key", ["", "a b", "-a", "a-", "a" * 64, "a/b/c", "/a", "a/", "UP.case/a", "a..b/c", "{{x}}", "é"]
)
def test_a_key_that_kubernetes_refuses_is_named(key: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_labels("the spec's label", {key: "x"})
    assert str(refused.value) == (
        f"the spec's label {key!r}: Kubernetes wants a name of at most 63 letters, digits, '-', '_' and '.' that "
        "starts and ends with a letter or digit, after an optional DNS name and a slash, such as example.com/team; "
        "rename the label"
    )


@pytest.mark.parametrize("value", ["two words", "a/b", "-x", "x.", "x" * 64, "{{workflow.name}}", "x\n"])
def test_a_value_that_kubernetes_refuses_is_named(value: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_labels("the carrier's label", {"team": value})
    assert str(refused.value) == (
        f"the carrier's label 'team': read the value {value!r}; Kubernetes wants at most 63 letters, digits, '-', '_' "
        "and '.' that start and end with a letter or digit; write another value"
    )


def test_the_labels_of_a_pipeline_are_checked_wherever_they_come_from() -> None:
    plan = make_plan(SPEC, CLUSTER)
    with pytest.raises(UsageError, match="the carrier's label 'a b'"):
        labels(plan, SPEC, Carrier(labels={"a b": "c"}))
    odd = SPEC.model_copy(update={"metadata": SPEC.metadata.model_copy(update={"labels": {"suite": "a b"}})})
    with pytest.raises(UsageError, match="the spec's label 'suite'"):
        labels(plan, odd, Carrier())


def test_the_labels_of_chaosgate_win() -> None:
    carrier = Carrier(labels={"chaosgate/spec": "other", "team": "inference"})
    found = labels(make_plan(SPEC, CLUSTER), SPEC, carrier)
    assert found["chaosgate/spec"] == "stream-degradation"
    assert found["team"] == "inference"
    assert found["suite"] == "quickstart"
