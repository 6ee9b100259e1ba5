"""profanity-check: how likely a text is offensive, by a linear classifier of its words."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
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
    def prepare(cls, texts: Collection[str]) -> None:
        """Score many texts in one call: of one alone most of the time goes into the call itself."""
        if not cls.missing():
            _score_all({_plain(text) for text in texts})

    @classmethod
    def score(cls, text: str) -> float | None:
        """The probability that `text` is offensive; None for an empty text or where it is not installed."""
        plain = _plain(text)
        if not plain or cls.missing():
            return None
        if plain not in _SCORES:
            _score_all({plain})
        return _SCORES[plain]


_SCORES: dict[str, float] = {}
"""The scores of the texts that were scored last."""


def _plain(text: str) -> str:
    return readable(text).strip()


def _score_all(texts: Set[str]) -> None:
    new = sorted(texts - _SCORES.keys() - {""})
    if len(_SCORES) + len(new) > REMEMBERED:
        _SCORES.clear()
    if new:
        scores = import_module("profanity_check").predict_prob(new)
        _SCORES.update(zip(new, map(float, scores), strict=True))
