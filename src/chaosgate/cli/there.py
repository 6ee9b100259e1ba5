"""A run on a cluster as commands find it: by its folder here, or by where `--on` and `--namespace` lead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from chaosgate.artifacts import SPEC, read_document, write_spec
from chaosgate.artifacts.files import write_whole
from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.components.places import ignore_in_git, make_private, run_dir, spec_file
from chaosgate.components.where import ClusterPlace, is_on_cluster, read_place, write_place
from chaosgate.errors import ClusterError, UsageError, one_line
from chaosgate.model.base import NAME_PATTERN
from chaosgate.model.spec import ChaosSpec
from chaosgate.run.status import is_settled


@dataclass(frozen=True)
class There:
    """A run on a cluster."""

    cluster: Cluster
    run: str
    state: Path

    @property
    def place(self) -> ClusterPlace:
        """Where it is."""
        known = self.cluster
        return ClusterPlace(carrier="argo", server=known.server, context=known.context, namespace=known.namespace)

    @property
    def folder(self) -> Path:
        """Where its files are brought; it need not be there yet."""
        return run_dir(self.state.resolve(), self.run)

    @property
    def spec(self) -> ChaosSpec | None:
        """The run's spec as its folder has it, None where there is no folder."""
        return read_document(spec_file(self.folder), SPEC) if is_on_cluster(self.folder) else None

    def open(self, spec: str | ChaosSpec) -> ChaosSpec:
        """Make the folder unless it is there, with the run's spec or its document; the spec as the folder has it."""
        if not is_on_cluster(self.folder):
            make_private(self.folder)
            ignore_in_git(self.state.resolve())
            if isinstance(spec, str):
                write_whole(spec_file(self.folder), spec.encode())
            else:
                write_spec(spec_file(self.folder), spec)
            write_place(self.folder, self.place)
        return read_document(spec_file(self.folder), SPEC)


def find_there(state: Path, run: str, on: str | None, namespace: str | None) -> There | None:
    """As `look_there`; None also for a run that is sealed and brought here, which no cluster need be asked about.

    With `on` or `namespace` it is asked all the same.
    """
    known = is_a_name(run) and is_settled(run_dir(state.resolve(), run), run)
    return None if known and on is None and namespace is None else look_there(state, run, on, namespace)


def is_a_name(run: str) -> bool:
    """Whether a run may be called so; anything else may lead out of the state directory."""
    return re.fullmatch(NAME_PATTERN, run) is not None


def look_there(state: Path, run: str, on: str | None, namespace: str | None) -> There | None:
    """The run where `--on argo` leads, else where its folder says it is; None for one of this machine.

    A ClusterError when the kubeconfig leads to another cluster than the run's; a UsageError for what is no run's name.
    """
    if not is_a_name(run):
        if on is None:
            return None
        raise UsageError(f"{one_line(run)[:80]}: is no run; see which there are: chaosgate status --on {on}")
    place = read_place(run_dir(state.resolve(), run)) if on is None else None
    if place is None and on is None:
        return None
    cluster = open_cluster(namespace) if place is None else _reopen(place, namespace)
    return There(cluster, run, state)


def _reopen(place: ClusterPlace, namespace: str | None) -> Cluster:
    try:
        cluster = open_cluster(namespace or place.namespace, place.context)
    except ClusterError:
        # The context may have another name by now: the server tells whether it is the same cluster.
        cluster = open_cluster(namespace or place.namespace)
    if cluster.server != place.server:
        raise ClusterError(
            f"the run is on the cluster {place.server} (context {place.context}), the kubeconfig leads to "
            f"{cluster.server}; set KUBECONFIG, or: kubectl config use-context {place.context}"
        )
    return cluster
