"""What every fault is: a name, a kind, whom it selects, a dose axis to sweep, and how it goes away again.

A kind is one class in one file: its fields are its parameters, its methods its pure behaviour on its surface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.errors import RegistryError
from chaosgate.model.base import Frozen, Name
from chaosgate.model.change import Change, Permission, TargetPod
from chaosgate.model.labels import Labels
from chaosgate.model.observation import MIN_WINDOWS, Observation, Sample
from chaosgate.model.sites import Array, SiteContext
from chaosgate.registry import Registry
from chaosgate.units import Dimension, Duration, Share, Unit

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


class Select(Frozen):
    """Which requests a fault may touch. Whatever is left out selects everything."""

    share: Share = 1.0
    """The share of requests, drawn by request id; the draw does not depend on the dose."""
    path: str | None = None
    """The exact URL path, such as /v1/chat/completions."""

    def matches(self, path: str) -> bool:
        """Whether a request to `path` may be touched at all, before the share is drawn."""
        return self.path is None or self.path == path


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

    def planned(self, draw: Draw, path: str) -> bool:
        """Whether the request is among those this fault may touch; independent of window and dose."""
        return False


class RequestFault(Fault):
    """A fault of single requests: it may touch those that it selects."""

    select: Select = Select()
    """Whom the fault may touch."""

    def planned(self, draw: Draw, path: str) -> bool:
        """Whether the request is selected."""
        return self.select.matches(path) and draw.at("select") < self.select.share

    def least_rise(self, dose: float) -> float:
        """Half of what `dose` does on average to all requests: less than that is not this dose's effect.

        It is `moved` of a witness whose mean grows by `dose` for each request that is selected.
        """
        return dose * self.select.share / 2


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
class Cut:
    """Close a stream after so many data events; `marker` sends the final `[DONE]` event first."""

    after: int
    marker: bool


Effect = Delay | Reply | Cut


class WireFault(RequestFault):
    """A fault the gateway applies to a request and its response. It expires there when it is not renewed."""

    surface: ClassVar[Surface] = "wire"
    goes: ClassVar[Goes] = "expires"

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """What happens to a planned request at `dose`: pure, and nothing at all where the draw spares the request.

        Dose 0 runs the same code with the same draws and must leave the bytes untouched.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it does to a request")


class EngineFault(RequestFault):
    """A fault inside the serving process, on the arrays of single requests at the engine's sites.

    It travels with each request from the gateway to the engine, which carries it out for that request alone. Nothing
    is armed in the engine, so that nothing can stay behind there.
    """

    surface: ClassVar[Surface] = "engine"
    goes: ClassVar[Goes] = "expires"
    finite: ClassVar[bool] = True
    """Whether it makes finite numbers of finite ones; a kind that says no says in its docstring what it makes."""

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
    if isinstance(data, Fault):
        return data
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str):
        raise ValueError("a fault is an object with a `kind`, such as wire.latency")
    try:
        return FAULTS.get(kind).model_validate(data)
    except RegistryError as error:
        raise ValueError(str(error)) from error
