"""best: of several fits that answer the same question, the one that the data support best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from chaosgate.model.fit import FITS, BreakResponse, DoseWindow, Fit, Response, Threshold
from chaosgate.registry import unknown
from chaosgate.units import Dimension


@FITS.register("best")
class Best(Fit):
    """Fits each of `kinds` and takes the one with the least QAICc, Akaike's criterion for small, overdispersed samples.

    The kinds must ask for the same response: with a `share` those that find where it is passed, such as logistic and
    isotonic; without one those that find where the share begins to rise, such as segmented and phase-change.
    The interval reaches over those of every kind within 7 of the best, none of which the data rule out.
    """

    kind: Literal["best"]
    response: Response | BreakResponse
    kinds: Annotated[tuple[str, ...], Field(min_length=2)]
    """The fit kinds to choose from."""

    @model_validator(mode="after")
    def _same_question(self) -> Self:
        for kind in self.kinds:
            if kind not in FITS:
                raise ValueError(unknown("fit kind", kind, FITS.names()))
            if FITS.get(kind).model_fields["response"].annotation is not type(self.response):
                answers = ", ".join(choices(type(self.response)))
                share = "with a share" if isinstance(self.response, Response) else "without a share"
                raise ValueError(f"read {kind!r} in `kinds`, which does not fit a response {share}; {answers} do")
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError(f"read {', '.join(self.kinds)} in `kinds`; write each once")
        return self

    def finds(self) -> str:
        """What the first of its kinds finds."""
        return self._fits()[0].finds()

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The threshold of the kind that is chosen, or the doses around it, or the reasons of all kinds for none."""
        # Numpy is loaded only where something is fitted: a spec is validated without it.
        from chaosgate.statistics.choice import choose

        found = {fit.kind: fit.fit(windows, seed, dimension) for fit in self._fits()}
        return choose(found, windows)

    def _fits(self) -> list[Fit]:
        common = {"name": self.name, "fault": self.fault, "response": self.response}
        return [FITS.get(kind)(kind=kind, **common) for kind in self.kinds]


def choices(response: type[BreakResponse]) -> list[str]:
    """The kinds that ask for just such a response."""
    return [name for name, kind in FITS.items() if kind.model_fields["response"].annotation is response]
