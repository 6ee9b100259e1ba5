"""What every fault is: a name, a kind, whom it selects, a dose axis to sweep, and how it goes away again.

A kind is one class in one file: its fields are its parameters, its methods its pure behaviour on its surface.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args

from pydantic import Field, model_validator

from chaosgate.draws import Draw
from chaosgate.model.base import Frozen, Name, of_its_kind
from chaosgate.model.change import Change, Permission, TargetPod
from chaosgate.model.labels import Labels
from chaosgate.model.observation import MIN_WINDOWS, Observation, Sample
from chaosgate.model.opt_in import opted_in
from chaosgate.model.prompt_text import PromptText
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.selection import Select
from chaosgate.model.shape import Shape
from chaosgate.model.sites import Array, SiteContext
from chaosgate.model.stream_edit import StreamEditor
from chaosgate.registry import Registry
from chaosgate.units import Dimension, Duration, Unit

Surface = Literal["wire", "engine", "cluster", "process", "retrieval"]
Goes = Literal["expires", "undone", "healed"]
"""How a fault ends: it `expires` at its carrier, something must see it `undone`, or the target itself `healed`."""

MAX_HOLD = 3595.0
"""Seconds: a gateway keeps a fault for an hour at most, 5 s of it as the margin in which it expires by itself."""

Parameter = TypeVar("Parameter", covariant=True)
Value = TypeVar("Value", covariant=True)


class Sweep(Frozen, Generic[Parameter, Value]):
    """The doses of a fault. Each is held for several windows in seeded random order, with a wash-out after each."""

    parameter: Parameter
    """The parameter of the fault that is varied."""
    values: Annotated[tuple[Value, ...], Field(min_length=1, max_length=32)]
    """The doses, in the unit of the parameter. Dose 0 needs no entry: controls are added by the plan."""
    windows: Annotated[int, Field(ge=MIN_WINDOWS, le=64)] = MIN_WINDOWS
    """Windows a dose."""
    hold: Annotated[Duration, Field(gt=0, le=MAX_HOLD)]
    """How long the fault is held in one window."""
    washout: Duration
    """The pause after each window in which nothing is injected."""

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        """`SweepDelay` instead of pydantic's long name: it appears in the JSON Schema."""
        return "Sweep" + "".join(str(word).title() for word in get_args(params[0]))


@dataclass(frozen=True)
class DoseAxis:
    """The number a sweep varies: its parameter's name and its dimension."""

    parameter: str
    dimension: Dimension


@dataclass(frozen=True)
class Witness:
    """What shows, at the client, that a fault took effect: a number per request, averaged before, during and after.

    `value` gives the number of one observation or None where it says nothing; `moved` is the smallest rise of the
    mean at a dose that counts as an effect (same unit as the value).
    """

    what: str
    dimension: Dimension
    moved: float
    value: Callable[[Observation], float | None]
    unless: str = ""
    """What may keep the effect away, for whoever reads that it was not seen."""


@dataclass(frozen=True)
class AnswerWitness:
    """What shows, at the client, that a fault inside the engine took effect: answers that are not the clean ones.

    `moved` is the smallest rise of their share, at a dose, that counts as an effect.
    """

    moved: float
    unless: str = ""
    """What may keep the effect away, for whoever reads that it was not seen."""
    what: str = "share of answers that differ from the clean ones"
    dimension: Dimension = "share"

    def value(self, sample: Sample) -> float | None:
        """1 for another text than the prompt's first one in the baseline, 0 for the same; None where one is missing."""
        if sample.observation.outcome != "ok" or sample.clean is None:
            return None
        return float(sample.observation.text != sample.clean)


GaugeName = Literal["ready", "lost", "deaths", "cpu", "memory", "endpoints", "replicas", "unschedulable", "tainted"]
"""What measure reads each second of a target on a cluster; `chaosgate.loadgen.cluster_gauges` says what each counts."""


@dataclass(frozen=True)
class GaugeWitness:
    """What shows, at the API server, that a fault took effect: a gauge of its target before, during and after.

    A window has the gauge's `mean` or its `rise` from beginning to end; `moved` (above 0) is the smallest change of
    that at a dose that counts as an effect, a rise, or a fall with `falls`.
    """

    what: str
    dimension: Dimension
    moved: float
    gauge: GaugeName
    statistic: Literal["mean", "rise"] = "mean"
    falls: bool = False
    unless: str = ""
    """What may keep the effect away, for whoever reads that it was not seen."""


