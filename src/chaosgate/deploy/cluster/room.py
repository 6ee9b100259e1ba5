"""Whether a namespace has room for a run: what its ResourceQuotas leave, and what its LimitRanges allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaosgate.cluster.quantity import parse_quantity

Json = Mapping[str, Any]
Requests = Mapping[str, str]

NAMES = {"requests.cpu": "cpu", "requests.memory": "memory", "cpu": "cpu", "memory": "memory"}
"""The resource of each key of a quota that counts requests."""
LIMITED = ("limits.cpu", "limits.memory")
"""Keys of a quota that have every container refused that sets no such limit."""


@dataclass(frozen=True)
class PodNeed:
    """Pods that a run has at the same time, and what each of them asks for."""

    what: str
    requests: Requests
    count: int = 1


def peak(servers: Sequence[PodNeed], stages: Sequence[Sequence[PodNeed]]) -> list[PodNeed]:
    """The most pods that a run has at once: its servers, and of its stages the one that asks for the most CPU."""
    return [*servers, *max(stages, key=lambda stage: (total(stage, "cpu"), len(stage)), default=())]


def total(needs: Sequence[PodNeed], resource: str) -> float:
    """CPUs or bytes of all of them together."""
    return sum(parse_quantity(one.requests.get(resource, "0")) * one.count for one in needs)


def shortages(quotas: Sequence[Json], ranges: Sequence[Json], needs: Sequence[PodNeed]) -> Iterator[str]:
    """What does not fit, a sentence each."""
    for quota in quotas:
        # A quota with scopes counts some pods only, and which is the admission controller's own affair.
        if not scoped(quota):
            yield from _over(quota, needs)
            yield from _unlimited(quota, ranges)
    for one in ranges:
        yield from _out_of_range(one, needs)


def scoped(quota: Json) -> bool:
    """Whether a quota counts only some pods."""
    return bool(quota["spec"].get("scopes") or quota["spec"].get("scopeSelector"))


def _over(quota: Json, needs: Sequence[PodNeed]) -> Iterator[str]:
    status = quota.get("status", {})
    for key, hard in (status.get("hard") or quota["spec"].get("hard", {})).items():
        needed = _needed(key, needs)
        left = parse_quantity(hard) - parse_quantity(status.get("used", {}).get(key, "0"))
        if needed > left:
            who = ", ".join(f"{one.count} {one.what}" for one in needs)
            yield (
                f"ResourceQuota {quota['metadata']['name']} leaves {_amount(key, left)} of {hard} {key}, a run needs "
                f"{_amount(key, needed)} at its peak ({who}): raise it, or end what else uses it"
            )


def _needed(key: str, needs: Sequence[PodNeed]) -> float:
    if key in ("pods", "count/pods"):
        return sum(one.count for one in needs)
    return total(needs, NAMES[key]) if key in NAMES else 0.0


def _amount(key: str, value: float) -> str:
    return f"{value / 2**20:.0f}Mi" if NAMES.get(key) == "memory" else f"{value:g}"


def unasked(quotas: Sequence[Json], ranges: Sequence[Json]) -> list[str]:
    """Resources that a quota wants every container to ask for, and that nothing gives to one that does not.

    A run's own containers ask for both; the containers that Argo adds to a step's pod do so only where told to.
    """
    keys = {key for quota in quotas if not scoped(quota) for key in quota["spec"].get("hard", {})}
    limits = _container_limits(ranges)
    given = {name for one in limits for key in ("default", "defaultRequest") for name in one.get(key, {})}
    return sorted({NAMES[key] for key in keys & NAMES.keys()} - given)


def _unlimited(quota: Json, ranges: Sequence[Json]) -> Iterator[str]:
    """Limits that a quota wants of every container, while a run's set none and nothing sets them."""
    hard = quota["spec"].get("hard", {})
    for key in LIMITED:
        resource = key.removeprefix("limits.")
        if key in hard and not any(resource in one.get("default", {}) for one in _container_limits(ranges)):
            yield (
                f"ResourceQuota {quota['metadata']['name']} counts {key}: a container without one is refused, and "
                f"those of a run set none; give the namespace a LimitRange with a default for {resource}"
            )


def _out_of_range(one: Json, needs: Sequence[PodNeed]) -> Iterator[str]:
    name = one["metadata"]["name"]
    for limits in _container_limits([one]):
        for resource in ("cpu", "memory"):
            for need in needs:
                asked = need.requests.get(resource)
                why = None if asked is None else _why_outside(asked, resource, limits)
                if why is not None:
                    yield (
                        f"LimitRange {name} {why} of {resource} a container, {need.what} asks for {asked}: change it, "
                        "or what the component asks for with carrier.resources"
                    )


def _why_outside(asked: str, resource: str, limits: Json) -> str | None:
    """What of a LimitRange refuses a container that asks for `asked` and sets no limit."""
    amount = parse_quantity(asked)
    least, most = limits.get("min", {}).get(resource), limits.get("max", {}).get(resource)
    default = limits.get("default", {}).get(resource)
    if least is not None and amount < parse_quantity(least):
        return f"wants at least {least}"
    if most is not None and amount > parse_quantity(most):
        return f"allows at most {most}"
    if default is not None and amount > parse_quantity(default):
        return f"sets the limit {default}"
    return None


def _container_limits(ranges: Sequence[Json]) -> list[Json]:
    return [limits for one in ranges for limits in one["spec"].get("limits", []) if limits.get("type") == "Container"]
