"""A part of a drill is killed with SIGKILL: the run ends, never with a pass, and nothing stays behind."""

from __future__ import annotations

import signal

import pytest
from small_drill import Drill, Start, environment, eventually

from chaosgate.artifacts import INJECTION, RECORDING
from chaosgate.model.load import load_spec
from chaosgate.tracking.location import tracking_uri

pytestmark = pytest.mark.slow


def texts(drill: Drill) -> list[str]:
    return [reason.text for reason in drill.verdict().reasons if reason.verdict != "pass"]


def check_ended(drill: Drill) -> str:
    """Exit code 3, a verdict that is not pass, a clean seal; returns the output."""
    code, output = drill.finish()
    assert code == 3, output
    assert drill.verdict().verdict in ("error", "inconclusive")
    seal = drill.seal()
    assert seal is not None
    assert seal.clean, seal
    assert "Traceback" not in output
    return output


@pytest.mark.thorough
def test_a_killed_injector_leaves_no_fault_and_is_named_once(start: Start) -> None:
    drill = start()
    drill.fault_on()
    drill.kill("step-block1-inject")
    eventually(lambda: not drill.active(), "the end of the fault", 15)
    check_ended(drill)
    named = [text for text in texts(drill) if "block1-inject" in text]
    assert named == [
        "injection failed in block1: block1-inject was killed by SIGKILL: (it wrote nothing); "
        f"log: {drill.folder}/logs/step-block1-inject.log"
    ]
    assert drill.verdict().verdict == "error"


@pytest.mark.thorough
def test_an_injector_that_is_asked_to_end_takes_its_fault_off(start: Start) -> None:
    drill = start(hold="2s")
    drill.fault_on()
    drill.kill("step-block1-inject", signal.SIGTERM)
    # By itself the fault would live for 5 s more.
    eventually(lambda: not drill.active(), "the end of the fault", 2)
    check_ended(drill)
    assert "injection failed in block1: it was ended by SIGTERM before its sweep was over" in texts(drill)


@pytest.mark.thorough
def test_without_its_sweeper_a_run_injects_nothing(start: Start) -> None:
    drill = start()
    drill.step("baseline-measure")
    drill.kill("sweeper")
    check_ended(drill)
    reason = "the sweeper is gone; nothing is injected without it"
    assert drill.document("block1-inject", INJECTION).status.reason == reason
    assert any(reason in text for text in texts(drill)), texts(drill)


@pytest.mark.thorough
def test_requests_to_a_killed_engine_are_errors_that_halt_the_run(start: Start) -> None:
    drill = start(hold="800ms")
    drill.fault_on()
    drill.kill("engine")
    check_ended(drill)
    halts = [text for text in texts(drill) if text.startswith("the run was halted in block1: ")]
    assert len(halts) == 1, texts(drill)
    assert "error-rate" in halts[0]


@pytest.mark.thorough
def test_a_killed_gateway_ends_the_load_at_once(start: Start) -> None:
    drill = start()
    drill.fault_on()
    drill.kill("gateway")
    check_ended(drill)
    failed = [text for text in texts(drill) if text.startswith("block1-measure failed: ")]
    assert len(failed) == 1, texts(drill)
    assert "check the gateway" in failed[0]


@pytest.mark.parametrize("moment", ["deploy", "window"])
def test_a_killed_runner_is_swept_up_after(start: Start, moment: str) -> None:
    drill = start()
    if moment == "window":
        drill.fault_on()
    else:
        drill.process("sweeper")
    drill.child.kill()
    seal = eventually(drill.seal, "the seal", 30)
    assert seal.clean, seal
    eventually(lambda: not drill.left(), "the end of every process", 15)
    record = drill.record()
    assert (record.verdict, record.reasons[0].text) == ("error", "not finished")


@pytest.mark.thorough
def test_a_run_whose_runner_was_killed_is_recorded_as_an_error(start: Start) -> None:
    pytest.importorskip("mlflow")
    drill = start(env=environment(mlflow=True))
    drill.fault_on()
    drill.child.kill()
    recording = eventually(lambda: recorded(drill), "the record in MLflow")
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri(load_spec(drill.spec), drill.state))
    tags = client.get_run(recording).data.tags
    assert (tags["chaosgate.run"], tags["chaosgate.verdict"]) == (drill.run, "error")
    assert tags["chaosgate.reason"] == "not finished"
    eventually(lambda: client.get_run(recording).data.tags["chaosgate.seal"] == "clean", "the seal in MLflow")
    eventually(lambda: not drill.left(), "the end of every process", 15)


def recorded(drill: Drill) -> str | None:
    if not (drill.folder / "conclude" / "recording.json").exists():
        return None
    found: str | None = drill.document("conclude", RECORDING).mlflow_run
    return found
