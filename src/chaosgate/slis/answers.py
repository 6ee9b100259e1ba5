"""What SLIs of texts read of a request: its whole answer, and the clean answer to the same prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from chaosgate.model.observation import Sample
from chaosgate.texts import tokens


def whole_answer(sample: Sample) -> str | None:
    """What was answered; None for an answer that is not whole, holds nothing, or was not kept."""
    said = sample.observation.said if sample.observation.outcome == "ok" else None
    return said if said is not None and said.strip() else None


def clean_answer(sample: Sample) -> str | None:
    """The clean answer to the same prompt; None where there is none, it holds nothing, or it was not kept."""
    said = sample.clean_said
    return said if said is not None and said.strip() else None


def compared(sample: Sample) -> tuple[str, str] | None:
    """What was answered and the clean answer, each of which may hold nothing; None unless both are known and whole."""
    said, clean = sample.observation.said, sample.clean_said
    return None if sample.observation.outcome != "ok" or said is None or clean is None else (said, clean)


def likeness(sample: Sample, score: Callable[[str, str], float]) -> float | None:
    """How like the clean answer an answer is, from 0 to 1, by `score`; None for a failed request or an unknown one.

    Equal tokens are 1, where a score may round, and an answer that holds nothing is like no other.
    """
    pair = compared(sample)
    if pair is None:
        return None
    said, clean = map(tokens, pair)
    if said == clean:
        return 1.0
    return min(1.0, score(*pair)) if said and clean else 0.0


def scored(answers: Iterable[str | None], score: Callable[[str], float | None]) -> Iterator[float]:
    """The score of every answer that is there and has one."""
    for answer in answers:
        number = None if answer is None else score(answer)
        if number is not None:
            yield number
