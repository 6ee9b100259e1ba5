"""A compiled package, run with the semantics of Kubeflow Pipelines: the same drill as the local runner's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from kfp_machine import FAILED, OMITTED, STORE, SUCCEEDED, KfpMachine, Result
from small_drill import Drill, environment, write_spec

from chaosgate.artifacts import ENDPOINT, ESTIMATES, FIT, LEDGER, SEAL, VERDICT, Identity, read_document, read_lines
from chaosgate.artifacts import write_spec as write_spec_file
from chaosgate.compile.kfp import compile_kfp
from chaosgate.components.places import run_dir
from chaosgate.deploy.processes import alive, registered, stop, strays
from chaosgate.model.carrier import Carrier, SecretVariable
from chaosgate.model.load import load_spec
from chaosgate.model.plan import Plan
from chaosgate.model.result import Verdict
from chaosgate.planner import CLUSTER, make_plan
from chaosgate.tracking.pages import run_points

pytestmark = [pytest.mark.slow, pytest.mark.thorough]
SPEC_URI = f"{STORE}mlpipeline/specs/small.json"
CARRIER = Carrier(secrets=(SecretVariable(env="DRILL_SECRET", secret="drill", key="word"),))
PASSES, FAILS = "<= 50 %", ">= 50 %"
"""Bounds of the small drill's one objective, the error rate at all doses, which is 0."""


@dataclass
class Carried:
    """A run of a package: its plan, what the machine saw, and the state directory that stands for the cluster."""

    plan: Plan
    digest: str
    run: str
    result: Result
    state: Path

    def identity(self) -> Identity:
        return Identity(self.run, self.digest)

    def verdict(self) -> Verdict:
        return read_document(self.result.file("conclude", "verdict"), VERDICT, self.identity())

    def log(self, task: str) -> str:
        return (self.state.parent / "pods" / task / "log").read_text()


Carry = Callable[..., Carried]


@pytest.fixture(scope="module")
def carry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Carry]:
    """Compiles a spec's file and runs the package; whatever a run leaves running is ended, and is a failure."""
    folders: list[Path] = []

    def begin(file: Path, instead: dict[str, list[str]] | None = None, stored: Path | None = None) -> Carried:
        folder = tmp_path_factory.mktemp("kfp")
        spec = load_spec(file)
        plan = make_plan(spec, CLUSTER)
        write_spec_file(folder / "store/minio/mlpipeline/specs/small.json", load_spec(stored or file))
        env = environment(CHAOSGATE_STATE=str(folder / "state"))
        secrets = {"drill": {"word": "open sesame"}}
        machine = KfpMachine(compile_kfp(plan, spec, CARRIER), folder, env, secrets, instead)
        folders.append(run_dir(folder / "state", machine.run_id))
        result = machine.run({"spec_uri": SPEC_URI})
        return Carried(plan, spec.digest(), machine.run_id, result, folder / "state")

    yield begin
    left = [process for folder in folders for process in (*filter(alive, registered(folder)), *strays(folder))]
    for process in left:
        stop(process)
    assert left == [], f"left running: {left}"


def two_faults(folder: Path) -> Path:
    """The small drill with a second fault, and an objective that fails whatever the machine's load."""
    file = write_spec(folder, bound=FAILS)
    data = yaml.safe_load(file.read_text())
    first = data["spec"]["faults"][0]
    second = {**first, "name": "slower-wire", "dose": {**first["dose"], "values": ["150ms"]}}
    data["spec"]["faults"].append(second)
    data["spec"]["objectives"][0]["fault"] = first["name"]
    file.write_text(yaml.safe_dump(data))
    return file


@pytest.fixture(scope="module")
def both(carry: Carry, tmp_path_factory: pytest.TempPathFactory) -> tuple[Carried, Drill]:
    """The same spec carried by the package, and by the local runner."""
    folder = tmp_path_factory.mktemp("local")
    file = two_faults(folder)
    carried = carry(file)
    drill = Drill(folder / "state", file)
    drill.finish()
    assert drill.close() == []
    return carried, drill


def test_a_failing_verdict_fails_the_run_and_cleanup_ran(both: tuple[Carried, Drill]) -> None:
    carried, _ = both
    expected = {step.id: SUCCEEDED for step in (*carried.plan.steps, carried.plan.finally_)}
    states = {**expected, "importer": SUCCEEDED, "gate": FAILED, "exit-handler-1": FAILED}
    assert carried.result.states == states, carried.result.reasons
    assert carried.result.exit_codes["gate"] == 1
    seal = read_document(carried.result.file("cleanup", "cleanup"), SEAL, Identity(carried.run, None))
    assert seal.clean
    assert carried.log("gate") == "gate: fail\n"


