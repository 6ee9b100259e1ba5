"""One cluster at a time, and nothing of one that was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from testbed import leftovers
from testbed.leftovers import (
    HOLDER,
    INIT,
    PREFIX,
    ClusterTaken,
    claimed,
    make_cgroups,
    remove_cgroups,
    remove_leftovers,
)

from chaosgate.deploy.processes import alive, register
from chaosgate.model.result import Process

ANOTHER = f"test-{os.getpid()}"
"""No network, but a name that no other test uses."""
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a test cluster runs on Linux")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for the first one of a node."""
    with subprocess.Popen(SLEEP) as process:
        yield process
        process.kill()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cluster's folder below a folder for temporary files of the test's own; no control groups but the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(leftovers, "CGROUPS", tmp_path / "cgroup")
    (tmp_path / "cgroup").mkdir()
    made = tmp_path / f"{PREFIX}one"
    made.mkdir()
    return made


def gone(folder: Path, role: str) -> None:
    """Write down a process that is not there any more."""
    found = register(folder, role, os.getpid())
    file = folder / "processes" / f"{role}.json"
    file.write_text(found.model_copy(update={"created": found.created - 1}).model_dump_json())


def test_a_second_cluster_is_refused_by_name_of_who_has_the_addresses() -> None:
    with claimed(ANOTHER), pytest.raises(ClusterTaken) as refused, claimed(ANOTHER):
        pass
    assert str(refused.value) == (
        f"a test cluster at {ANOTHER}.0.0/16 runs already, held by process {os.getpid()}; wait for its end, or set "
        "CHAOSGATE_TESTBED_SUBNET to other addresses, such as 172.31"
    )
    with claimed(ANOTHER):
        pass


def test_a_cluster_whose_holder_was_killed_is_taken_away(folder: Path, sleeper: subprocess.Popen[bytes]) -> None:
    gone(folder, HOLDER)
    init = register(folder, INIT, sleeper.pid)
    assert remove_leftovers() == [folder]
    assert not folder.exists()
    assert not alive(init)


def test_a_process_with_the_number_of_the_nodes_first_one_is_left_alone(
    folder: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    gone(folder, HOLDER)
    init = register(folder, INIT, sleeper.pid)
    other = init.model_copy(update={"created": init.created - 1})
    (folder / "processes" / f"{INIT}.json").write_text(other.model_dump_json())
    assert remove_leftovers() == [folder]
    assert alive(init)


@pytest.mark.parametrize("held", [True, False])
def test_a_cluster_that_is_held_or_of_which_nobody_knows_stays(folder: Path, held: bool) -> None:
    if held:
        register(folder, HOLDER, os.getpid())
    assert remove_leftovers() == []
    assert folder.exists()


def test_a_cluster_of_another_machine_stays(folder: Path) -> None:
    found = register(folder, HOLDER, os.getpid())
    elsewhere = found.place.model_copy(update={"boot": None, "host": "elsewhere", "namespace": None})
    other: Process = found.model_copy(update={"place": elsewhere})
    (folder / "processes" / f"{HOLDER}.json").write_text(other.model_dump_json())
    assert remove_leftovers() == []


def test_control_groups_go_from_the_inside(folder: Path) -> None:
    root = leftovers.CGROUPS / "memory" / "one"
    (root / "kubepods" / "pod1" / "container").mkdir(parents=True)
    (leftovers.CGROUPS / "memory" / "another").mkdir()
    remove_cgroups("one")
    assert [path.name for path in (leftovers.CGROUPS / "memory").iterdir()] == ["another"]


def test_control_groups_of_version_2_have_one_root(folder: Path) -> None:
    (leftovers.CGROUPS / "cgroup.controllers").touch()
    (leftovers.CGROUPS / "system.slice").mkdir()
    make_cgroups("one")
    assert (leftovers.CGROUPS / "one").is_dir()
    assert list((leftovers.CGROUPS / "system.slice").iterdir()) == []
    remove_cgroups("one")
    assert not (leftovers.CGROUPS / "one").exists()
