"""What is asked of Argo: submit, find, stop, and who aborted."""

from __future__ import annotations

from pathlib import Path

import pytest
from argo_run import RUN, ArgoRun

from chaosgate.components.aborting import Abort
from chaosgate.errors import ClusterError
from chaosgate.submit.argo.requests import find, list_workflows, must_find, note_abort, shut_down, submit

ANN = Abort(by="ann@laptop", reason="the pager", at="2027-01-15T08:00:00+00:00")
BOB = ANN.model_copy(update={"by": "bob@laptop"})


@pytest.fixture
def argo(tmp_path: Path) -> ArgoRun:
    return ArgoRun(tmp_path)


def test_a_run_is_submitted_into_the_cluster_s_namespace_under_its_own_name(argo: ArgoRun) -> None:
    metadata = submit(argo.cluster, argo.text, "another").data["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("another", "chaos")
    assert "generateName" not in metadata
    assert metadata["labels"]["chaosgate/spec"] == "small-drill"


def test_two_runs_of_one_name_are_refused(argo: ArgoRun) -> None:
    with pytest.raises(ClusterError, match="refused with 409"):
        submit(argo.cluster, argo.text, RUN)


def test_a_run_that_is_not_there_is_answered_with_those_that_are(argo: ArgoRun) -> None:
    assert find(argo.cluster, "other") is None
    with pytest.raises(ClusterError) as error:
        must_find(argo.cluster, "other")
    assert str(error.value) == (
        f"namespace chaos of https://fake.invalid:6443 has no run other; its runs: {RUN}; "
        "choose another namespace with --namespace NS"
    )
    assert must_find(argo.cluster, RUN).run == RUN


def test_runs_are_listed_newest_first_and_strangers_not_at_all(argo: ArgoRun) -> None:
    submit(argo.cluster, argo.text, "newer").data["metadata"]["creationTimestamp"] = "x"
    argo.cluster.objects["/apis/argoproj.io/v1alpha1/namespaces/chaos/workflows/newer"]["metadata"] |= {
        "creationTimestamp": "2027-01-16T08:00:00Z"
    }
    argo.cluster.put({"kind": "Workflow", "metadata": {"name": "stranger"}})
    assert [one.run for one in list_workflows(argo.cluster)] == ["newer", RUN]


@pytest.mark.parametrize("how", ["Stop", "Terminate"])
def test_a_workflow_is_ended_in_argo_s_own_words(argo: ArgoRun, how: str) -> None:
    shut_down(argo.cluster, RUN, how)  # type: ignore[arg-type]
    assert argo.data["spec"]["shutdown"] == how
    assert argo.workflow.is_stopping


def test_the_first_abort_stands(argo: ArgoRun) -> None:
    assert note_abort(argo.cluster, argo.workflow, ANN) == ANN
    assert note_abort(argo.cluster, argo.workflow, BOB) == ANN
    assert argo.workflow.abort == ANN
