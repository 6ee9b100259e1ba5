"""What every workflow of this repository must keep. Each rule is a function from a workflow to its breaches."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from gate_rig import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
LOCAL = re.compile(r"uses: \./\.github/workflows/[\w-]+\.yml")
RUN = re.compile(r"(?:\.\./chaosgate/)?(?P<script>scripts/gate/\w+\.(?:py|sh))|make (?P<target>[a-z-]+)")
SECRET = re.compile(r"\$\{\{ github\.event_name == 'push' && github\.ref_protected && secrets\.[\w-]+ \|\| '' \}\}")


@dataclass(frozen=True)
class Workflow:
    """A workflow as text and as data. The loader keeps every scalar as text, so that the key `on` stays one."""

    text: str

    @property
    def data(self) -> dict[str, Any]:
        loaded = yaml.load(self.text, Loader=yaml.BaseLoader)
        assert isinstance(loaded, dict)
        return loaded

    def jobs(self) -> dict[str, dict[str, Any]]:
        return dict(self.data["jobs"])

    def steps(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, job in self.jobs().items():
            for step in job.get("steps", []):
                yield name, step

    def runs(self) -> list[str]:
        return [step["run"] for _, step in self.steps() if "run" in step]


def read(name: str) -> Workflow:
    return Workflow((WORKFLOWS / name).read_text(encoding="utf-8"))


def actions_are_pinned(workflow: Workflow) -> Iterator[str]:
    for line in workflow.text.splitlines():
        words = line.strip().removeprefix("- ")
        if words.startswith("uses:") and not PINNED.fullmatch(words) and not LOCAL.fullmatch(words):
            yield f"not pinned by a full commit with its version: {words}"


def permissions_are_to_read(workflow: Workflow) -> Iterator[str]:
    if workflow.data.get("permissions") != {"contents": "read"}:
        yield "permissions are not `contents: read`"
    yield from (f"{name}: has permissions of its own" for name, job in workflow.jobs().items() if "permissions" in job)


def a_step_is_one_script(workflow: Workflow) -> Iterator[str]:
    for run in workflow.runs():
        match = RUN.fullmatch(run)
        if match is None:
            yield f"is no single script or make target: {run!r}"
        elif match["script"] and not os.access(ROOT / match["script"], os.X_OK):
            yield f"is no script that can be executed: {match['script']}"
        elif match["target"] and not re.search(rf"^{match['target']}:", (ROOT / "Makefile").read_text(), re.MULTILINE):
            yield f"is no make target: {match['target']}"


def jobs_end(workflow: Workflow) -> Iterator[str]:
    for name, job in workflow.jobs().items():
        if "uses" not in job and "timeout-minutes" not in job:
            yield f"{name}: has no timeout"


def credentials_are_dropped(workflow: Workflow) -> Iterator[str]:
    for name, step in workflow.steps():
        if "actions/checkout@" in step.get("uses", "") and step.get("with", {}).get("persist-credentials") != "false":
            yield f"{name}: a checkout keeps its credentials"


def pull_requests_are_not_trusted(workflow: Workflow) -> Iterator[str]:
    for trigger in ("pull_request_target", "workflow_run", "issue_comment"):
        if trigger in workflow.text:
            yield f"runs with the rights of the repository on what others send: {trigger}"


def secrets_are_for_protected_branches(workflow: Workflow) -> Iterator[str]:
    if re.search(r"secrets:\s*inherit", workflow.text):
        yield "hands all secrets on"
    for line in workflow.text.splitlines():
        if "secrets." in line and not SECRET.search(line):
            yield f"a secret outside of pushes to protected branches: {line.strip()}"
    if re.search(r"secrets\s*\[|toJSON\(\s*secrets", workflow.text):
        yield "a secret that is not named"


def nothing_is_forgiven(workflow: Workflow) -> Iterator[str]:
    if "continue-on-error" in workflow.text:
        yield "a failure may pass: continue-on-error"
    for name, job in workflow.jobs().items():
        if "if" in job and name != list(workflow.jobs())[-1]:
            yield f"{name}: may be skipped: if"


def runs_give_way(workflow: Workflow) -> Iterator[str]:
    concurrency = workflow.data.get("concurrency", {})
    if "github.event_name == 'pull_request' && github.ref || github.run_id" not in concurrency.get("group", ""):
        yield "no concurrency group of a pull request, or one that pushes share"
    if concurrency.get("cancel-in-progress") != "${{ github.event_name == 'pull_request' }}":
        yield "runs of pushes may be cancelled"


def the_last_job_needs_all(workflow: Workflow) -> Iterator[str]:
    *others, last = workflow.jobs().items()
    name, job = last
    needs = job.get("needs", [])
    if sorted([needs] if isinstance(needs, str) else needs) != sorted(other for other, _ in others):
        yield f"{name}: does not need every other job"
    if job.get("if") != "always()":
        yield f"{name}: does not run always"
    steps = [step for step in job.get("steps", []) if "run" in step]
    if [step["run"] for step in steps] != ["scripts/gate/all_green.py"]:
        yield f"{name}: does not look at the results"
    elif steps[0].get("env") != {"NEEDS": "${{ toJSON(needs) }}"}:
        yield f"{name}: does not see the results"


RULES: tuple[Callable[[Workflow], Iterator[str]], ...] = (
    actions_are_pinned,
    permissions_are_to_read,
    a_step_is_one_script,
    jobs_end,
    credentials_are_dropped,
    pull_requests_are_not_trusted,
    secrets_are_for_protected_branches,
    nothing_is_forgiven,
    runs_give_way,
    the_last_job_needs_all,
)


def breaches(workflow: Workflow) -> list[str]:
    """Every breach of every rule."""
    return [breach for rule in RULES for breach in rule(workflow)]


def names() -> list[str]:
    """The workflows there are."""
    return sorted(path.name for path in WORKFLOWS.iterdir())
