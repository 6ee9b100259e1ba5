"""The job `drill`: what is due and chosen is drilled, its reports are kept, and the worst verdict is the exit code."""

from __future__ import annotations

import signal
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gate_rig import FakeChaosgate, GitRepository, spec
from job_rig import Job
from small_drill import eventually


@pytest.fixture
def job(repository: GitRepository, fake: FakeChaosgate, tmp_path: Path) -> Job:
    return Job(repository, "gate_drill.py", tmp_path / "out")


def kept(job: Job) -> list[str]:
    return sorted(str(path.relative_to(job.out / "drills")) for path in job.out.rglob("drills/**/*") if path.is_file())


def test_a_pass_is_kept_with_its_reports(job: Job, fake: FakeChaosgate) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec("good")})
    done = job.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("chaosgate: drill of chaos-specs/a.yaml\nchaosgate: chaos-specs/a.yaml: pass, exit code 0\n")
    assert kept(job) == [f"chaos-specs/a.yaml/{name}" for name in ("junit.xml", "report.html", "report.md")]
    assert (job.out / "drills/chaos-specs/a.yaml/junit.xml").read_text() == "junit of good\n"
    assert "## Drills: 1 of 1 specs that are due\n" in job.summary
    assert "| chaos-specs/a.yaml | pass | 0 | because of good |\n" in job.summary
    assert job.summary.endswith("markdown of good\n\n")


@pytest.mark.parametrize("name", ["::add-mask::a", "a##[add-mask]b", "::set-output name=a::b##[error]c"])
def test_the_name_of_a_file_is_no_command_to_the_runner(job: Job, name: str) -> None:
    job.repository.commit({name: spec("good")})
    done = job.run(specs="**")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.lstrip().startswith("::") or "##[" in line] == []
    assert "drill of" in done.stdout


def test_the_runs_are_no_part_of_what_is_kept(job: Job, fake: FakeChaosgate) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec()})
    job.run()
    assert {call["state"] for call in fake.calls()} == {str(job.out / "state")}


@pytest.mark.parametrize(
    ("answers", "code"),
    [((0, 0), 0), ((0, 1), 1), ((3, 0), 3), ((1, 3), 1), ((1, 4), 4), ((0, 2), 2)],
)
def test_the_worst_verdict_is_the_exit_code_and_every_spec_is_drilled(
    job: Job, fake: FakeChaosgate, answers: tuple[int, int], code: int
) -> None:
    job.repository.commit({f"chaos-specs/{n}.yaml": spec(f"n{n}", f"answer: {one}") for n, one in enumerate(answers)})
    done = job.run()
    assert done.returncode == code
    assert [one for one in fake.commands() if one.startswith("run")] == [
        "run chaos-specs/0.yaml",
        "run chaos-specs/1.yaml",
    ]


def test_a_no_is_shown_at_its_spec(job: Job) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec("bad", "answer: 1")})
    done = job.run()
    assert "::error file=chaos-specs/a.yaml,line=1,title=chaosgate::fail: because of bad\n" in done.stdout
    assert "| chaos-specs/a.yaml | fail | 1 | because of bad |\n" in job.summary


def test_an_exit_code_that_the_outcome_denies_is_no_pass(job: Job) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec("bad", "claims: 0\nanswer: 1")})
    assert job.run().returncode == 3


def test_what_is_not_chosen_is_named(job: Job, fake: FakeChaosgate) -> None:
    job.repository.commit(
        {"chaos-specs/a.yaml": spec("a", "suite: quickstart"), "chaos-specs/b.yaml": spec("b", "answer: 1")}
    )
    assert job.run(run="label=suite:quickstart").returncode == 0
    assert "run chaos-specs/b.yaml" not in fake.commands()
    assert "| valid, not chosen by label=suite:quickstart |\n| --- |\n| chaos-specs/b.yaml |\n" in job.summary


def test_an_invalid_spec_fails_the_job_even_if_nothing_is_chosen(job: Job) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec(more="broken")})
    done = job.run(run="none")
    assert done.returncode == 2
    assert "::error file=chaos-specs/a.yaml,line=4,col=1,title=chaosgate::spec: read 'broken'\n" in done.stdout
    assert "| chaos-specs/a.yaml | invalid | 2 | " in job.summary


def test_a_drill_without_a_run_leaves_junit_in_error(job: Job) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec(more="crash: run")})
    assert job.run().returncode == 3
    assert kept(job) == ["chaos-specs/a.yaml/junit.xml"]
    suite = ElementTree.parse(job.out / "drills/chaos-specs/a.yaml/junit.xml").getroot()
    assert suite.attrib == {
        "name": "chaos-specs/a.yaml",
        "tests": "1",
        "failures": "0",
        "errors": "1",
        "skipped": "0",
    }
    error = suite.find("testcase/error")
    assert error is not None
    assert error.attrib["message"].startswith("no outcome: exit code 1: Traceback")


def test_a_report_that_cannot_be_written_is_said_in_junit(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NO_REPORT", "1")
    job.repository.commit({"chaos-specs/a.yaml": spec()})
    assert job.run().returncode == 0
    assert kept(job) == ["chaos-specs/a.yaml/junit.xml", "chaos-specs/a.yaml/report.html"]
    assert "no report: exit code 3: no report today" in (job.out / "drills/chaos-specs/a.yaml/junit.xml").read_text()


def test_a_signal_ends_the_drill_in_order(job: Job, fake: FakeChaosgate) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec("a", "hang"), "chaos-specs/b.yaml": spec("b")})
    process = job.start()
    eventually(lambda: "run chaos-specs/a.yaml" in fake.commands(), "the first drill")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "| chaos-specs/a.yaml | error | 143 | no outcome: exit code 143: no output |\n" in job.summary
    assert "| chaos-specs/b.yaml | error | 143 | not drilled: interrupted by SIGTERM |\n" in job.summary
    assert "run chaos-specs/b.yaml" not in fake.commands()
