"""The requests of a phase: what the client saw, joined with the gateway's ledger and put on the gateway's clock."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chaosgate.estimate.data import PhaseData
from chaosgate.model.observation import LedgerRow, Observation
from chaosgate.model.request_id import request_prefix


@dataclass(frozen=True)
class Request:
    """One request of a phase: its observation, when it reached and left the gateway, and the window on first, by fault.

    `by_ledger` is False for a request that never reached the gateway: `seen` and `done` are then what they would have
    been.
    """

    observation: Observation
    seen: float
    windows: Mapping[str, int]
    by_ledger: bool
    done: float


@dataclass(frozen=True)
class Joined:
    """The requests of a phase in the order of their numbers, and what is wrong with its data, one sentence each."""

    requests: tuple[Request, ...]
    problems: tuple[str, ...]


def join(phase: PhaseData, faults: Sequence[str], seed: int) -> Joined:
    """Join the client's and the gateway's account of `phase`, in which `faults` (none in the baseline) were injected.

    Each request that reached the gateway has one ledger row a fault, or one row without a fault in the baseline. A
    request that got no connection has none; it still counts, and is put where it was due: its scheduled time plus the
    median of arrival minus sending over the phase, which is the offset between the two clocks.
    """
    prefix = request_prefix(seed, phase.phase)
    observations = sorted(phase.observations, key=lambda seen: (_number(seen.request, prefix), seen.sent))
    rows: dict[str, list[LedgerRow]] = {}
    for row in sorted(phase.ledger, key=lambda row: (row.seen, row.request, row.fault or "")):
        rows.setdefault(row.request, []).append(row)
    offset = _offset(observations, rows)
    requests = [_request(seen, rows.get(seen.request, []), offset) for seen in observations]
    return Joined(tuple(requests), tuple(_problems(phase.phase, prefix, observations, rows, faults)))


def _request(seen: Observation, rows: Sequence[LedgerRow], offset: float) -> Request:
    if not rows:
        return Request(seen, seen.scheduled + offset, {}, by_ledger=False, done=seen.end + offset)
    windows = {row.fault: row.window for row in rows if row.fault is not None and row.window is not None}
    return Request(seen, rows[0].seen, windows, by_ledger=True, done=max(row.done for row in rows))


def _offset(observations: Iterable[Observation], rows: Mapping[str, Sequence[LedgerRow]]) -> float:
    offsets = [rows[seen.request][0].seen - seen.sent for seen in observations if seen.request in rows]
    # Without any arrival there is no common clock: such requests lie in no window, and `_problems` says so.
    return statistics.median(offsets) if offsets else math.nan


def _number(request: str, prefix: str) -> int:
    number = request.removeprefix(prefix)
    return int(number) if request.startswith(prefix) and number.isascii() and number.isdigit() else -1


def _problems(
    phase: str,
    prefix: str,
    observations: Sequence[Observation],
    rows: Mapping[str, Sequence[LedgerRow]],
    faults: Sequence[str],
) -> Iterable[str]:
    known = {seen.request for seen in observations}
    checks = {
        f"are not named {prefix}NUMBER": [o.request for o in observations if _number(o.request, prefix) < 0],
        "were observed more than once": [name for name, n in Counter(o.request for o in observations).items() if n > 1],
        "have times that run backwards or are no numbers": [o.request for o in observations if not _in_order(o)],
        "name another phase": _of_another_phase(phase, observations, rows),
        "are in the ledger and were not observed": [name for name in rows if name not in known],
        f"were answered but lack their ledger rows, one for {_listed(faults)}": _without_rows(
            observations, rows, faults
        ),
        "are missing from the observations by their numbers": _missing_numbers(prefix, observations),
    }
    if observations and not rows:
        yield f"{phase}: no request reached the gateway; is the load sent to the gateway's address?"
    for complaint, names in checks.items():
        if names:
            yield f"{phase}: {len(names)} requests {complaint}, first {sorted(names)[0]}"


def _listed(faults: Sequence[str]) -> str:
    return ", ".join(faults) or "the request"


def _in_order(seen: Observation) -> bool:
    times = [seen.sent, *([] if seen.first is None else [seen.first]), seen.end]
    finite = all(math.isfinite(time) for time in (seen.scheduled, *times, *seen.tokens))
    return finite and times == sorted(times)


def _of_another_phase(
    phase: str, observations: Sequence[Observation], rows: Mapping[str, Sequence[LedgerRow]]
) -> list[str]:
    strangers = {seen.request for seen in observations if seen.phase != phase}
    return sorted(strangers | {row.request for each in rows.values() for row in each if row.phase != phase})


def _without_rows(
    observations: Sequence[Observation], rows: Mapping[str, Sequence[LedgerRow]], faults: Sequence[str]
) -> list[str]:
    expected = sorted(faults) or [""]
    names = []
    for seen in observations:
        found = sorted(row.fault or "" for row in rows.get(seen.request, ()))
        connected = seen.status is not None or seen.outcome == "ok"
        if found != expected and (found or connected):
            names.append(seen.request)
    return names


def _missing_numbers(prefix: str, observations: Sequence[Observation]) -> list[str]:
    """Requests are numbered from 0 without gaps, so a number that is skipped is a request that was lost."""
    numbers = {number for seen in observations if (number := _number(seen.request, prefix)) >= 0}
    if not numbers:
        return []
    return [f"{prefix}{number}" for number in range(max(numbers)) if number not in numbers]
