"""The one exit code of a run: what wins over what."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from chaosgate.artifacts import SEAL, VERDICT, Identity, write_document
from chaosgate.model.result import EXIT_CODES, Cleanup, Reason, Verdict, VerdictName
from chaosgate.run.outcome import Outcome, read_outcome

CLEAN = Cleanup(clean=True, actions=())
UNCLEAN = Cleanup(clean=False, actions=(), left=("fault slow-wire is still on",))


def verdict(name: VerdictName) -> Verdict:
    return Verdict(verdict=name, reasons=(Reason(verdict=name, text="because"),))


def outcome(
    name: VerdictName | None, cleanup: Cleanup | None = CLEAN, gate: int | None = None, number: int | None = None
) -> Outcome:
    return Outcome("r", Path(), None if name is None else verdict(name), cleanup, gate, number)


@pytest.mark.parametrize(("name", "code"), EXIT_CODES.items())
def test_a_clean_run_ends_with_its_verdicts_code(name: VerdictName, code: int) -> None:
    assert outcome(name, gate=code).exit_code == code


@pytest.mark.parametrize("cleanup", [UNCLEAN, None])
@pytest.mark.parametrize("name", ["pass", "fail", "inconclusive", "error", None])
@pytest.mark.parametrize("number", [None, signal.SIGINT])
def test_an_unclean_or_missing_seal_wins_over_everything(
    name: VerdictName | None, cleanup: Cleanup | None, number: int | None
) -> None:
    gate = EXIT_CODES[name] if name else None
    assert outcome(name, cleanup, gate, number).exit_code == 4


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_wins_over_the_verdict(number: int, code: int) -> None:
    assert outcome("pass", gate=0, number=number).exit_code == code


def test_no_verdict_is_an_error() -> None:
    assert outcome(None).exit_code == 3


@pytest.mark.parametrize("gate", [None, 1, -9])
def test_a_gate_that_did_not_answer_as_the_verdict_says_is_an_error(gate: int | None) -> None:
    assert outcome("pass", gate=gate).exit_code == 3


def test_files_of_another_run_count_as_missing(tmp_path: Path) -> None:
    write_document(tmp_path / "conclude" / "verdict.json", VERDICT, Identity("other", "d"), verdict("pass"))
    write_document(tmp_path / "cleanup" / "cleanup.json", SEAL, Identity("mine", "d"), CLEAN)
    read = read_outcome("mine", tmp_path, 0, None)
    assert read.verdict is None
    assert read.cleanup == CLEAN
    assert read.exit_code == 3


def test_a_carrier_that_could_not_do_its_work_never_ends_with_the_verdicts_code() -> None:
    ended = Outcome("r", Path(), verdict("pass"), CLEAN, 0, None, ("logs: cannot be written: No space left",))
    assert ended.exit_code == 3
