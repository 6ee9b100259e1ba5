"""One cluster for all tests of a session; each test has a namespace of its own in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster_ground import Ground, NoCluster, cluster_under_test, fresh_namespace
from cluster_record import Recorder
from cluster_rig import (
    Command,
    Finished,
    Run,
    Submit,
    create_workflow,
    write_own_kubeconfig,
    write_profile,
    write_spec,
)

from chaosgate.model.load import load_spec

RECORDER = "cluster-record"
WIDE = ("ClusterRole", "ClusterRoleBinding")
"""Kinds of rights that do not go with the namespace."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--record FILE` writes a page about the tests that ran."""
    parser.addoption("--record", type=Path, metavar="FILE", help="write a dated record of the tests on a cluster")


def pytest_configure(config: pytest.Config) -> None:
    """Remember what the record tells."""
    if file := config.getoption("--record"):
        config.pluginmanager.register(Recorder(file), RECORDER)


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """The cluster under test."""
    with ExitStack() as stack:
        try:
            ground = stack.enter_context(cluster_under_test())
        except NoCluster as reason:
            pytest.skip(str(reason))
        recorder = request.config.pluginmanager.get_plugin(RECORDER)
        if recorder is not None:
            recorder.versions |= ground.versions()
        yield ground


@pytest.fixture
def namespace(cluster: Ground, tmp_path: Path) -> Iterator[str]:
    """A namespace of the test's own, in which runs of the small spec have the rights they need and no others."""
    with fresh_namespace(cluster, load_spec(write_spec(tmp_path))) as name:
        yield name


@pytest.fixture
def profile(cluster: Ground, namespace: str, tmp_path: Path) -> Path:
    """The profile of the cluster under test."""
    return write_profile(tmp_path, cluster, namespace)


@pytest.fixture
def chaosgate(cluster: Ground, namespace: str, tmp_path: Path) -> Command:
    """`chaosgate(*words)` runs the command on the cluster under test, as its administrator, in the test's namespace."""
    return Command(tmp_path, write_own_kubeconfig(tmp_path, cluster, namespace))


@pytest.fixture
def submit(cluster: Ground, namespace: str, profile: Path, chaosgate: Command) -> Iterator[Submit]:
    """`submit(spec)` compiles a spec and creates the workflow: a `Run`. Workflows are deleted afterwards.

    The run has the rights that `chaosgate rbac` prints for its spec.
    """
    runs: list[Run] = []
    wide: set[str] = set()

    def submitted(spec: Path, change: Callable[[dict[str, Any]], None] = lambda workflow: None) -> Run:
        for document in yaml.safe_load_all(chaosgate("rbac", spec, "--namespace", namespace).stdout):
            cluster.api.apply(document)
            if document["kind"] in WIDE:
                wide.add(cluster.api.path_of(document))
        workflow = yaml.safe_load(chaosgate("compile", spec, "--to", "argo", "--profile", profile).stdout)
        change(workflow)
        runs.append(create_workflow(cluster, namespace, workflow))
        return runs[-1]

    yield submitted
    for path in (*(run.path for run in runs), *wide):
        cluster.api.delete(path)


@pytest.fixture
def run_workflow(submit: Submit) -> Callable[[Path], Finished]:
    """`run_workflow(spec)` submits a spec and waits until its workflow has ended."""
    return lambda spec: submit(spec).wait()
