"""What conclude is told of a run that went wrong: each cause once, and never less than an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.artifacts import ARTIFACTS, ENDPOINT, INJECTION, RECORD, STATUS, Identity, write_document, write_lines
from chaosgate.components.definition import Context
from chaosgate.components.gathering import gather
from chaosgate.components.inputs import first_problem, sentence
from chaosgate.model.result import Endpoint, Injection, Reason, Record, SecretRef, Status, Subject

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

    inputs = {
        "endpoint": files("endpoint", "deploy"),
        "record": files("record", "deploy"),
        "injection": files("injection", INJECT),
        "status": files("status", *STEPS),
        **{port: files(port, *MEASURES) for port in ("observations", "ledger", "timeline", "gauges")},
    }
    write_document(inputs["endpoint"]["deploy"], ENDPOINT, IDENTITY, endpoint())
    write_document(inputs["record"]["deploy"], RECORD, IDENTITY, record())
    write_document(inputs["injection"][INJECT], INJECTION, IDENTITY, Injection(phase="block1", status=OK))
    for step in STEPS:
        write_document(inputs["status"][step], STATUS, IDENTITY, OK)
    for port in ("observations", "ledger", "timeline", "gauges"):
        for step in MEASURES:
            write_lines(inputs[port][step], ARTIFACTS[port], IDENTITY, [])
    return Context("r", None, {}, inputs, {})


def end(context: Context, step: str, status: Status) -> None:
    write_document(context.inputs["status"][step], STATUS, IDENTITY, status)


def lose(context: Context, *steps: str) -> None:
    """Everything these steps write but their status."""
    for port, files in context.inputs.items():
        for step in steps:
            if port != "status" and step in files:
                files[step].unlink()


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
    context.inputs[port][step].unlink()
    (problem,) = gather(context, IDENTITY).problems
    assert problem.startswith(f"{context.inputs[port][step]}: cannot be read: ")


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
    context.inputs["status"][INJECT].unlink()
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
    context.inputs["ledger"]["block1-measure"].write_text("{")
    problems = gather(context, IDENTITY).problems
    assert problems[0] == "block1-measure failed: it broke"
    assert "ledger.jsonl: ends in the middle of a line" in problems[1]


def test_a_reason_that_names_its_step_is_a_sentence_already() -> None:
    assert sentence("deploy", failed("deploy crashed")) == "deploy crashed"
    assert sentence("deploy", failed("deployment is off")) == "deploy failed: deployment is off"
    assert sentence("deploy", Status(status="declined")) == "deploy declined: it gave no reason"


def test_the_first_step_that_is_not_ok_is_what_the_next_one_declines_for(context: Context) -> None:
    assert first_problem(context.inputs["status"], IDENTITY) is None
    end(context, "baseline-measure", failed("too late"))
    assert first_problem(context.inputs["status"], IDENTITY) == "baseline-measure failed"
