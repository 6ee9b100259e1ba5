"""Which scorers judge the texts of a run."""

from __future__ import annotations

from chaosgate.estimate.data import RunData
from chaosgate.model.named_slis import named_kinds
from chaosgate.model.scorer import SCORERS, ScorerCard, scorer_card
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


def prepare_scorers(run: RunData) -> None:
    """Every scorer that the spec needs has seen the run's texts, all at once; those of prompts come one by one."""
    observations = (seen for phase in run.phases.values() for seen in phase.observations)
    said = {seen.said for seen in observations if seen.said is not None and seen.outcome == "ok"}
    for card in used_scorers(run.spec):
        SCORERS.get(card.name).prepare(said)
