"""Where a run on a cluster is, as a file in its folder says."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.components.where import FILE, ClusterPlace, is_on_cluster, read_place, write_place
from chaosgate.errors import ArtifactError

PLACE = ClusterPlace(carrier="argo", server="https://10.0.0.1:6443", context="dev", namespace="chaos")


def test_a_place_reads_back(tmp_path: Path) -> None:
    assert read_place(tmp_path) is None
    assert not is_on_cluster(tmp_path)
    write_place(tmp_path, PLACE)
    assert read_place(tmp_path) == PLACE
    assert is_on_cluster(tmp_path)
    assert PLACE.sentence() == "namespace chaos of https://10.0.0.1:6443"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "Invalid JSON"),
        ('{"carrier": "argo", "server": "x", "context": null, "namespace": "../x"}', "namespace: String should match"),
    ],
)
def test_one_that_cannot_be_read_says_what_to_do(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ArtifactError) as error:
        read_place(tmp_path)
    assert str(error.value).startswith(f"{tmp_path / FILE}: ")
    assert says in str(error.value)
    assert str(error.value).endswith("; give the cluster with --on argo --namespace NS")
