"""recall-accuracy: the share of what the known answer holds that an answer gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, ClassVar

from chaosgate.model.observation import Known, Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.strict_json import parse_json
from chaosgate.texts import words
from chaosgate.units import Dimension


@SLIS.register("recall-accuracy")
class RecallAccuracy(Sli):
    """The words of the known answer that stand in the answer, wherever they stand; of JSON those of its values.

    An answer that gives two of three facts counts as two thirds, whatever words are around them; answer-accuracy,
    which is stricter, counts it as wrong. A word that the known answer has twice is needed twice. A failed request
    counts as 0, as in answer-accuracy: whoever asked learned nothing.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"
    usual: ClassVar[str | None] = ">= 95 %"
    scores: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True
    reads_known: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """From 0 to 1; None for a prompt without a known answer that has a word, or a cancelled request."""
        seen, known = sample.observation, sample.known
        wanted = () if known is None else wanted_words(known)
        if not wanted or seen.outcome == "cancelled" or (seen.outcome == "ok" and seen.said is None):
            return None
        return _recalled(wanted, seen.said or "" if seen.outcome == "ok" else "")


@lru_cache(maxsize=4096)
def _recalled(wanted: tuple[str, ...], said: str) -> float:
    return (Counter(wanted) & Counter(words(said))).total() / len(wanted)


@lru_cache(maxsize=4096)
def wanted_words(known: Known) -> tuple[str, ...]:
    """The words that an answer must hold: of the known answer, or of the values of its JSON."""
    answer = known.answer or ""
    if not known.json:
        return words(answer)
    try:
        return tuple(word for value in _values(parse_json(answer)) for word in words(value))
    except (ValueError, RecursionError):
        return words(answer)


def _values(data: Any) -> Iterator[str]:
    if isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _values(item)
    elif data is not None:
        yield str(data)
