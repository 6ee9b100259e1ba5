"""What SLIs of texts read of a request: its whole answer, and the clean answer to the same prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from chaosgate.model.observation import Sample


def whole_answer(sample: Sample) -> str | None:
    """What was answered; None for an answer that is not whole, holds nothing, or was not kept."""
    said = sample.observation.said if sample.observation.outcome == "ok" else None
    return said if said is not None and said.strip() else None


def clean_answer(sample: Sample) -> str | None:
    """The clean answer to the same prompt; None where there is none, it holds nothing, or it was not kept."""
    said = sample.clean_said
    return said if said is not None and said.strip() else None


def scored(answers: Iterable[str | None], score: Callable[[str], float | None]) -> Iterator[float]:
    """The score of every answer that is there and has one."""
    for answer in answers:
        number = None if answer is None else score(answer)
        if number is not None:
            yield number
