"""What the pages on extending chaosgate promise, by the packages that they write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_drill import environment
from strangers import PACKAGES, Webhook

from chaosgate.artifacts import VERDICT, Identity, write_document
from chaosgate.model.result import Reason, Verdict

RUN = "drill-20250301-101500-a1b2c3"
FAILED = Verdict(verdict="fail", reasons=(Reason(verdict="fail", text="answers: error-rate is 26 %, breaks <= 5 %"),))
PASSED = Verdict(verdict="pass", reasons=())


def python(installed: Path, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages on its path."""
    blocked = environment()["PYTHONPATH"]
    env = environment(**variables, PYTHONPATH=os.pathsep.join([str(installed), blocked]))
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)


def chaosgate(installed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the command with the packages on its path."""
    return python(installed, "-m", "chaosgate.cli.main", *words)


@pytest.mark.slow
@pytest.mark.parametrize("package", sorted(folder.name for folder in PACKAGES.iterdir()))
def test_a_package_keeps_the_contract_by_its_own_tests(package: str, installed: Path, tmp_path: Path) -> None:
    (test,) = (PACKAGES / package).glob("test_*.py")
    shutil.copy(test, tmp_path)
    done = python(installed, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", tmp_path, tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.slow
def test_the_catalogue_lists_the_kinds_of_the_packages(installed: Path) -> None:
    done = chaosgate(installed, "catalogue", "-o", "json")
    assert done.returncode == 0, done.stderr
    listed = {row["name"]: (row["sort"], row["status"]) for row in json.loads(done.stdout)}
    assert listed["acme.hung-replica"] == ("fault", "plug-in")
    assert listed["acme-stall"] == ("sli", "plug-in")
    assert listed["acme.notify"] == ("component", "plug-in")
    assert listed["wire.latency"] == ("fault", "built-in")


@pytest.mark.slow
def test_without_the_packages_their_kinds_are_not_known(tmp_path: Path) -> None:
    done = chaosgate(tmp_path, "validate", *sorted(PACKAGES.glob("*/*.yaml")))
    assert done.returncode == 2
    assert "unknown fault kind 'acme.hung-replica'" in done.stderr
    assert "unknown SLI 'acme-stall-p95'" in done.stderr
    assert "unknown component 'acme.notify'" in done.stderr


@pytest.mark.slow
def test_every_spec_of_the_packages_validates_and_plans(installed: Path) -> None:
    files = sorted(PACKAGES.glob("*/*.yaml"))
    assert chaosgate(installed, "validate", *files).returncode == 0
    for spec in (file for file in files if file.name != "team.yaml"):
        done = chaosgate(installed, "plan", spec, "--profile", PACKAGES / "acme-notify" / "team.yaml")
        assert done.returncode == 0, done.stderr
        assert "acme.notify" in done.stdout


def notify(
    installed: Path, folder: Path, verdict: Verdict, when: str = "always", url: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run acme.notify as a carrier does."""
    file = folder / "verdict.json"
    write_document(file, VERDICT, Identity(RUN, "sha256:0"), verdict)
    words = ["-m", "chaosgate.components", "acme.notify", "--run", RUN, "--mention", "@oncall", "--when", when]
    variables = {} if url is None else {"ACME_WEBHOOK": url}
    return python(installed, *words, "--verdict", file, **variables)


@pytest.mark.slow
def test_notify_tells_the_verdict_and_why(installed: Path, tmp_path: Path, webhook: Webhook) -> None:
    assert notify(installed, tmp_path, FAILED, url=webhook.url).returncode == 0
    assert webhook.posted == [{"text": f"@oncall {RUN}: fail\n- fail: answers: error-rate is 26 %, breaks <= 5 %"}]


@pytest.mark.slow
def test_notify_is_silent_when_all_is_well(installed: Path, tmp_path: Path, webhook: Webhook) -> None:
    assert notify(installed, tmp_path, PASSED, "trouble", webhook.url).returncode == 0
    assert webhook.posted == []
    assert notify(installed, tmp_path, PASSED, "always", webhook.url).returncode == 0
    assert len(webhook.posted) == 1


@pytest.mark.slow
def test_notify_says_what_keeps_it_from_telling(installed: Path, tmp_path: Path, webhook: Webhook) -> None:
    webhook.status = 403
    refused = notify(installed, tmp_path, FAILED, url=webhook.url)
    assert (refused.returncode, refused.stderr) == (
        3,
        "acme.notify: ACME_WEBHOOK: the message was not delivered: HTTP Error 403: Forbidden\n",
    )
    unset = notify(installed, tmp_path, FAILED)
    assert (unset.returncode, unset.stderr) == (
        2,
        "acme.notify: ACME_WEBHOOK names no webhook; set it to the webhook's URL\n",
    )
    wrong = notify(installed, tmp_path, FAILED, "sometimes", webhook.url)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "acme.notify: when: read 'sometimes'; write always or trouble\n",
    )
