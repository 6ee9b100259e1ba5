"""The workflows keep their rules, and every rule has a broken twin that it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import workflow_rules
from gate_rig import ROOT
from gate_settings import CARRIERS, MOST_MINUTES, NAMES
from spec_selection import parse_selection
from workflow_rules import RULES, Workflow, breaches, names, read

CI, GATE = "ci.yml", "chaos-gate.yml"
CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"


def test_the_workflows_there_are() -> None:
    assert names() == [GATE, CI, "cluster.yml"]


@pytest.mark.parametrize("name", [CI, GATE])
def test_a_workflow_keeps_every_rule(name: str) -> None:
    assert breaches(read(name)) == []


TWINS = [
    ("actions_are_pinned", CI, CHECKOUT, "actions/checkout@v7", "not pinned by a full commit with its version: "),
    ("actions_are_pinned", CI, " # v7.0.1", "", "not pinned by a full commit with its version: "),
    ("actions_are_pinned", CI, "./.github/workflows/chaos-gate.yml", "o/r/.github/workflows/x.yml@main", "not pinned"),
    ("permissions_are_to_read", CI, "contents: read", "contents: write", "permissions are not `contents: read`"),
    ("permissions_are_to_read", CI, "permissions:\n  contents: read\n", "", "permissions are not `contents: read`"),
    (
        "permissions_are_to_read",
        CI,
        "    name: test\n",
        "    name: test\n    permissions: {id-token: write}\n",
        "test: has permissions of its own",
    ),
    ("a_step_is_one_script", CI, "run: make check", "run: make check && make test", "is no single script"),
    ("a_step_is_one_script", CI, "run: make check", "run: echo ${{ github.head_ref }}", "is no single script"),
    ("a_step_is_one_script", CI, "run: make check", "run: make chek", "is no make target: chek"),
    ("a_step_is_one_script", GATE, "gate_plan.py", "gate_plain.py", "is no script that can be executed: scripts/gate/"),
    ("jobs_end", CI, "    timeout-minutes: 60\n", "", "test: has no timeout"),
    (
        "credentials_are_dropped",
        CI,
        "persist-credentials: false",
        "persist-credentials: true",
        "check: a checkout keeps",
    ),
    ("credentials_are_dropped", GATE, "          persist-credentials: false\n", "", "plan: a checkout keeps"),
    ("pull_requests_are_not_trusted", CI, "  pull_request:", "  pull_request_target:", "runs with the rights of"),
    (
        "secrets_are_for_protected_branches",
        GATE,
        "github.event_name == 'push' && github.ref_protected && ",
        "",
        "a secret outside of pushes to protected branches: MLFLOW_TRACKING_TOKEN",
    ),
    (
        "secrets_are_for_protected_branches",
        GATE,
        "&& github.ref_protected ",
        "",
        "a secret outside of pushes to protected branches: MLFLOW_TRACKING_TOKEN",
    ),
    (
        "secrets_are_for_protected_branches",
        CI,
        "    with:\n      # The",
        "    secrets: inherit\n    with:\n      # The",
        "hands all secrets on",
    ),
    (
        "secrets_are_for_protected_branches",
        CI,
        "NEEDS: ${{ toJSON(needs) }}",
        "NEEDS: ${{ toJSON(secrets) }}",
        "a secret that is not named",
    ),
    (
        "nothing_is_forgiven",
        CI,
        "run: make test\n",
        "run: make test\n        continue-on-error: true\n",
        "a failure may pass: continue-on-error",
    ),
    ("nothing_is_forgiven", GATE, "    needs: plan\n", "    needs: plan\n    if: false\n", "drill: may be skipped: if"),
    ("runs_give_way", CI, "|| github.run_id", "|| github.ref", "no concurrency group of a pull request"),
    (
        "runs_give_way",
        CI,
        "cancel-in-progress: ${{ github.event_name == 'pull_request' }}",
        "cancel-in-progress: true",
        "runs of pushes may be cancelled",
    ),
    (
        "the_last_job_needs_all",
        CI,
        "needs: [check, test, drill, chaos-gate]",
        "needs: [check]",
        "all-green: does not need",
    ),
    ("the_last_job_needs_all", CI, "    if: always()\n", "", "all-green: does not run always"),
    (
        "the_last_job_needs_all",
        CI,
        "scripts/gate/all_green.py",
        "make check",
        "all-green: does not look at the results",
    ),
    ("the_last_job_needs_all", CI, "NEEDS: ${{ toJSON(needs) }}", "NEEDS: '{}'", "all-green: does not see the results"),
]


@pytest.mark.parametrize(("rule", "name", "good", "bad", "breach"), TWINS)
def test_a_broken_twin_is_refused(rule: str, name: str, good: str, bad: str, breach: str) -> None:
    text = read(name).text
    assert good in text
    found = list(getattr(workflow_rules, rule)(Workflow(text.replace(good, bad, 1))))
    assert [one for one in found if one.startswith(breach)] != [], found


def test_every_rule_has_a_twin() -> None:
    assert {rule for rule, *_ in TWINS} == {rule.__name__ for rule in RULES}


def test_every_script_of_a_step_is_executed_by_a_test() -> None:
    scripts = {
        match["script"] for name in names() for run in read(name).runs() if (match := workflow_rules.RUN.fullmatch(run))
    }
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert scripts - {None} == {
        f"scripts/gate/{name}" for name in ("all_green.py", "gate_drill.py", "gate_plan.py", "install_chaosgate.sh")
    }
    assert all(f'"{Path(script).name}"' in tests for script in scripts if script)


def test_the_settings_of_a_job_are_those_that_its_script_reads() -> None:
    gate = read(GATE)
    for name in ("plan", "drill"):
        (step,) = [one for job, one in gate.steps() if job == name and "gate_" in one.get("run", "")]
        given = {*gate.data["env"], *step["env"]} - {"MLFLOW_TRACKING_TOKEN"}
        assert given == {f"GATE_{one.upper()}" for one in NAMES}


def test_every_input_is_declared_and_used() -> None:
    gate = read(GATE)
    declared = set(gate.data["on"]["workflow_call"]["inputs"])
    assert set(re.findall(r"inputs\.([\w-]+)", gate.text)) == declared
    secrets = set(gate.data["on"]["workflow_call"]["secrets"])
    assert set(re.findall(r"secrets\.([\w-]+)", gate.text)) == secrets
    assert set(read(CI).jobs()["chaos-gate"]["with"]) <= declared


def test_no_secret_is_required() -> None:
    secrets = read(GATE).data["on"]["workflow_call"]["secrets"]
    assert {name: secret["required"] for name, secret in secrets.items()} == {"mlflow-token": "false"}


def test_the_defaults_are_allowed() -> None:
    inputs = read(GATE).data["on"]["workflow_call"]["inputs"]
    assert inputs["carrier"]["default"] in CARRIERS
    assert f"1 to {MOST_MINUTES}" in inputs["minutes"]["description"]
    assert int(read(GATE).jobs()["drill"]["timeout-minutes"]) > MOST_MINUTES
    for words in (inputs["run"]["default"], read(CI).jobs()["chaos-gate"]["with"]["run"]):
        assert parse_selection(words).every


def test_this_repository_drills_a_scenario_of_its_own() -> None:
    selection = parse_selection(read(CI).jobs()["chaos-gate"]["with"]["run"])
    labels = [path.read_text() for path in (ROOT / "chaos-specs").rglob("*.yaml")]
    assert selection.terms == (("label", "suite:quickstart"),)
    assert sum("labels: {suite: quickstart}" in text for text in labels) >= 1


def test_pull_requests_are_judged_as_their_merge() -> None:
    base = read(GATE).data["env"]["GATE_BASE"]
    assert base.startswith("${{ github.event_name == 'pull_request' && format('{0}^1', github.sha) || ")
    assert [
        step["with"]["fetch-depth"] for _, step in read(GATE).steps() if step.get("with", {}).get("fetch-depth")
    ] == [
        "0",
        "0",
    ]


def test_the_gate_runs_at_the_commit_of_its_workflow() -> None:
    checkouts = [step["with"] for _, step in read(GATE).steps() if "actions/checkout@" in step.get("uses", "")]
    own = [one for one in checkouts if one["path"] == "chaosgate"]
    assert len(own) == 3
    assert {(one["repository"], one["ref"]) for one in own} == {
        ("${{ job.workflow_repository }}", "${{ job.workflow_sha }}")
    }
