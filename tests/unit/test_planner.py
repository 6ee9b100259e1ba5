"""The plan of a spec: its steps, what each waits for, and how they run side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.components.definition import COMPONENTS, Component, ports
from chaosgate.errors import PlanError
from chaosgate.model.blocks import make_blocks
from chaosgate.model.carrier import ExtraStep
from chaosgate.model.load import load_spec
from chaosgate.model.plan import Plan, phase_of
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import CLUSTER, LOCAL, make_plan, plan_problems

SPEC = Path("chaos-specs/scenarios/stream-degradation.yaml")


@pytest.fixture(scope="module")
def spec() -> ChaosSpec:
    return load_spec(SPEC)


@pytest.fixture(scope="module")
def plan(spec: ChaosSpec) -> Plan:
    return make_plan(spec)


def sources(plan: Plan, step_id: str) -> set[str]:
    return {read.step for read in plan.step(step_id).inputs}


def test_the_steps_stand_in_the_order_of_the_design(plan: Plan) -> None:
    ids = [step.id for step in plan.steps]
    assert ids == ["deploy", "baseline-measure", "block1-measure", "block1-inject", "conclude", "gate"]
    assert plan.finally_.id == "cleanup"
    assert [phase_of(step.id) for step in plan.steps if "phase" in step.arguments] == ["baseline", "block1", "block1"]


def test_measure_and_inject_of_a_block_wait_for_the_baseline_and_not_for_each_other(plan: Plan) -> None:
    assert sources(plan, "block1-measure") == {"deploy", "baseline-measure"}
    assert sources(plan, "block1-inject") == {"deploy", "baseline-measure"}


def test_conclude_reads_every_step_that_deployed_measured_or_injected(plan: Plan) -> None:
    assert sources(plan, "conclude") == {"deploy", "baseline-measure", "block1-measure", "block1-inject"}
    statuses = {read.step for read in plan.step("conclude").inputs if read.port == "status"}
    assert statuses == sources(plan, "conclude")


def test_gate_reads_the_verdict_and_cleanup_reads_nothing(plan: Plan) -> None:
    assert [(read.port, read.step) for read in plan.step("gate").inputs] == [("verdict", "conclude")]
    assert plan.finally_.inputs == ()


def test_every_input_comes_from_an_output_of_an_earlier_step(plan: Plan) -> None:
    before: list[str] = []
    for step in plan.steps:
        for read in step.inputs:
            assert read.step in before
            outputs = {port.name for port in COMPONENTS[plan.step(read.step).component].outputs}
            assert read.output in outputs
        before.append(step.id)


def test_every_input_port_but_the_spec_is_filled(plan: Plan) -> None:
    for step in plan.steps:
        filled = {read.port for read in step.inputs}
        needed = {port.name for port in COMPONENTS[step.component].inputs} - {"spec"}
        # The first measure step has no earlier measure step whose status it could read, but deploy's.
        assert filled == needed, step.id


def test_deadlines_lie_past_the_planned_length(spec: ChaosSpec, plan: Plan) -> None:
    (block,) = make_blocks(spec)
    assert plan.step("block1-measure").deadline > block.length + 30
    assert all(step.deadline > 0 for step in (*plan.steps, plan.finally_))


def test_the_plan_is_the_same_each_time(spec: ChaosSpec, plan: Plan) -> None:
    assert make_plan(spec) == plan


def test_parallel_faults_on_one_surface_are_refused(spec: ChaosSpec) -> None:
    other = spec.spec.faults[0].model_copy(update={"name": "other"})
    body = spec.spec.model_copy(update={"faults": (spec.spec.faults[0], other), "composition": "parallel"})
    with pytest.raises(PlanError) as refused:
        make_plan(spec.model_copy(update={"spec": body}))
    assert str(refused.value) == (
        "faults 'slow-wire' and 'other' both act on the wire of one target; in parallel neither effect could be told "
        "from the other: write `composition: serial`, or split the spec"
    )


def test_prompts_that_nobody_knows_are_refused_with_the_nearest_name(spec: ChaosSpec) -> None:
    workload = spec.spec.workload
    prompts = workload.prompts.model_copy(update={"set": "recal-24"})
    body = spec.spec.model_copy(update={"workload": workload.model_copy(update={"prompts": prompts})})
    unknown = spec.model_copy(update={"spec": body})
    (problem,) = plan_problems(unknown)
    assert problem.path == ("spec", "workload", "prompts", "set")
    with pytest.raises(PlanError) as refused:
        make_plan(unknown)
    assert str(refused.value) == "unknown prompt set 'recal-24'; did you mean 'recall-24'?"


def test_the_sweeper_waits_until_every_step_could_have_used_its_deadline(plan: Plan) -> None:
    chain = ["deploy", "baseline-measure", "block1-measure", "conclude", "gate", "cleanup"]
    assert float(plan.step("deploy").arguments["seconds"]) == sum(plan.step(step).deadline for step in chain)


SHIPPED = sorted(path for path in Path("chaos-specs").rglob("*.yaml") if path.parent.name != "profiles")


@pytest.mark.parametrize("file", SHIPPED, ids=str)
def test_every_shipped_spec_has_a_plan(file: Path) -> None:
    spec = load_spec(file)
    assert make_blocks(spec)[0].windows
    assert make_plan(spec).spec_digest == spec.digest()


def test_on_a_cluster_steps_wait_longer_for_one_another_and_inject_the_same(spec: ChaosSpec, plan: Plan) -> None:
    cluster = make_plan(spec, CLUSTER)
    assert [(step.id, step.inputs) for step in cluster.steps] == [(step.id, step.inputs) for step in plan.steps]
    assert cluster.step("block1-inject").arguments == {"phase": "block1", "start": "300.000"}
    assert all(
        cluster.step(step.id).deadline >= step.deadline and step.deadline == int(step.deadline) for step in plan.steps
    )


def test_an_extra_step_that_is_called_as_another_one_is_refused(
    spec: ChaosSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = Component("baseline.measure", "measure, too", "acme.notify:run", (), ports("verdict"))
    monkeypatch.setitem(COMPONENTS, twin.name, twin)
    with pytest.raises(PlanError) as refused:
        make_plan(spec, LOCAL, [ExtraStep(component=twin.name)])
    assert str(refused.value) == (
        "two steps would be called 'baseline-measure'; rename the component of the extra step"
    )


def test_an_extra_step_reads_what_the_run_leaves_and_nothing_waits_for_it(
    spec: ChaosSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = (*ports("verdict", "report"), *ports("status", many=True))
    notify = Component("acme.notify", "tell a team", "acme.notify:run", ("channel",), inputs)
    monkeypatch.setitem(COMPONENTS, "acme.notify", notify)
    plan = make_plan(spec, LOCAL, [ExtraStep(component="acme.notify", arguments={"channel": "#sre"})])
    step = plan.step("acme-notify")
    assert step.arguments == {"channel": "#sre"}
    assert [(read.port, read.step) for read in step.inputs] == [
        ("verdict", "conclude"),
        ("report", "conclude"),
        *(
            ("status", source)
            for source in ("deploy", "baseline-measure", "block1-measure", "block1-inject", "conclude")
        ),
    ]
    assert not any(read.step == "acme-notify" for other in plan.steps for read in other.inputs)
    without = make_plan(spec)
    assert plan.steps[1:-1] == without.steps[1:]
    assert float(plan.step("deploy").arguments["seconds"]) == (
        float(without.step("deploy").arguments["seconds"]) + step.deadline
    )
