"""From a spec to its plan: the static graph of steps that every carrier runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from chaosgate.components.definition import Port, find_component
from chaosgate.errors import PlanError, Problem, UsageError
from chaosgate.model.blocks import BASELINE, baseline_length, make_blocks
from chaosgate.model.carrier import ExtraStep
from chaosgate.model.plan import CLEANUP, CONCLUDE, DEPLOY, GATE, Block, Plan, Step, StepInput, extra_step_id, step_id
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.workload import SetPrompts
from chaosgate.prompts.sources import prompts_of


@dataclass(frozen=True)
class Deadlines:
    """Seconds after which a carrier ends the steps whose length is not planned."""

    start: int
    """How long inject and measure wait for one another."""
    margin: int
    """How far past its planned length a step that measures or injects is ended: one that needs all of it hangs."""
    deploy: int
    conclude: int
    gate: int
    extra: int
    cleanup: int


LOCAL = Deadlines(start=30, margin=60, deploy=120, conclude=300, gate=30, extra=60, cleanup=90)
"""On one machine, where a step is a process."""
CLUSTER = Deadlines(start=300, margin=300, deploy=900, conclude=600, gate=300, extra=300, cleanup=600)
"""On a cluster, where a step is a pod: its node may have to be started and its image pulled first."""


def make_plan(spec: ChaosSpec, deadlines: Deadlines = LOCAL, extra: Sequence[ExtraStep] = ()) -> Plan:
    """The plan of `spec` with the `extra` steps that look at its results; a PlanError says what stands in the way."""
    problems = plan_problems(spec)
    if problems:
        raise PlanError("; ".join(problem.message for problem in problems))
    return _Planner(spec, deadlines).plan(extra)


def plan_problems(spec: ChaosSpec) -> tuple[Problem, ...]:
    """What keeps a valid spec from becoming a plan: prompts nobody knows, and faults that overlap on one target.

    The problems have no line; `model.source` knows where their paths stand in the file.
    """
    return (*_unknown_prompts(spec), *_overlaps(spec))


def _unknown_prompts(spec: ChaosSpec) -> Iterator[Problem]:
    workload = spec.spec.workload
    for index, stream in enumerate(workload.streams()):
        path = (
            ("spec", "workload", "tenants", index, "prompts") if workload.tenants else ("spec", "workload", "prompts")
        )
        key = "set" if isinstance(stream.prompts, SetPrompts) else "file"
        try:
            prompts_of(stream, workload.seed)
        except UsageError as error:
            yield from (Problem((*path, key), line) for line in str(error).splitlines())


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


@dataclass(frozen=True)
class _Planner:
    spec: ChaosSpec
    deadlines: Deadlines

    def plan(self, extra: Sequence[ExtraStep]) -> Plan:
        blocks = make_blocks(self.spec)
        deploy = self.deploy(blocks, extra)
        baseline = self.baseline(deploy)
        measures = [baseline, *(self.measure(block, deploy, baseline) for block in blocks)]
        injects = [self.inject(block, deploy, baseline) for block in blocks]
        conclude = _step(CONCLUDE, "conclude", self.deadlines.conclude, deploy, *measures, *injects)
        gate = _step(GATE, "gate", self.deadlines.gate, conclude)
        run = (deploy, *measures, *injects, conclude)
        steps = (*run, gate, *(self.extra(one, run) for one in extra))
        _check_unique([step.id for step in steps])
        return Plan(
            name=self.spec.metadata.name,
            steps=steps,
            finally_=_step(CLEANUP, "cleanup", self.deadlines.cleanup),
        )

    def deploy(self, blocks: Sequence[Block], extra: Sequence[ExtraStep]) -> Step:
        arguments = {"digest": self.spec.digest(), "seconds": f"{self.longest_run(blocks, len(extra)):.3f}"}
        return _step(DEPLOY, "deploy", self.deadlines.deploy, **arguments)

    def longest_run(self, blocks: Sequence[Block], extra: int) -> float:
        """Seconds a run with `extra` steps of a team's own may take when every step uses all of its deadline.

        One that takes longer has lost its runner.
        """
        known = self.deadlines
        load = [baseline_length(self.spec), *(block.length + known.start for block in blocks)]
        after = known.conclude + known.gate + extra * known.extra + known.cleanup
        return known.deploy + sum(map(self.slack, load)) + after

    def baseline(self, deploy: Step) -> Step:
        seconds = baseline_length(self.spec)
        arguments = {"phase": BASELINE, "seconds": f"{seconds:.3f}"}
        return _step(step_id(BASELINE, "measure"), "measure", self.slack(seconds), deploy, **arguments)

    def measure(self, block: Block, deploy: Step, baseline: Step) -> Step:
        # measure ends when inject says so; alone it ends after the planned length and the start deadline.
        seconds = block.length + self.deadlines.start
        arguments = {"phase": block.phase, "seconds": f"{seconds:.3f}"}
        return _step(step_id(block.phase, "measure"), "measure", self.slack(seconds), deploy, baseline, **arguments)

    def inject(self, block: Block, deploy: Step, baseline: Step) -> Step:
        deadline = self.slack(block.length + self.deadlines.start)
        arguments = {"phase": block.phase, "start": f"{self.deadlines.start:.3f}"}
        return _step(step_id(block.phase, "inject"), "inject", deadline, deploy, baseline, **arguments)

    def slack(self, seconds: float) -> int:
        """A deadline well past the planned end, in whole seconds."""
        return math.ceil(seconds + self.deadlines.margin)

    def extra(self, extra: ExtraStep, sources: Sequence[Step]) -> Step:
        """A step that only looks: what it reads is what the run leaves, and nothing waits for it."""
        return _step(extra_step_id(extra.component), extra.component, self.deadlines.extra, *sources, **extra.arguments)


def _check_unique(step_ids: Sequence[str]) -> None:
    """A PlanError for an extra step that would be called as another step is."""
    for index, name in enumerate(step_ids):
        if name in step_ids[:index]:
            raise PlanError(f"two steps would be called {name!r}; rename the component of the extra step")


def _step(name: str, component: str, deadline: int, /, *sources: Step, **arguments: str) -> Step:
    """A step that reads, at each of its component's input ports, what its sources write.

    A port that takes many reads every source that writes that artifact; any other reads the last of them. The spec is
    not among the inputs: it belongs to the run, and the carrier hands it to every step that reads it.
    """
    inputs = tuple(read for port in find_component(component).inputs for read in _inputs(port, sources))
    return Step(id=name, component=component, arguments=arguments, inputs=inputs, deadline=deadline)


def _inputs(port: Port, sources: Sequence[Step]) -> Sequence[StepInput]:
    found = [
        StepInput(port=port.name, step=source.id, output=output.name)
        for source in sources
        for output in find_component(source.component).outputs
        if output.artifact == port.artifact
    ]
    return found if port.many else found[-1:]
