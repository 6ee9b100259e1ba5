"""The job `plan`: what is due is validated and compiled, and every problem is shown at its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_rig import FakeChaosgate, GitRepository, spec
from job_rig import Job


@pytest.fixture
def job(repository: GitRepository, fake: FakeChaosgate, tmp_path: Path) -> Job:
    return Job(repository, "gate_plan.py", tmp_path / "out")


def pipelines(job: Job) -> list[str]:
    return sorted(str(path.relative_to(job.out)) for path in job.out.rglob("pipelines/**/*") if path.is_file())


def test_what_is_due_is_validated_and_compiled(job: Job, fake: FakeChaosgate) -> None:
    base = job.repository.commit({"chaos-specs/a.yaml": spec(), "chaos-specs/two words.yaml": spec()})
    job.repository.commit({"chaos-specs/two words.yaml": spec("two"), "chaos-specs/b|c.yaml": spec("bc")})
    done = job.run(base)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert fake.commands()[0] == "validate chaos-specs/two words.yaml"
    assert [name for name in pipelines(job) if "two" in name] == [
        "pipelines/chaos-specs/two words.yaml/argo.yaml",
        "pipelines/chaos-specs/two words.yaml/kfp.yaml",
    ]
    assert len(pipelines(job)) == 4
    assert "## Chaos specs: 2 of 3 due\n" in job.summary
    assert "| chaos-specs/two words.yaml | changed | yes | compiled | compiled |\n" in job.summary
    assert "| chaos-specs/b\\|c.yaml | added | yes | compiled | compiled |\n" in job.summary


def test_where_nothing_is_due_nothing_is_called(job: Job, fake: FakeChaosgate) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec()})
    done = job.run("HEAD")
    assert (done.returncode, done.stdout) == (0, "")
    assert fake.calls() == []
    assert job.summary == "## Chaos specs: 0 of 1 due\n\n"


def test_a_problem_is_shown_at_its_line_and_the_spec_is_not_compiled(job: Job, fake: FakeChaosgate) -> None:
    job.repository.commit({"chaos-specs/a,b.yaml": spec(more="a: 100 % broken"), "chaos-specs/good.yaml": spec()})
    done = job.run()
    assert done.returncode == 2
    assert done.stdout == (
        "::error file=chaos-specs/a%2Cb.yaml,line=4,col=1,title=chaosgate::spec: read 'a: 100 %25 broken'\n"
    )
    assert pipelines(job) == [f"pipelines/chaos-specs/good.yaml/{carrier}.yaml" for carrier in ("argo", "kfp")]
    assert "| chaos-specs/a,b.yaml | nothing to compare with: the first push of this branch | 1 problems | - | - |" in (
        job.summary
    )
    assert "| chaos-specs/a,b.yaml:4:1 spec: read 'a: 100 % broken' |\n" in job.summary


def test_what_does_not_compile_is_shown(job: Job) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec(more="uncompilable: kfp")})
    done = job.run()
    assert done.returncode == 2
    why = "exit code 2: cannot be compiled for kfp"
    assert done.stdout == f"::error file=chaos-specs/a.yaml,line=1,title=chaosgate::does not compile for kfp: {why}\n"
    assert f"| yes | compiled | no: {why} |\n" in job.summary
    assert job.run(carrier="argo").returncode == 0


def test_one_carrier_alone(job: Job) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec()})
    assert job.run(carrier="kfp").returncode == 0
    assert pipelines(job) == ["pipelines/chaos-specs/a.yaml/kfp.yaml"]


def test_a_removed_spec_is_listed_and_not_validated(job: Job, fake: FakeChaosgate) -> None:
    base = job.repository.commit({"chaos-specs/a.yaml": spec(more="broken")})
    job.repository.commit({"chaos-specs/a.yaml": None})
    assert job.run(base).returncode == 0
    assert fake.calls() == []
    assert "| removed |\n| --- |\n| chaos-specs/a.yaml |\n" in job.summary


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"carrier": "tekton"}, "::error title=chaosgate::carrier: read 'tekton'; allowed: argo, kfp, both\n"),
        (
            {"head": "nowhere"},
            "::error title=chaosgate::head: 'nowhere' is no commit here; name one that `git log` shows\n",
        ),
    ],
)
def test_what_keeps_the_job_from_its_work_is_an_annotation(job: Job, settings: dict[str, str], said: str) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec()})
    done = job.run(**settings)
    assert (done.returncode, done.stdout) == (2, said)


def test_a_crash_of_chaosgate_fails_the_job(job: Job) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec(more="crash: validate")})
    done = job.run()
    assert done.returncode == 2
    assert "::error title=chaosgate::chaosgate validate gave no answer: exit code 1: Traceback" in done.stdout


def test_chaosgate_must_be_installed(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job.repository.commit({"chaos-specs/a.yaml": spec()})
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = job.run()
    assert done.returncode == 2
    assert "the command 'chaosgate' was not found; install chaosgate" in done.stdout
