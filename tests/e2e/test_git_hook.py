"""The git hook with chaosgate itself: pushes to a bare repository are drilled, and their verdicts decide."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gate_rig import MAIN, Receiver
from small_drill import environment, eventually, write_spec

from chaosgate.artifacts import RECORD, SEAL, VERDICT, read_document
from chaosgate.deploy.processes import alive, registered, stop, strays
from chaosgate.model.result import Process

pytestmark = pytest.mark.slow

CHAOSGATE = Path(sys.executable).with_name("chaosgate")


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    """A bare repository with the hook; whatever a push leaves running is ended, and is a failure."""
    made = Receiver.create(tmp_path / "git")
    made.configure(command=str(CHAOSGATE))
    (made.clone.folder / "chaos-specs").mkdir()
    yield made
    try:
        eventually(lambda: not running(made), "the end of all processes", 10)
    finally:
        for process in running(made):
            stop(process)
    assert made.left() == []


def runs(receiver: Receiver) -> list[Path]:
    return sorted((receiver.state / "runs").glob("*"))


def running(receiver: Receiver) -> list[Process]:
    return [one for run in runs(receiver) for one in (*filter(alive, registered(run)), *strays(run))]


def commit(receiver: Receiver, **spec: str) -> str:
    write_spec(receiver.clone.folder / "chaos-specs", **spec)
    return receiver.clone.commit_all()


def push(receiver: Receiver, *words: str) -> tuple[bool, str]:
    return receiver.push(*words, env=environment())


@pytest.mark.thorough
def test_the_verdict_decides_and_the_record_names_the_commit(receiver: Receiver) -> None:
    head = commit(receiver)
    taken, said = push(receiver, "main")
    (run,) = runs(receiver)
    verdict = read_document(run / "conclude" / VERDICT.file, VERDICT)
    # A busy machine may delay the load generator, which is inconclusive; anything else is a fault of the gate.
    assert (taken, verdict.verdict) in ((True, "pass"), (False, "inconclusive")), said
    assert receiver.refs() == ({MAIN: head} if taken else {})
    assert f"chaos-specs/small-drill.yaml: {verdict.verdict}, exit code {verdict.exit_code}" in said
    assert said.splitlines()[-1] == ("push accepted" if taken else "push refused: there is no answer (exit code 3)")
    assert f"  files: {run}" in said
    assert read_document(run / "conclude" / RECORD.file, RECORD).environment["git"] == head[:12]
    assert read_document(run / "cleanup" / SEAL.file, SEAL).clean


@pytest.mark.thorough
def test_an_objective_that_must_fail_refuses_the_push(receiver: Receiver) -> None:
    # There are no errors, so that this can only be a no; fail wins over what a busy machine may make inconclusive.
    commit(receiver, bound=">= 99 %", hold="200ms")
    taken, said = push(receiver, "main")
    assert (taken, receiver.refs()) == (False, {})
    assert re.search(r"answers: error-rate .* >= 99 %", said)
    assert said.endswith("push refused: the gate says no (exit code 1)")


def test_a_broken_spec_is_refused_with_its_place(receiver: Receiver) -> None:
    file = write_spec(receiver.clone.folder / "chaos-specs")
    file.write_text(file.read_text().replace("kind: wire.latency", "kind: wire.latencie"))
    receiver.clone.commit_all()
    taken, said = push(receiver, "main")
    assert (taken, receiver.refs(), runs(receiver)) == (False, {}, [])
    assert re.search(
        r"^  chaos-specs/small-drill.yaml:20:13 spec.faults\[0\].kind: .*'wire.latency'", said, re.MULTILINE
    )
    assert said.endswith("push refused: a spec is invalid (exit code 2)")


@pytest.mark.thorough
def test_two_references_one_of_them_bad_are_both_refused(receiver: Receiver) -> None:
    receiver.configure(protect="refs/heads/*", run="path=**/b.yaml")
    commit(receiver, name="a")
    receiver.clone.git("checkout", "--quiet", "-b", "other")
    commit(receiver, name="b", bound=">= 99 %", hold="200ms")
    taken, said = push(receiver, "main", "other")
    assert (taken, receiver.refs()) == (False, {})
    assert "chaos-specs/a.yaml: not drilled, as `chaosgate.run` is path=**/b.yaml" in said
    assert "chaos-specs/b.yaml: fail, exit code 1" in said


@pytest.mark.thorough
def test_what_is_pushed_is_never_run(receiver: Receiver, tmp_path: Path) -> None:
    mark = tmp_path / "pushed code ran"
    code = f"open({str(mark)!r}, 'w').write('x')\nraise SystemExit(0)\n"
    for name in ("chaosgate/__init__.py", "argparse.py", "yaml.py", "sitecustomize.py", "chaosgate.py"):
        (receiver.clone.folder / name).parent.mkdir(exist_ok=True)
        (receiver.clone.folder / name).write_text(code)
    commit(receiver, bound=">= 99 %", hold="200ms")
    taken, said = push(receiver, "main")
    assert "fail, exit code 1" in said
    assert not taken
    assert not mark.exists()


@pytest.mark.parametrize("moment", ["deploy", "baseline-measure"])
def test_nothing_is_left_when_the_pusher_interrupts(receiver: Receiver, moment: str) -> None:
    commit(receiver)
    with receiver.start("main", env=environment()) as process:
        eventually(lambda: list(receiver.state.glob(f"runs/*/processes/step-{moment}.json")), moment)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=120)
    assert process.returncode != 0
    eventually(lambda: not receiver.left(), "the end of the hook")
    (run,) = runs(receiver)
    assert read_document(run / "cleanup" / SEAL.file, SEAL).clean
    assert receiver.refs() == {}
