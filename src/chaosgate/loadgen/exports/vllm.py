"""A load as `vllm bench serve` reports one: its JSON's names, and what it means by them.

What differs from chaosgate's own definitions: latencies count from the sending and not from the schedule, so that a
client which lags hides its delay; the first event with a choice counts as the first token, an empty one too; every gap
between events with a choice is an inter-token latency, and the last of them, which may bring a finish reason only, is
the end; failed requests count nowhere but in their number. Percentiles are interpolated, deviations are of the
population. Source: vllm/benchmarks/serve.py and vllm/benchmarks/lib/endpoint_request_func.py of vLLM at 009e6d4 and
02cfb53 (2026).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from chaosgate.errors import UsageError
from chaosgate.model.observation import Observation

GOODPUT_METRICS = ("ttft", "tpot", "e2el")
"""What a goodput bound may be on."""


def export(observations: Iterable[Observation], goodput: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The result's fields, without those that name the set-up. `goodput` are bounds in milliseconds by metric.

    Warm-up requests and cancelled ones are left out. A request is completed when its answer is whole and any event with
    a choice came. `duration` is from the first sending to the last end. An answer whose tokens the server did not count
    has as many as its events with text; vLLM would count them by a tokenizer. An empty event in the middle of an answer
    has no time of its own here: it is counted as if it had come with the first. A UsageError for a bound on something
    else.
    """
    seen = [each for each in observations if not each.warmup and each.outcome != "cancelled"]
    whole = [each for each in seen if each.outcome == "ok" and each.opened is not None]
    seconds = max((each.end for each in seen), default=0.0) - min((each.sent for each in seen), default=0.0)
    made, read = sum(map(_tokens, whole)), sum(each.prompt_tokens or 0 for each in whole)
    return {
        "duration": seconds,
        "completed": len(whole),
        "failed": len(seen) - len(whole),
        "total_input_tokens": read,
        "total_output_tokens": made,
        "request_throughput": _per(len(whole), seconds),
        "request_goodput": _per(_good(whole, goodput), seconds) if goodput else None,
        "output_throughput": _per(made, seconds),
        "total_token_throughput": _per(made + read, seconds),
        **_statistics("ttft", [_ttft(each) for each in whole]),
        **_statistics("tpot", [_tpot(each) for each in whole if _tokens(each) > 1]),
        **_statistics("itl", list(itertools.chain.from_iterable(map(gaps, whole)))),
        **_statistics("e2el", [_latency(each) for each in whole]),
    }


def gaps(seen: Observation) -> Sequence[float]:
    """The seconds between each event with a choice and the next, as far as their times are known."""
    times = list(seen.texts)
    unseen = seen.events - len(times)
    for at in (seen.opened, seen.last):
        if unseen > 0 and at is not None and at not in times:
            times.append(at)
            unseen -= 1
    times = sorted([*times, *itertools.repeat(seen.opened or 0.0, max(unseen, 0))])
    return [later - earlier for earlier, later in itertools.pairwise(times)]


def _statistics(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """Mean, median, deviation and P99 in milliseconds; all 0 without values."""
    values = np.array(seconds or [0.0]) * 1000
    return {
        f"mean_{name}_ms": float(values.mean()),
        f"median_{name}_ms": float(np.median(values)),
        f"std_{name}_ms": float(values.std()),
        f"p99_{name}_ms": float(np.percentile(values, 99)),
    }


def _good(whole: Sequence[Observation], bounds: Mapping[str, float]) -> int:
    unknown = sorted(bounds.keys() - set(GOODPUT_METRICS))
    if unknown:
        raise UsageError(f"read a goodput bound on {unknown[0]!r}; write one of {', '.join(GOODPUT_METRICS)}")
    measures = {"ttft": _ttft, "tpot": _tpot, "e2el": _latency}
    return sum(all(measures[name](each) * 1000 <= most for name, most in bounds.items()) for each in whole)


def _tokens(seen: Observation) -> int:
    return seen.output_tokens or 1


def _ttft(seen: Observation) -> float:
    return (seen.opened or 0.0) - seen.sent


def _latency(seen: Observation) -> float:
    return (seen.end if seen.last is None else seen.last) - seen.sent


def _tpot(seen: Observation) -> float:
    """0 for an answer of one token, which is how its goodput takes it."""
    tokens = _tokens(seen)
    return (_latency(seen) - _ttft(seen)) / (tokens - 1) if tokens > 1 else 0.0


def _per(amount: float, seconds: float) -> float:
    return amount / seconds if seconds > 0 else 0.0
