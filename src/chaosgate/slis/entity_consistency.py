"""entity-consistency: the share of answers that name what they must, and nothing of another conversation."""

from __future__ import annotations

from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.texts import names
from chaosgate.units import Dimension


@SLIS.register("entity-consistency")
class EntityConsistency(Sli):
    """Answers that name all entities of their prompt, and none that only other prompts of the set speak of.

    Prompts tell their entities, such as the order of the user who asks: those of the set `ten-turns`, whose sessions of
    ten turns hold different values under the same keys, and those of a file with `entities`. Naming another session's
    shows that conversations were mixed up, a wrong one of its own that this one was forgotten. Large and small letters
    are the same. A failed request does not count, error-rate counts it.
    """

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "share"
    scores: ClassVar[bool] = True
    reads_text: ClassVar[bool] = True
    reads_known: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """1 where the entities are kept, else 0; None for a prompt without entities or a failed request."""
        seen, known = sample.observation, sample.known
        if known is None or not known.entities or seen.outcome != "ok" or seen.said is None:
            return None
        kept = all(names(seen.said, entity) for entity in known.entities)
        return float(kept and not any(names(seen.said, stranger) for stranger in known.strangers))