class Fault(Frozen):
    """A fault of a spec. A kind subclasses a surface below and is registered with `@FAULTS.register(kind)`."""

    name: Name
    """The name by which fits, objectives, ledger and report refer to this fault."""
    kind: str
    """The registered kind, `family.kind`."""
    dose: Sweep[Any, Any]
    """The sweep."""

    surface: ClassVar[Surface]
    goes: ClassVar[Goes]
    max_dose: ClassVar[float]
    """The largest dose that is allowed, in the axis' base unit."""

    @classmethod
    def axis(cls) -> DoseAxis:
        """The dose axis, read off the type of the `dose` field."""
        sweep = cls.model_fields["dose"].annotation
        parameter, value = sweep.__pydantic_generic_metadata__["args"]  # type: ignore[union-attr]
        units = [mark.dimension for mark in get_args(value) if isinstance(mark, Unit)]
        return DoseAxis(get_args(parameter)[0], units[0] if units else "count" if value is int else "number")

    def witness(self, dose: float) -> Witness | AnswerWitness | GaugeWitness:
        """What the client, or the API server, must have seen at `dose` (> 0)."""
        raise NotImplementedError(f"{type(self).__name__} must say what shows its effect")

    def draw(self, seed: int, request: str) -> Draw:
        """This fault's draws for one request, or for one window where it acts on no request."""
        return Draw(seed, self.name, request)

    def planned(self, draw: Draw, facts: RequestFacts) -> bool:
        """Whether the request is among those this fault may touch; independent of window and dose."""
        return False

    def reads_body(self) -> bool:
        """Whether the gateway has to read a request's whole body before this fault can act on it."""
        return False


class RequestFault(Fault):
    """A fault of single requests: it may touch those that it selects."""

    select: Select = Select()
    """Whom the fault may touch."""
    shape: Shape | None = None
    """How the dose moves within a window; left out, it does not. The window's dose is then the largest one in it."""

    @model_validator(mode="after")
    def _shape_fits(self) -> RequestFault:
        if self.shape is not None and (objection := self.shape.objection(self.dose.hold)):
            raise ValueError(objection)
        return self

    def planned(self, draw: Draw, facts: RequestFacts) -> bool:
        """Whether the request is selected, and asks for the fault where that is needed."""
        return self.select.matches(facts) and not self.unasked(facts) and draw.at("select") < self.select.share

    def unasked(self, facts: RequestFacts) -> bool:
        """Whether the fault waits for an opt-in that the request does not bring."""
        return self.select.opt_in and not opted_in(facts, self.name)

    def reads_body(self) -> bool:
        """Whether it selects by what stands in the body."""
        return self.select.reads_body()

    def dose_at(self, dose: float, seconds: float) -> float:
        """The dose of a request that comes `seconds` after its window of `dose` opened; whole where doses are counts.

        It never falls when `dose` rises, so that who is hit at a dose is hit at a larger one.
        """
        if self.shape is None:
            return dose
        moved = dose * self.shape.factor(seconds)
        return float(math.floor(moved)) if self.axis().dimension == "count" else moved

    def exposure(self) -> float:
        """What a request gets on average of a window's dose, as a part of it: the share times the shape's mean."""
        return self.select.share * (1.0 if self.shape is None else self.shape.mean(self.dose.hold))

    def least_rise(self, dose: float) -> float:
        """Half of what `dose` does on average to all requests: less than that is not this dose's effect.

        It is `moved` of a witness whose mean grows by the dose that each request gets.
        """
        return dose * self.exposure() / 2


@dataclass(frozen=True)
class Delay:
    """Hold the request this long, counted from its arrival, before it goes upstream."""

    seconds: float


@dataclass(frozen=True)
class Reply:
    """Answer the request at the gateway; nothing goes upstream."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Reset:
    """Reset the client's connection; nothing goes upstream and no answer comes."""


Effect = Delay | Reply | Reset


class WireFault(RequestFault):
    """A fault the gateway applies to a request and its response. It expires there when it is not renewed.

    A kind says what it does in one of three methods, or in several: `effects` before the request goes upstream,
    `rewrite` to its prompt, `editor` to its answer where that is a stream. All are pure, do nothing where the draw
    spares the request, and at dose 0 run the same code with the same draws and leave every byte untouched.
    """

    surface: ClassVar[Surface] = "wire"
    goes: ClassVar[Goes] = "expires"

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """What happens to a planned request at `dose` before it goes upstream, in this order."""
        return ()

    def rewrite(self, prompt: PromptText, dose: float, draw: Draw) -> PromptText:
        """What a planned request asks at `dose` in the place of `prompt`; an equal one where nothing changes."""
        return prompt

    def editor(self, dose: float, draw: Draw) -> StreamEditor | None:
        """A new editor of the answer to a planned request at `dose`; None where nothing is to be edited."""
        return None

    @classmethod
    def rewrites(cls) -> bool:
        """Whether this kind rewrites prompts."""
        return cls.rewrite is not WireFault.rewrite

    def reads_body(self) -> bool:
        """Whether it rewrites prompts, or selects by what stands in the body."""
        return self.rewrites() or super().reads_body()


