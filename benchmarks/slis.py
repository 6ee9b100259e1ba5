"""How long every SLI takes, intervals included, over a run of a million output tokens.

    python benchmarks/slis.py                a table
    python benchmarks/slis.py --json         one JSON object a line: name, value, unit, goal, peers
    python benchmarks/slis.py --selftest     measures half the tokens and must see the whole take about twice as long

62,500 requests of 16 tokens in 24 windows, 0.1 % of them failed, and every tenth answer is not the clean one; their
observations are in memory, as a run holds them once its files are read. Every SLI kind of the default install is
estimated over the first half of the windows, quantiles at P50 and P99, and borrows from the second; beside it stand
those that ask a model and need the extra `quality`, whose model is loaded within the time. Peak memory is that of the
whole process, observations included.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np
from figures import Figure, see_twofold, show

from chaosgate.estimate.numbers import estimate
from chaosgate.model.observation import Known, Observation, RequestBound, Sample, Window
from chaosgate.model.sli import SLIS, SliRef, resolve_sli
from chaosgate.units import Bound

REQUESTS, TOKENS, WINDOWS, PROMPTS = 62_500, 16, 24, 24
LENGTH = 60.0
"""Seconds of a window."""
FAILED = 0.001
SLO = (RequestBound(sli="ttft", bound=Bound.parse("<= 200ms")), RequestBound(sli="tpot", bound=Bound.parse("<= 40ms")))


def observation(number: int, gaps: np.ndarray, failed: bool) -> Observation:
    """A request with the first token after the first gap, and then one after each."""
    due = number * 0.01
    times = tuple((due + np.cumsum(gaps)).tolist())
    return Observation(
        request=f"7.block1.{number}",
        phase="block1",
        prompt=f"recall-24/{number % PROMPTS}",
        scheduled=due,
        sent=due,
        first=times[0],
        tokens=times,
        end=times[-1],
        status=200,
        outcome="cut" if failed else "ok",
        answer="right" if number % 7 else "wrong",
        accepted=number % 5 > 0,
        text="sha256:a",
        claimed=len(times),
        said=answer(number % PROMPTS, number % 40 if number % 10 == 0 else None),
        logprobs=(-0.1 * len(times), len(times)),
    )


def answer(prompt: int, slip: int | None) -> str:
    """The words of the clean answer, one of them another where there is a slip."""
    return " ".join(f"other{slip}" if slip == word else f"word{prompt}x{word}" for word in range(TOKENS))


def sample(seen: Observation) -> Sample:
    """The request with all that an SLI may read of its prompt."""
    prompt = int(seen.prompt.rpartition("/")[2])
    clean = answer(prompt, None)
    known = Known(
        clean,
        entities=(f"word{prompt}x0",),
        strangers=frozenset({f"word{prompt + 1}x0"}),
        text=f"Which word is next to word{prompt}?",
    )
    return Sample(seen, "sha256:a", SLO, clean, seen.logprobs, known)


def windows(requests: int) -> list[Window]:
    """The requests, cut into windows."""
    random = np.random.default_rng(1)
    size = requests // WINDOWS
    cut = [tuple(samples(random, index * size, size)) for index in range(WINDOWS)]
    return [
        Window("baseline", "baseline", None, index, None, index * LENGTH, (index + 1) * LENGTH, each)
        for index, each in enumerate(cut)
    ]


def samples(random: np.random.Generator, first: int, size: int) -> Iterator[Sample]:
    """The requests of one window, which is a little slower or faster than the others."""
    gaps = random.gamma(4, 0.005 * random.uniform(0.9, 1.1), (size, TOKENS))
    failed = random.random(size) < FAILED
    return (sample(observation(first + i, gaps[i], bool(failed[i]))) for i in range(size))


def named(scored: bool) -> Iterator[SliRef]:
    """Every SLI, those that ask a model or the others; distributions at two percentiles."""
    for name, kind in SLIS.items():
        if (kind.scorer is not None or kind.needs is not None) != scored:
            continue
        if kind.statistic == "quantile":
            yield from (resolve_sli(f"{name}-p{percent}") for percent in (50, 99))
        else:
            yield resolve_sli(name)


def taken(cut: Sequence[Window], scored: bool = False) -> float:
    """Seconds of one core for those SLIs; each must have its interval."""
    begun = time.process_time()
    for ref in named(scored):
        numbers = estimate(ref, cut[: WINDOWS // 2], [cut[WINDOWS // 2 :]])
        if numbers.reason is not None:
            sys.exit(f"{ref.name}: {numbers.reason}")
    return time.process_time() - begun


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--json", "--selftest"):
        parser.add_argument(flag, action="store_true")
    words = parser.parse_args()
    if words.selftest:
        taken(windows(REQUESTS // 20))  # What is imported on first use is not counted.
        see_twofold(taken(windows(REQUESTS // 2)), taken(windows(REQUESTS)))
        return
    cut = windows(REQUESTS)
    figures = [Figure("slis_1m_tokens_s", taken(cut), "s", 5.0, {"those that ask a model": taken(cut, scored=True)})]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    show([*figures, Figure("slis_1m_peak_gb", peak, "GB", 1.0)], words.json)


if __name__ == "__main__":
    main()
