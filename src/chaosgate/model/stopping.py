"""When a run is halted while it goes on: conditions on one-second samples, and budgets of failures and of tokens."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, model_validator

from chaosgate.model.base import Frozen
from chaosgate.units import Bound, Duration, Share, format_duration, format_share

IN_A_ROW = 3
"""Samples in a row that a condition must hold in, where it says nothing else."""
OUT_OF = 20
"""Samples of which a share is taken, where a condition names none."""


class Reading(Frozen):
    """A number of each second, and when it is too bad."""

    sli: str | None = None
    """The SLI of each second; not exact-match, which needs the whole baseline."""
    gauge: str | None = None
    """In place of an SLI a gauge such as vllm:num_requests_waiting or prom:NAME: its last value while that is fresh."""
    bound: Bound
    """What is too bad: the condition holds while the number keeps this bound, such as `> 50 %`."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Reading:
        if (self.sli is None) == (self.gauge is None):
            raise ValueError("name one of `sli` and `gauge`")
        return self

    def __str__(self) -> str:
        return f"{self.sli or self.gauge} {self.bound}"


class ErrorBudget(Frozen):
    """How many requests may fail: those that an objective leaves of all (Beyer et al., Site Reliability Engineering,
    2016, chapter 3, Motivation for Error Budgets).

    Without a window the budget is of all requests that the phase plans: once more have failed, the phase cannot keep
    its objective whatever follows. With one, or where a closed loop plans no number, it is of the requests that ended;
    see The Site Reliability Workbook, 2018, chapter 5, for windows, and there for why few requests say little.
    """

    objective: Annotated[Share, Field(gt=0, lt=1)]
    """The share of requests that must not fail, such as 99 %."""
    window: Annotated[Duration, Field(ge=1, le=86_400)] | None = None
    """Count only what ended in the last so many seconds."""
    minimum: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Requests that must have ended before those are counted against; left out, as many as may fail once: 100 at 99 %.
    Not of planned requests."""

    def allowed(self, requests: float) -> float:
        """How many of `requests` may fail."""
        return round((1 - self.objective) * requests, 9)

    @property
    def enough(self) -> int:
        """Requests that must have ended before they are counted against."""
        return self.minimum or math.ceil(round(1 / (1 - self.objective), 9))

    def __str__(self) -> str:
        window = "" if self.window is None else f" in {format_duration(self.window)}"
        return f"error budget of {format_share(self.objective)}{window}"


class StopCondition(Frozen):
    """Halt the run: when samples of one second are too bad in a row or too often, or when a budget is spent.

    It has one of `sli`, `gauge`, `all`, `errorBudget`, `tokens` and `promptTokens`; the first two need a `bound`, and
    `consecutive`, or `share` with `of`, goes with the first three.
    """

    sli: str | None = None
    """The SLI of each second; not exact-match, which needs the whole baseline."""
    gauge: str | None = None
    """A gauge such as vllm:num_requests_waiting or prom:NAME: its last value each second, while that is fresh."""
    all: Annotated[tuple[Reading, ...], Field(min_length=2, max_length=8)] | None = None
    """Several numbers that must be too bad in the same second."""
    bound: Bound | None = None
    """What is too bad: the condition holds while the number keeps this bound, such as `> 50 %`."""
    consecutive: Annotated[int, Field(ge=1, le=1000)] | None = None
    """One-second samples in a row; 3 where neither this nor `share` is written."""
    share: Annotated[Share, Field(gt=0)] | None = None
    """In place of samples in a row the share of the last `of` samples in which the condition must hold."""
    of: Annotated[int, Field(ge=2, le=3600)] | None = None
    """With `share`: of how many of the last one-second samples; 20 where it is left out."""
    error_budget: ErrorBudget | None = None
    """How many requests may fail, counted in each phase."""
    tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """How many completion tokens a run may cost, warm-up included: by the server's usage figures, else by events."""
    prompt_tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """How many prompt tokens a run may cost, warm-up included, as far as the server's usage figures tell."""

    @model_validator(mode="after")
    def _one_form(self) -> StopCondition:
        forms = {
            "sli": self.sli,
            "gauge": self.gauge,
            "all": self.all,
            "errorBudget": self.error_budget,
            "tokens": self.tokens,
            "promptTokens": self.prompt_tokens,
        }
        given = [name for name, value in forms.items() if value is not None]
        if len(given) != 1:
            read = " and ".join(f"`{name}`" for name in given) or "none of them"
            raise ValueError(f"a stop condition has one of {', '.join(f'`{name}`' for name in forms)}; read {read}")
        self._check_bound(given[0])
        self._check_samples(given[0])
        return self

    def _check_bound(self, form: str) -> None:
        if (self.bound is not None) != (form in ("sli", "gauge")):
            raise ValueError(
                f'`{form}` needs a `bound`, what is too bad, such as "> 50 %"'
                if self.bound is None
                else f"`bound` goes with `sli` or `gauge`, and not with `{form}`"
            )

    def _check_samples(self, form: str) -> None:
        given = [name for name in ("consecutive", "share", "of") if getattr(self, name) is not None]
        if given and form not in ("sli", "gauge", "all"):
            raise ValueError(f"`{given[0]}` goes with samples of `sli`, `gauge` or `all`, and not with `{form}`")
        if self.consecutive is not None and len(given) > 1:
            raise ValueError("`consecutive` counts samples in a row, `share` those of the last `of`; write one of them")
        if self.of is not None and self.share is None:
            raise ValueError("`of` goes with `share`: {share: 50 %, of: 20} is half of the last 20 samples")

    @property
    def readings(self) -> tuple[Reading, ...]:
        """What must be too bad in the same second; none of a budget."""
        if self.all is not None:
            return self.all
        return () if self.bound is None else (Reading(sli=self.sli, gauge=self.gauge, bound=self.bound),)

    @property
    def last(self) -> int:
        """How many of the last samples are looked at."""
        return (self.of or OUT_OF) if self.share is not None else (self.consecutive or IN_A_ROW)

    @property
    def needed(self) -> int:
        """In how many of the last samples it must hold."""
        return self.last if self.share is None else max(1, math.ceil(round(self.share * self.last, 9)))

    @property
    def what(self) -> str:
        """What is watched, in a few words."""
        if self.error_budget is not None:
            return str(self.error_budget)
        if self.tokens is not None or self.prompt_tokens is not None:
            return (
                f"{self.tokens} completion tokens" if self.tokens is not None else f"{self.prompt_tokens} prompt tokens"
            )
        return " and ".join(map(str, self.readings))

    def __str__(self) -> str:
        """The whole condition as a person reads it."""
        if self.error_budget is not None:
            return f"{self.what} is spent"
        if not self.readings:
            return f"{self.what} are spent"
        if self.share is None:
            return f"{self.what} in {self.last} one-second samples in a row"
        return f"{self.what} in {self.needed} of the last {self.last} one-second samples"