def test_measure_and_inject_run_side_by_side(both: tuple[Carried, Drill]) -> None:
    spans = both[0].result.spans
    measured, injected = spans["block1-measure"], spans["block1-inject"]
    assert max(measured[0], injected[0]) < min(measured[1], injected[1])
    assert spans["baseline-measure"][1] <= min(measured[0], injected[0])


def test_subject_digest_steps_objectives_and_verdict_are_the_local_runners(both: tuple[Carried, Drill]) -> None:
    carried, drill = both
    local = drill.verdict()
    assert carried.verdict().verdict == local.verdict == "fail"
    assert carried.verdict().subject == local.subject
    endpoint = read_document(carried.result.file("deploy", "endpoint"), ENDPOINT, carried.identity())
    assert endpoint.subject == drill.document("deploy", ENDPOINT).subject
    assert (
        read_document(drill.folder / "conclude" / VERDICT.file, VERDICT, Identity(drill.run, carried.digest)) == local
    )
    assert {file.parent.name for file in drill.folder.glob("*/status.json")} == {
        step for step in carried.result.exit_codes if step not in ("gate", "cleanup")
    }
    assert judged(carried.verdict()) == judged(local)


def judged(verdict: Verdict) -> list[tuple[Any, ...]]:
    """What was judged, where and against what: all that does not depend on the clock."""
    return [(reason.objective, reason.at, reason.bound, reason.severity) for reason in verdict.reasons if reason.bound]


@pytest.mark.parametrize("phase", ["baseline", "block1"])
def test_the_planned_ledger_is_the_local_runners(both: tuple[Carried, Drill], phase: str) -> None:
    carried, drill = both
    ours = planned(carried.result.file(f"{phase}-measure", "ledger"))
    theirs = planned(drill.folder / f"{phase}-measure" / LEDGER.file)
    # A block is measured until inject says that it is over, so that one may have a few requests more.
    shared = ours.keys() & theirs.keys()
    assert len(shared) == min(len(ours), len(theirs)) > 50
    assert {key: ours[key] for key in shared} == {key: theirs[key] for key in shared}


def planned(file: Path) -> dict[tuple[str, str], tuple[float, bool]]:
    return {(row.request, row.fault): (row.draw, row.planned) for row in read_lines(file, LEDGER)}


def test_the_ui_gets_numbers_and_pages(both: tuple[Carried, Drill]) -> None:
    carried, drill = both
    result = carried.result
    shown = result.metadata("conclude", "metrics")
    assert (shown["verdict/exit-code"], shown["verdict/fail_count"]) == (1, 1)
    local = run_points(load_spec(drill.spec), drill.document("conclude", ESTIMATES), drill.document("conclude", FIT))
    assert {name for name in shown if not name.startswith("verdict/")} == {point.key for point in local}
    assert shown["baseline/error-rate_share"] == 0
    types = {name: found.type.schema_title for name, found in result.artifacts["conclude"].items()}
    assert (types["report"], types["summary"], types["metrics"]) == ("system.HTML", "system.Markdown", "system.Metrics")
    assert "<html" in result.file("conclude", "report").read_text()


def test_a_passing_verdict_lets_the_run_succeed(carry: Carry, tmp_path: Path) -> None:
    carried = carry(write_spec(tmp_path, bound=PASSES))
    # A busy machine may delay the load generator, which is inconclusive; anything else is a fault of the drill.
    verdict = carried.verdict()
    assert (carried.result.succeeded, verdict.verdict) in ((True, "pass"), (False, "inconclusive")), verdict
    assert carried.result.exit_codes["gate"] == verdict.exit_code


def test_a_crash_skips_the_rest_and_cleanup_stops_what_was_started(carry: Carry, tmp_path: Path) -> None:
    carried = carry(write_spec(tmp_path), instead={"baseline-measure": ["-c", "raise SystemExit(9)"]})
    states = carried.result.states
    assert (states["deploy"], states["baseline-measure"], states["cleanup"]) == (SUCCEEDED, FAILED, SUCCEEDED)
    assert {states[step] for step in ("block1-measure", "block1-inject", "conclude", "gate")} == {OMITTED}
    assert not carried.result.succeeded
    assert {process.role for process in registered(run_dir(carried.state, carried.run))} >= {
        "engine",
        "gateway",
        "sweeper",
    }
    seal = read_document(carried.result.file("cleanup", "cleanup"), SEAL, Identity(carried.run, None))
    assert any(action.startswith("stopped engine") for action in seal.actions)


def test_another_spec_than_the_compiled_one_is_refused(carry: Carry, tmp_path: Path) -> None:
    carried = carry(write_spec(tmp_path), stored=write_spec(tmp_path, name="another", hold="500ms"))
    assert f"the plan was made from {carried.digest}; compile the spec again" in carried.log("deploy")
    assert carried.log("gate") == "gate: error\n"
    # Nothing was started, so that there is no run for cleanup to know.
    assert (carried.result.exit_codes["gate"], carried.result.exit_codes["cleanup"]) == (3, 2)
