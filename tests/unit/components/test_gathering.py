"""What conclude is told of a run that went wrong: each cause once, and never less than an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.artifacts import ARTIFACTS, ENDPOINT, INJECTION, RECORD, STATUS, Identity, write_document, write_lines
from chaosgate.components.definition import Context
from chaosgate.components.gathering import gather
from chaosgate.components.inputs import problem_before, sentence
from chaosgate.model.result import Endpoint, Injection, Reason, Record, SecretRef, Status, StepStatus, Subject

IDENTITY = Identity("r", "d")
MEASURES = ("baseline-measure", "block1-measure")
INJECT = "block1-inject"
STEPS = ("deploy", *MEASURES, INJECT)
OK = Status(status="ok")


def failed(reason: str) -> Status:
    return Status(status="failed", reason=reason)


def declined(reason: str) -> Status:
    return Status(status="declined", reason=reason)


def endpoint() -> Endpoint:
    subject = Subject(model="m", engine="e")
    return Endpoint(url="u", admin="a", token=SecretRef(file="f"), upstream="s", subject=subject)


def record() -> Record:
    return Record(
        name="n",
        verdict="error",
        reasons=(Reason(verdict="error", text="not finished"),),
        subject=None,
        started="2026-01-01T00:00:00+00:00",
        finished=None,
        environment={},
        recorded="unrecorded",
    )


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """A whole run with nothing in it."""

    def files(port: str, *steps: str) -> dict[str, Path]:
        return {step: tmp_path / step / ARTIFACTS[port].file for step in steps}

    inputs = {port: tmp_path / "deploy" / ARTIFACTS[port].file for port in ("endpoint", "record")}
    gathered = {
        "injection": files("injection", INJECT),
        "status": files("status", *STEPS),
        **{port: files(port, *MEASURES) for port in ("observations", "ledger", "timeline", "gauges")},
    }
    write_document(inputs["endpoint"], ENDPOINT, IDENTITY, endpoint())
    write_document(inputs["record"], RECORD, IDENTITY, record())
    write_document(gathered["injection"][INJECT], INJECTION, IDENTITY, Injection(phase="block1", status=OK))
    for step in STEPS:
        write_document(gathered["status"][step], STATUS, IDENTITY, StepStatus(step=step, status="ok"))
    for port in ("observations", "ledger", "timeline", "gauges"):
        for step in MEASURES:
            write_lines(gathered[port][step], ARTIFACTS[port], IDENTITY, [])
    return Context("r", None, {}, inputs, {}, gathered)


def end(context: Context, step: str, status: Status) -> None:
    named = StepStatus(step=step, status=status.status, reason=status.reason)
    write_document(context.gathered["status"][step], STATUS, IDENTITY, named)


def files_of(context: Context, port: str, step: str) -> Path:
    """The file that `step` writes at `port`."""
    return context.gathered[port][step] if port in context.gathered else context.inputs[port]


def lose(context: Context, *steps: str) -> None:
    """Everything these steps write but their status."""
    for step, port in WRITTEN:
        if step in steps:
            files_of(context, port, step).unlink()


def test_a_whole_run_has_no_problem(context: Context) -> None:
    gathered = gather(context, IDENTITY)
    assert gathered.problems == ()
    assert set(gathered.phases) == {"baseline", "block1"}
    assert gathered.injections["block1"].status == OK
    assert gathered.opened == record()


WRITTEN = [
    ("deploy", "endpoint"),
    ("deploy", "record"),
    (INJECT, "injection"),
    *((step, port) for step in MEASURES for port in ("observations", "ledger", "timeline", "gauges")),
]


@pytest.mark.parametrize(("step", "port"), WRITTEN)
def test_a_file_that_is_lost_though_its_step_was_ok_is_a_problem(context: Context, step: str, port: str) -> None:
    file = files_of(context, port, step)
    file.unlink()
    (problem,) = gather(context, IDENTITY).problems
    assert problem.startswith(f"{file}: cannot be read: ")


@pytest.mark.parametrize("step", [*MEASURES, INJECT])
def test_empty_files_count_as_ones_that_were_not_written(context: Context, step: str) -> None:
    for writer, port in WRITTEN:
        if writer == step:
            files_of(context, port, step).write_text("")
    (problem,) = gather(context, IDENTITY).problems
    assert problem.endswith("is empty; the step that writes it did not finish")
    end(context, "deploy", failed("no server there"))
    end(context, step, declined("deploy failed"))
    assert gather(context, IDENTITY).problems == ("deploy failed: no server there",)


def test_a_crashed_inject_is_named_once_by_its_injection(context: Context) -> None:
    lose(context, INJECT)
    end(context, INJECT, failed("block1-inject crashed with exit code 1: ValueError; log: L"))
    gathered = gather(context, IDENTITY)
    assert gathered.problems == ()
    assert gathered.injections["block1"].status.reason == "block1-inject crashed with exit code 1: ValueError; log: L"


def test_an_inject_that_crashed_after_it_wrote_its_file_has_failed_all_the_same(context: Context) -> None:
    end(context, INJECT, failed("block1-inject crashed with exit code 1"))
    assert gather(context, IDENTITY).injections["block1"].status.status == "failed"


def test_an_inject_without_a_status_has_failed(context: Context) -> None:
    context.gathered["status"][INJECT].unlink()
    injection = gather(context, IDENTITY).injections["block1"]
    assert injection.status.status == "failed"
    assert str(injection.status.reason).startswith("left no status behind: ")


def test_a_crashed_measure_is_named_once(context: Context) -> None:
    lose(context, "block1-measure")
    end(context, "block1-measure", failed("block1-measure was killed by SIGKILL: (it wrote nothing); log: L"))
    assert gather(context, IDENTITY).problems == ("block1-measure was killed by SIGKILL: (it wrote nothing); log: L",)


def test_a_failed_deploy_is_the_one_cause_of_all_that_follows(context: Context) -> None:
    lose(context, *STEPS)
    end(context, "deploy", failed("no server there"))
    for step in (*MEASURES, INJECT):
        end(context, step, declined("deploy failed"))
    gathered = gather(context, IDENTITY)
    assert gathered.problems == ("deploy failed: no server there",)
    assert gathered.injections["block1"].status == declined("deploy failed")


def test_a_step_that_declined_though_nothing_failed_excuses_no_missing_file(context: Context) -> None:
    lose(context, "block1-measure")
    end(context, "block1-measure", declined("no reason at all"))
    (problem,) = gather(context, IDENTITY).problems
    assert "observations.jsonl: cannot be read" in problem


def test_a_harmed_file_of_a_failed_step_is_still_named(context: Context) -> None:
    end(context, "block1-measure", failed("it broke"))
    context.gathered["ledger"]["block1-measure"].write_text("{")
    problems = gather(context, IDENTITY).problems
    assert problems[0] == "block1-measure failed: it broke"
    assert "ledger.jsonl: ends in the middle of a line" in problems[1]


def test_a_reason_that_names_its_step_is_a_sentence_already() -> None:
    assert sentence("deploy", failed("deploy crashed")) == "deploy crashed"
    assert sentence("deploy", failed("deployment is off")) == "deploy failed: deployment is off"
    assert sentence("deploy", Status(status="declined")) == "deploy declined: it gave no reason"


def test_a_step_that_is_not_ok_is_what_the_next_one_declines_for(context: Context) -> None:
    baseline = context.gathered["status"]["baseline-measure"]
    following = Context("r", None, {}, {"status": baseline}, {})
    assert problem_before(following, IDENTITY) is None
    end(context, "baseline-measure", failed("too late"))
    assert problem_before(following, IDENTITY) == "baseline-measure failed"
    baseline.unlink()
    assert str(problem_before(following, IDENTITY)).startswith("the step before left no status behind: ")
