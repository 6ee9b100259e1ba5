"""What every fault is: a name, a kind, whom it selects, a dose axis to sweep, and how it goes away again.

A kind is one class in one file: its fields are its parameters, its methods its pure behaviour on its surface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.base import Frozen, Name
from chaosgate.model.observation import MIN_WINDOWS, Observation
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


class Fault(Frozen):
    """A fault of a spec. A kind subclasses a surface below and is registered with `@FAULTS.register(kind)`."""

    name: Name
    """The name by which fits, objectives, ledger and report refer to this fault."""
    kind: str
    """The registered kind, `family.kind`."""
    select: Select = Select()
    """Whom the fault may touch."""
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

    def witness(self, dose: float) -> Witness:
        """What the client must have seen at `dose` (> 0)."""
        raise NotImplementedError(f"{type(self).__name__} must say what shows its effect")

    def draw(self, seed: int, request: str) -> Draw:
        """This fault's draws for one request."""
        return Draw(seed, self.name, request)

    def planned(self, draw: Draw, path: str) -> bool:
        """Whether the request is among those this fault may touch; independent of window and dose."""
        return self.select.matches(path) and draw.at("select") < self.select.share


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


class WireFault(Fault):
    """A fault the gateway applies to a request and its response. It expires there when it is not renewed."""

    surface: ClassVar[Surface] = "wire"
    goes: ClassVar[Goes] = "expires"

    def least_rise(self, dose: float) -> float:
        """Half of what `dose` does on average to all requests: less than that is not this dose's effect.

        It is `moved` of a witness whose mean grows by `dose` for each request that is selected.
        """
        return dose * self.select.share / 2

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """What happens to a planned request at `dose`: pure, and nothing at all where the draw spares the request.

        Dose 0 runs the same code with the same draws and must leave the bytes untouched.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it does to a request")


FAULTS: Registry[Fault] = Registry("fault kind")
