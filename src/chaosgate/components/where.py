"""Where a run is carried when not by processes of this machine: a file in its folder says on which cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from chaosgate.artifacts.files import read_whole, write_whole
from chaosgate.errors import ArtifactError
from chaosgate.model.base import Frozen, Line, Name, first_refusal

FILE = "cluster.json"


class ClusterPlace(Frozen):
    """Where on which cluster a run is."""

    carrier: Literal["argo"]
    """What carries it there."""
    server: Line
    """The API server's address."""
    context: Line | None
    """The kubeconfig's context that led there, None for a run that was started in a pod."""
    namespace: Name

    def sentence(self) -> str:
        """`namespace chaos of https://10.0.0.1:6443`."""
        return f"namespace {self.namespace} of {self.server}"


def write_place(folder: Path, place: ClusterPlace) -> None:
    """Note that the run in `folder` is on a cluster; an ArtifactError when it cannot be written."""
    write_whole(folder / FILE, place.model_dump_json(indent=1).encode())


def read_place(folder: Path) -> ClusterPlace | None:
    """Where the run in `folder` is, None for a run of this machine's processes; an ArtifactError when unreadable."""
    file = folder / FILE
    if not file.exists():
        return None
    try:
        return ClusterPlace.model_validate_json(read_whole(file))
    except ValidationError as error:
        raise ArtifactError(
            f"{file}: {first_refusal(error)}; give the cluster with --on argo --namespace NS"
        ) from error


def is_on_cluster(folder: Path) -> bool:
    """Whether the run in `folder` is carried by a cluster."""
    return (folder / FILE).exists()
