"""A state directory that cannot be written, from the start or from some moment on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_drill import Drill, Start, chaosgate, environment, write_spec


def test_a_file_as_state_directory_is_a_usage_error(tmp_path: Path) -> None:
    file = tmp_path / "state"
    file.write_text("")
    done = chaosgate("run", write_spec(tmp_path), "--state", file)
    assert done.returncode == 2
    assert f"Invalid value for '--state': Directory '{file}' is a file." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("below", ["a-file/state", "/proc/state"])
def test_a_place_that_takes_no_folder_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "a-file").write_text("")
    state = tmp_path / below
    done = chaosgate("run", write_spec(tmp_path), env=environment(CHAOSGATE_STATE=str(state)))
    assert done.returncode == 3
    assert done.stderr.startswith(f"{state}/runs/small-drill-")
    assert done.stderr.endswith("make room or choose another state directory with --state DIR\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 KiB."""
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return


@pytest.mark.slow
def test_a_disk_that_fills_up_gives_no_pass_and_leaves_nothing(tiny_disk: Path, start: Start) -> None:
    drill: Drill = start(state=tiny_disk / "state")
    drill.step("baseline-measure")
    fill(tiny_disk)
    code, output = drill.finish()
    # Without room for a seal nobody can prove that the run is clean.
    assert code == 4, output
    assert "No space left on device; make room or choose another state directory with --state DIR" in output
    assert f"cleanup: unproved; run: chaosgate cleanup {drill.run}" in output
    assert "verdict: pass" not in output
    assert "Traceback" not in output
    (tiny_disk / "ballast").unlink()
    again = chaosgate("cleanup", drill.run, "--state", drill.state)
    assert again.returncode == 0, again.stderr
