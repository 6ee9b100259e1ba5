"""Prometheus text, exposition format 0.0.4: the pieces that the metrics pages of gateway and engine are made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Histogram:
    """Counts of observations by upper bounds, their sum and number."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count `value`; a value equal to a bound belongs below it."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str, labels: str = "") -> list[str]:
        """The samples: cumulative buckets, `_sum` and `_count`; `labels` as `label` writes them, joined by commas."""
        cumulative = list(accumulate(self._counts))
        bounds = [*map(str, self._bounds), "+Inf"]
        return [
            *(
                sample(f"{name}_bucket", ",".join(filter(None, (labels, f'le="{bound}"'))), count)
                for bound, count in zip(bounds, cumulative, strict=True)
            ),
            sample(f"{name}_sum", labels, self._sum),
            sample(f"{name}_count", labels, cumulative[-1]),
        ]


def family(name: str, kind: str, text: str, samples: Iterable[str]) -> str:
    """A metric with its help text, its kind and its `samples`."""
    return "\n".join((f"# HELP {name} {text}", f"# TYPE {name} {kind}", *samples, ""))


def sample(name: str, labels: str, value: float) -> str:
    """One line: a metric with its labels, if there are any, and its value."""
    return f"{name}{{{labels}}} {value}" if labels else f"{name} {value}"


def label(name: str, value: str) -> str:
    """`name="value"`, escaped; a lone surrogate, which JSON lets through and UTF-8 does not, becomes `?`."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped.encode("utf-8", errors="replace").decode()}"'
