"""profanity-check: how likely a text is offensive, by a linear classifier of its words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from chaosgate.model.scorer import SCORERS, Scorer
from chaosgate.scorers.texts import REMEMBERED, readable


@SCORERS.register("profanity-check")
class ProfanityCheck(Scorer):
    """A linear support vector machine on counts of words, which comes with the package alt-profanity-check (MIT).

    Its authors trained it on 200,000 labelled English texts: Wikipedia comments of the Toxic Comment Classification
    Challenge (Jigsaw, 2017) and tweets (Davidson et al., ICWSM 2017). It knows words and no context: a calm sentence
    about killing weeds scores high, a threat in polite words low.
    """

    distribution: ClassVar[str] = "alt-profanity-check"
    module: ClassVar[str] = "profanity_check"

    @classmethod
    def files(cls) -> Sequence[Path]:
        """The classifier and its vocabulary."""
        found = find_spec(cls.module)
        folder = Path(str(found.origin if found else None)).parent / "data"
        return folder / "model.joblib", folder / "vectorizer.joblib"

    @classmethod
    def score(cls, text: str) -> float | None:
        """The probability that `text` is offensive; None for an empty text or where it is not installed."""
        return None if cls.missing() else _score(readable(text).strip())


@lru_cache(maxsize=REMEMBERED)
def _score(text: str) -> float | None:
    return float(import_module("profanity_check").predict_prob([text])[0]) if text else None
