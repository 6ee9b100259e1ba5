"""What a run may cost in failed requests and in tokens, and when that is spent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chaosgate.model.observation import Observation, Sample
from chaosgate.model.sli import resolve_sli
from chaosgate.model.stopping import ErrorBudget, StopCondition


@dataclass(frozen=True)
class Spent:
    """Tokens that a run has cost: of completions, and of prompts as far as the server says."""

    completion: int = 0
    prompt: int = 0

    def more(self, observations: Iterable[Observation]) -> Spent:
        """With those of `observations`. Without the server's usage figures each event with content is one token."""
        completion, prompt = self.completion, self.prompt
        for seen in observations:
            completion += len(seen.tokens) if seen.claimed is None else seen.claimed
            prompt += seen.prompt_tokens or 0
        return Spent(completion, prompt)


def why_spent(condition: StopCondition, spent: Spent, now: float) -> str | None:
    """Why the tokens of `condition` are spent at `now`, None while they are not or it has none."""
    for limit, used, what in (
        (condition.tokens, spent.completion, "completion"),
        (condition.prompt_tokens, spent.prompt, "prompt"),
    ):
        if limit is not None and used >= limit:
            return f"stop condition {limit} {what} tokens: {used} were used up to {now:.0f} s"
    return None


class ErrorBudgetWatch:
    """Counts the failed requests of a phase against a budget; `planned` are the requests that it plans, if it does."""

    def __init__(self, budget: ErrorBudget, planned: float | None) -> None:
        self._budget = budget
        self._planned = planned if budget.window is None else None
        self._failing = resolve_sli("error-rate").kind.value
        self._seconds: deque[tuple[int, int, int]] = deque()
        self._ended = self._failed = 0

    def judge(self, second: int, observations: Sequence[Observation]) -> str | None:
        """Why the budget is spent by the end of `second`, in which `observations` ended; None while it is not."""
        self._count(second, observations)
        now = second + 1
        if self._planned is not None:
            of, words = self._planned, f"{self._planned:.0f} that the phase plans"
        elif self._ended >= self._budget.enough:
            of, words = float(self._ended), f"{self._ended} that ended{self._since()}"
        else:
            return None
        allowed = self._budget.allowed(of)
        if self._failed <= allowed:
            return None
        failed = f"{self._failed} requests failed up to {now} s"
        return f"stop condition {self._budget}: {failed}, {allowed:g} of the {words} may"

    def _count(self, second: int, observations: Sequence[Observation]) -> None:
        values = [self._failing(Sample(seen, None)) for seen in observations if not seen.warmup]
        counted = [value for value in values if value is not None]
        self._seconds.append((second, len(counted), sum(value > 0 for value in counted)))
        self._ended += self._seconds[-1][1]
        self._failed += self._seconds[-1][2]
        window = self._budget.window
        while window is not None and self._seconds[0][0] + window <= second:
            _, ended, failed = self._seconds.popleft()
            self._ended -= ended
            self._failed -= failed
        if window is None:
            self._seconds.clear()

    def _since(self) -> str:
        return " so far" if self._budget.window is None else f" in the last {self._budget.window:g} s"
