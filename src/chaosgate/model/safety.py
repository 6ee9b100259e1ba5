"""What keeps a run from doing lasting harm: when it stops, and what it may do to pods and nodes of a cluster.

The rules are written here; `chaosgate.deploy.cluster.safety` holds the objects of a real cluster against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from chaosgate.model.base import Frozen, Name
from chaosgate.model.stopping import StopCondition as StopCondition
from chaosgate.registry import nearest
from chaosgate.units import Duration, Share

Rule = Literal[
    "namespace-opt-in",
    "protected-namespace",
    "one-fault-per-target",
    "pod-opt-in",
    "node-opt-in",
    "max-share",
    "max-pods",
    "min-healthy",
    "disruption-budget",
    "time-window",
]
Overridable = Literal["pod-opt-in", "max-share", "max-pods", "min-healthy", "disruption-budget", "time-window"]

FIXED: Mapping[str, str] = {
    "namespace-opt-in": "whose namespace it is must allow it: kubectl label namespace NAME chaosgate/allowed=true",
    "node-opt-in": "whose node it is must allow it: kubectl label node NAME chaos-injectable=true",
    "protected-namespace": "what keeps a cluster alive is never hit",
    "one-fault-per-target": "of two faults on one target neither effect could be told from the other",
}
"""Rules that no spec overrides, and why."""
PROTECTED = ("kube-system", "kube-public", "kube-node-lease", "argo")
"""Namespaces in which nothing is ever changed: Kubernetes' own, and that of the controller that carries the run."""

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MIDNIGHT = "24:00"
"""The end of a day, which no clock shows."""
CLOCK_PATTERN = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
END_PATTERN = r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"
SENTENCE_PATTERN = r"\S.*\S"


def _zone(name: str) -> tzinfo:
    # UTC needs no time zone database, which a small image may lack.
    return UTC if name == "UTC" else ZoneInfo(name)


def _known_zone(name: str) -> str:
    try:
        _zone(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = nearest(name, available_timezones())
        hint = f"did you mean {near!r}?" if near else "write a name of the IANA database such as Europe/Berlin, or UTC"
        raise ValueError(f"unknown time zone {name!r}; {hint}") from error
    return name


def _minutes(clock: str) -> int:
    """Minutes since midnight; `24:00` is 1440."""
    return 60 * int(clock[:2]) + int(clock[3:])


class AllowedTime(Frozen):
    """A stretch of the week in which faults may be injected on a cluster."""

    days: Annotated[tuple[Day, ...], Field(min_length=1)] = DAYS
    """The days on which it begins; left out, every day."""
    from_: Annotated[str, Field(alias="from", pattern=CLOCK_PATTERN)] = "00:00"
    """When it begins, by the clocks of the time zone."""
    to: Annotated[str, Field(pattern=END_PATTERN)] = MIDNIGHT
    """When it is over; a time before `from` is one of the next day."""
    timezone: Annotated[str, AfterValidator(_known_zone)]
    """Whose clocks: a name of the IANA time zone database such as Europe/Berlin, or UTC."""

    @model_validator(mode="after")
    def _some_time(self) -> AllowedTime:
        if self.from_ == self.to:
            raise ValueError(f"from {self.from_} to {self.to} is no time at all; the whole day is 00:00 to {MIDNIGHT}")
        return self

    def holds(self, moment: datetime) -> bool:
        """Whether `moment`, which knows its time zone, lies in it."""
        local = moment.astimezone(_zone(self.timezone))
        now, begin, end = 60 * local.hour + local.minute, _minutes(self.from_), _minutes(self.to)
        today, yesterday = DAYS[local.weekday()] in self.days, DAYS[local.weekday() - 1] in self.days
        if begin < end:
            return today and begin <= now < end
        return (today and now >= begin) or (yesterday and now < end)

    def __str__(self) -> str:
        days = "every day" if len(set(self.days)) == len(DAYS) else ", ".join(self.days)
        return f"{days} from {self.from_} to {self.to} {self.timezone}"


def why_closed(allowed: tuple[AllowedTime, ...], start: datetime, seconds: float) -> str | None:
    """Why no fault may be on for `seconds` from `start` on; None when it may. Without any allowed time it always may.

    Both its ends must lie in an allowed time.
    """
    for moment in (start, start + timedelta(seconds=seconds)):
        if allowed and not any(one.holds(moment) for one in allowed):
            local = moment.astimezone(_zone(allowed[0].timezone))
            return f"{local:%a %Y-%m-%d %H:%M} {allowed[0].timezone} is outside {'; '.join(map(str, allowed))}"
    return None


def _not_fixed(rule: Any) -> Any:
    if rule in FIXED:
        raise ValueError(f"read {rule!r}, which no spec overrides: {FIXED[rule]}")
    return rule


class Override(Frozen):
    """A rule of safety that does not hold for this spec. Whoever reads the record finds it there with its reason."""

    rule: Annotated[Overridable, BeforeValidator(_not_fixed)]
    """The rule."""
    reason: Annotated[str, Field(pattern=SENTENCE_PATTERN)]
    """Why it does not hold here, in a sentence."""


class Safety(Frozen):
    """What keeps a run from doing lasting harm."""

    sweep_after: Duration = 120.0
    """How long after a run should have ended the sweeper waits before it reverts what is left."""
    stop_when: tuple[StopCondition, ...] = ()
    """Conditions of which any one halts the run: every fault goes off, and no other comes."""
    max_pods: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many pods, or nodes, of a target a fault of the cluster may hit at once."""
    max_share: Annotated[Share, Field(gt=0)] = 0.5
    """Which share of a target's pods, or of the cluster's nodes, it may hit at once."""
    min_healthy: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many ready pods of the target, or ready nodes, it must leave alone."""
    protected_namespaces: tuple[Name, ...] = ()
    """Namespaces in which nothing is changed, besides kube-system, kube-public, kube-node-lease and argo."""
    allowed: tuple[AllowedTime, ...] = ()
    """When faults of the cluster may be injected; left out, at any time."""
    overrides: tuple[Override, ...] = ()
    """Rules that do not hold for this spec, each with its reason; they stand in the record."""

    @model_validator(mode="after")
    def _each_once(self) -> Safety:
        rules = [one.rule for one in self.overrides]
        double = next((rule for rule in rules if rules.count(rule) > 1), None)
        if double is not None:
            raise ValueError(f"overrides: {double!r} is overridden twice; write one of them with the whole reason")
        return self

    @property
    def protected(self) -> frozenset[str]:
        """Every namespace in which nothing is changed: a spec adds to those of chaosgate and takes none away."""
        return frozenset((*PROTECTED, *self.protected_namespaces))

    def overridden(self, rule: Rule) -> Override | None:
        """The override of `rule`, None while the rule holds."""
        return next((one for one in self.overrides if one.rule == rule), None)