class EngineFault(RequestFault):
    """A fault inside the serving process, on the arrays of single requests at the engine's sites.

    It travels with each request from the gateway to the engine, which carries it out for that request alone. Nothing
    is armed in the engine, so that nothing can stay behind there.
    """

    surface: ClassVar[Surface] = "engine"
    goes: ClassVar[Goes] = "expires"
    finite: ClassVar[bool] = True
    """Whether it makes finite numbers of finite ones; a kind that says no says in its docstring what it makes."""

    @model_validator(mode="after")
    def _shares_one_dose(self) -> EngineFault:
        if self.shape is not None and self.sharing():
            raise ValueError(
                "`shape` does not go with a fault whose requests share what it leaves in the cache: a request would "
                "read what another dose left there; leave one of the two out"
            )
        return self

    def sites(self, layers: int) -> tuple[str, ...]:
        """Where it acts in a model of so many layers: names of `chaosgate.model.sites.SITES` with their numbers."""
        raise NotImplementedError(f"{type(self).__name__} must say at which sites it acts")

    def transform(self, array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
        """`array` at one of its sites as it is at `dose`: pure, of the same shape and type, the same at dose 0.

        It uses the Python array API alone, and draws by position in the request: `chaosgate.model.counter_noise`.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it does to an array")

    def received(self, dose: float, draw: Draw) -> float:
        """How much of `dose` this one request gets, in the unit of the dose; all of it unless a kind says otherwise."""
        return dose

    def sharing(self) -> bool:
        """Whether requests of its window that begin alike read the keys and values that were computed under it."""
        return False


class ClusterTarget(Frozen):
    """Whose pods a fault of the cluster may hit. Left out, those of the run's own target."""

    namespace: Name | None = None
    """Where the pods are; left out, where those of the run's target are."""
    labels: Labels = {}
    """Labels that the pods have, all of them; left out, the pods that the run's target is served by."""


class ClusterFault(Fault):
    """A fault of Kubernetes objects, carried by `driver`. It holds in time: a request meets it or does not.

    A kind says in `changes` what it does, as data; the same at every window for the same seed.
    """

    driver: Literal["kubernetes"] = "kubernetes"
    """Who carries the fault out."""
    target: ClusterTarget = ClusterTarget()
    """Whose pods it may hit."""

    surface: ClassVar[Surface] = "cluster"
    common_permissions: ClassVar[tuple[Permission, ...]] = (
        Permission("", "pods", ("get", "list")),
        Permission("discovery.k8s.io", "endpointslices", ("list",)),
    )
    """What finding the pods and watching them takes, whatever the fault."""

    def window_draw(self, seed: int, phase: str, window: int) -> Draw:
        """This fault's draws for one window: who carries it out and who only looks draw the same."""
        return self.draw(seed, f"{phase}.{window}")

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """What is changed in a window at `dose`, of the target's `pods`: pure, and nothing at dose 0.

        Whom it hits at a dose it hits at a larger one too; `chaosgate.model.change.drawn` gives such an order.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it changes")

    def permissions(self) -> tuple[Permission, ...]:
        """What inject, measure and cleanup must be allowed for this fault."""
        raise NotImplementedError(f"{type(self).__name__} must say what it needs to be allowed")

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """Why `dose` cannot be given to `pods`, one sentence each; none where it can."""
        return []


def too_few(fault: Fault, dose: float, there: int, what: str) -> list[str]:
    """The objection of a fault whose dose counts things, where there are fewer of them."""
    if dose <= there:
        return []
    return [f"{fault.name}: {dose:g} {what} are to be hit, {there} are there; lower the dose or raise their number"]


FAULTS: Registry[Fault] = Registry("fault kind")


def fault_of(data: Any) -> Any:
    """The fault that resolved `data` describes, by its kind; a fault as it is. A ValueError says what is wrong."""
    return of_its_kind(FAULTS, Fault, data, "wire.latency")
