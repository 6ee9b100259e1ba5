"""The plan: the static graph of steps that every carrier (local, Argo, KFP) runs."""

from __future__ import annotations

from pydantic import Field

from chaosgate.model.base import Frozen

DEPLOY = "deploy"
CONCLUDE = "conclude"
GATE = "gate"
CLEANUP = "cleanup"
"""The steps that a plan has once; every other belongs to a phase or is extra, see `step_id` and `extra_step_id`."""


def step_id(phase: str, component: str) -> str:
    """`block1-measure`: the step that runs `component` in `phase`."""
    return f"{phase}-{component}"


def extra_step_id(component: str) -> str:
    """`acme-notify`: the step that runs the component `acme.notify` of a plug-in."""
    return component.replace(".", "-")


def phase_of(step_id: str) -> str:
    """`block1` for the step `block1-measure`."""
    return step_id.rsplit("-", 1)[0]


class StepInput(Frozen):
    """One artifact a step reads: `port` of the reader, and the step and port it comes from."""

    port: str
    step: str
    output: str


class Step(Frozen):
    """One run of a component."""

    id: str
    component: str
    arguments: dict[str, str] = {}
    inputs: tuple[StepInput, ...] = ()
    deadline: float
    """Seconds after its start at which the carrier ends the step; the planner gives whole ones, as Kubernetes does."""


class PlannedWindow(Frozen):
    """One entry of a block's sweep: hold `fault` at `dose` as window `index`."""

    fault: str
    index: int
    dose: float


class Block(Frozen):
    """One unbroken stretch of load with its sweep and the recovery after it."""

    phase: str
    faults: tuple[str, ...]
    windows: tuple[PlannedWindow, ...]
    """In the order in which they are injected: controls first, between and last."""
    recovery: float
    """Seconds observed after the last window: settling, then the windows of recovery."""
    recovery_windows: int
    """How many windows of recovery, each as long as the last fault's hold."""
    length: float
    """Planned seconds of load, recovery included."""


class Plan(Frozen):
    """What a spec becomes: steps whose inputs are the only dependencies, and a last step that always runs."""

    name: str
    steps: tuple[Step, ...]
    finally_: Step = Field(alias="finally")

    @property
    def spec_digest(self) -> str:
        """The digest of the spec it was made from; deploy refuses every other."""
        return self.step(DEPLOY).arguments["digest"]

    def step(self, step_id: str) -> Step:
        """The step called `step_id`."""
        return next(step for step in (*self.steps, self.finally_) if step.id == step_id)
