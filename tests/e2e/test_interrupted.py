"""SIGINT and SIGTERM to a running drill: its exit code says so, and everything is cleaned up."""

from __future__ import annotations

import signal
import time

import pytest
from small_drill import Drill, Start, eventually

pytestmark = pytest.mark.slow

MOMENTS = {
    "deploy": lambda drill: drill.step("deploy"),
    "engine starts": lambda drill: drill.process("engine"),
    "baseline": lambda drill: drill.step("baseline-measure"),
    "window": lambda drill: drill.fault_on(),
}


def check_interrupted(drill: Drill, code: int) -> None:
    ended, output = drill.finish()
    assert ended == code, output
    seal = drill.seal()
    assert seal is not None
    assert seal.clean, seal
    assert "cleanup: clean, nothing left behind" in output
    assert f"verdict: error: interrupted by {signal.Signals(code - 128).name} before there was a verdict" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("deploy", signal.SIGINT),
        ("engine starts", signal.SIGTERM),
        ("baseline", signal.SIGINT),
        ("window", signal.SIGTERM),
    ],
)
def test_a_signal_ends_the_run_and_cleans_up(start: Start, moment: str, number: signal.Signals) -> None:
    drill = start()
    MOMENTS[moment](drill)
    drill.child.send_signal(number)
    check_interrupted(drill, 128 + number)


def test_a_second_signal_does_not_stop_the_cleanup(start: Start) -> None:
    drill = start()
    drill.process("gateway")
    drill.child.send_signal(signal.SIGINT)
    drill.child.send_signal(signal.SIGTERM)
    drill.step("cleanup")
    drill.child.send_signal(signal.SIGINT)
    time.sleep(0.1)
    if drill.child.poll() is None:
        drill.child.send_signal(signal.SIGTERM)
    check_interrupted(drill, 128 + signal.SIGINT)


def test_what_was_interrupted_says_so(start: Start) -> None:
    drill = start()
    drill.step("baseline-measure")
    drill.child.send_signal(signal.SIGTERM)
    check_interrupted(drill, 128 + signal.SIGTERM)
    status = eventually((drill.folder / "baseline-measure" / "status.json").read_text, "the status")
    assert "baseline-measure was ended by SIGTERM" in status
    assert drill.record().reasons[0].text == "not finished"


@pytest.mark.thorough
def test_a_reader_that_leaves_does_not_end_the_run(start: Start) -> None:
    drill = start()
    assert drill.child.stdout is not None
    drill.child.stdout.readline()
    drill.child.stdout.close()
    code = drill.child.wait(100)
    assert code == drill.verdict().exit_code
    seal = drill.seal()
    assert seal is not None
    assert seal.clean
