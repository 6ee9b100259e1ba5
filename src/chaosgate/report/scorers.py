"""What a report says of the scorers that judged the texts of a run."""

from __future__ import annotations

from collections.abc import Iterator

from chaosgate.model.result import Estimates
from chaosgate.model.scorer import ScorerCard


def scorer_lines(estimates: Estimates | None) -> Iterator[tuple[str, str, bool]]:
    """For each scorer a label, what it is and what it scored, and whether that spoils the run: it could not score."""
    for card in estimates.scorers if estimates else ():
        yield f"scorer {card.name}", _words(card), card.reason is not None


def _words(card: ScorerCard) -> str:
    slis = ", ".join(card.slis)
    if card.reason is not None:
        return f"could not score {slis}: {card.reason}"
    return f"{card.version or 'no version'}, {card.digest}, for {slis}"
