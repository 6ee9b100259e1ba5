"""From a spec to its plan: the static graph of steps that every carrier runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from chaosgate.components.definition import COMPONENTS
from chaosgate.errors import PlanError, Problem
from chaosgate.loadgen.prompts import prompt_sets
from chaosgate.model.blocks import BASELINE, baseline_length, make_blocks, planned_length
from chaosgate.model.plan import CLEANUP, CONCLUDE, DEPLOY, GATE, Block, Plan, Step, StepInput, step_id
from chaosgate.model.spec import ChaosSpec
from chaosgate.registry import unknown

START_DEADLINE = 30.0
"""Seconds inject waits for measure, and measure for inject, on one machine."""
DEPLOY_DEADLINE = 120.0
CONCLUDE_DEADLINE = 300.0
GATE_DEADLINE = 30.0
CLEANUP_DEADLINE = 90.0
"""Seconds after which these steps are ended; MARGIN is that of the steps whose length is planned."""
MARGIN = 60.0


def make_plan(spec: ChaosSpec) -> Plan:
    """The plan of `spec`; a PlanError says what stands in the way, see `plan_problems`."""
    problems = plan_problems(spec)
    if problems:
        raise PlanError("; ".join(problem.message for problem in problems))
    blocks = make_blocks(spec)
    deploy = _step(DEPLOY, "deploy", DEPLOY_DEADLINE, seconds=f"{longest_run(spec, blocks):.3f}")
    baseline = _baseline(spec, deploy)
    measures = [baseline, *(_measure(block, deploy, baseline) for block in blocks)]
    injects = [_inject(block, deploy, baseline) for block in blocks]
    conclude = _step(CONCLUDE, "conclude", CONCLUDE_DEADLINE, deploy, *measures, *injects)
    gate = _step(GATE, "gate", GATE_DEADLINE, conclude)
    return Plan(
        name=spec.metadata.name,
        spec_digest=spec.digest(),
        blocks=blocks,
        steps=(deploy, *measures, *injects, conclude, gate),
        finally_=_step(CLEANUP, "cleanup", CLEANUP_DEADLINE),
        length=planned_length(spec),
    )


def plan_problems(spec: ChaosSpec) -> tuple[Problem, ...]:
    """What keeps a valid spec from becoming a plan: prompts nobody knows, and faults that overlap on one target.

    The problems have no line; `model.source` knows where their paths stand in the file.
    """
    return (*_unknown_prompts(spec), *_overlaps(spec))


def longest_run(spec: ChaosSpec, blocks: Sequence[Block]) -> float:
    """Seconds a run may take when every step uses all of its deadline; one that takes longer has lost its runner."""
    load = [baseline_length(spec), *(block.length + START_DEADLINE for block in blocks)]
    return DEPLOY_DEADLINE + sum(map(_slack, load)) + CONCLUDE_DEADLINE + GATE_DEADLINE + CLEANUP_DEADLINE


def _unknown_prompts(spec: ChaosSpec) -> Iterator[Problem]:
    name = spec.spec.workload.prompts.set
    if name not in prompt_sets():
        yield Problem(("spec", "workload", "prompts", "set"), unknown("prompt set", name, prompt_sets()))


def _overlaps(spec: ChaosSpec) -> Iterator[Problem]:
    """In parallel, two faults on one target at a time."""
    if spec.spec.composition != "parallel":
        return
    for (_, one), (index, other) in combinations(enumerate(spec.spec.faults), 2):
        if one.surface == other.surface:
            yield Problem(
                ("spec", "faults", index),
                f"faults {one.name!r} and {other.name!r} both act on the {one.surface} of one target; in parallel "
                "neither effect could be told from the other: write `composition: serial`, or split the spec",
            )
        else:
            yield Problem(
                ("spec", "composition"),
                f"faults {one.name!r} and {other.name!r} would be injected one after the other: this version carries "
                "no parallel sweeps; write `composition: serial`",
            )


def _baseline(spec: ChaosSpec, deploy: Step) -> Step:
    seconds = baseline_length(spec)
    arguments = {"phase": BASELINE, "seconds": f"{seconds:.3f}"}
    return _step(step_id(BASELINE, "measure"), "measure", _slack(seconds), deploy, **arguments)


def _measure(block: Block, deploy: Step, baseline: Step) -> Step:
    # measure ends when inject says so; alone it ends after the planned length and the start deadline.
    seconds = block.length + START_DEADLINE
    arguments = {"phase": block.phase, "seconds": f"{seconds:.3f}"}
    return _step(step_id(block.phase, "measure"), "measure", _slack(seconds), deploy, baseline, **arguments)


def _inject(block: Block, deploy: Step, baseline: Step) -> Step:
    deadline = _slack(block.length + START_DEADLINE)
    arguments = {"phase": block.phase, "start": f"{START_DEADLINE:.3f}"}
    return _step(step_id(block.phase, "inject"), "inject", deadline, deploy, baseline, **arguments)


def _slack(seconds: float) -> float:
    """A deadline well past the planned end: a step that needs it hangs."""
    return round(seconds + MARGIN, 3)


def _step(name: str, component: str, deadline: float, *sources: Step, **arguments: str) -> Step:
    """A step that reads, at each of its component's input ports, every source that writes that artifact.

    The spec is not among the inputs: it belongs to the run, and the carrier hands it to every step that reads it.
    """
    inputs = tuple(
        StepInput(port=port.name, step=source.id, output=port.artifact)
        for port in COMPONENTS[component].inputs
        for source in sources
        if port.artifact in {output.artifact for output in COMPONENTS[source.component].outputs}
    )
    return Step(id=name, component=component, arguments=arguments, inputs=inputs, deadline=deadline)
