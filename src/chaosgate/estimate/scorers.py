"""Which scorers judged the texts of a run."""

from __future__ import annotations

from chaosgate.model.named_slis import named_kinds
from chaosgate.model.scorer import ScorerCard, scorer_card
from chaosgate.model.sli import SLIS
from chaosgate.model.spec import ChaosSpec


def used_scorers(spec: ChaosSpec) -> tuple[ScorerCard, ...]:
    """The card of every scorer that an SLI of `spec` needs, by name, each with these SLIs."""
    named = set(named_kinds(spec))
    found: dict[str, list[str]] = {}
    for name, kind in SLIS.items():
        if kind in named and kind.scorer is not None:
            found.setdefault(kind.scorer, []).append(name)
    return tuple(scorer_card(scorer, slis) for scorer, slis in sorted(found.items()))
