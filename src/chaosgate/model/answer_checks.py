"""No gate rests on embeddings alone: beside each such objective stands one that looks at the answers themselves.

An embedding of wrong text lies near that of the right one: a fact that is changed leaves the cosine above .85, as
tests/unit/scorers shows. What passes by it alone may be wrong throughout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chaosgate.errors import Problem, RegistryError
from chaosgate.model.fit import Fit
from chaosgate.model.sli import SLIS, Sli, resolve_sli
from chaosgate.model.source import DataPath
from chaosgate.model.spec import DoseRange, Objective

ALL = "all doses"


@dataclass(frozen=True)
class _Gate:
    """A gate objective with the SLI kind that it rests on, the fault it means, and where it looks."""

    objective: Objective
    kind: type[Sli]
    fault: str | None
    place: str

    @property
    def checks_answers(self) -> bool:
        """Whether each answer is graded right or wrong: overlap of words keeps a wrong fact near, too."""
        return self.kind.scores and self.kind.statistic == "share"

    def covers(self, other: _Gate) -> bool:
        """Whether it looks where `other` looks: at the same place, or at all doses where that looks at some."""
        places = (other.place, ALL) if other.place.startswith("dose ") else (other.place,)
        return self.fault == other.fault and self.place in places


def unchecked_embeddings(
    objectives: Mapping[DataPath, Objective], fits: Mapping[str, Fit], faults: Sequence[str]
) -> Iterator[Problem]:
    """A problem for each gate objective that rests on embeddings where no other one checks the answers.

    `objectives` are all of a spec's, by their path; `fits` its fits by name; `faults` the names of its faults.
    """
    only = faults[0] if len(faults) == 1 else None
    gates = {path: _gate(each, fits, only) for path, each in objectives.items() if each.severity == "gate"}
    known = [gate for gate in gates.values() if gate is not None]
    for path, gate in gates.items():
        if gate is None or not gate.kind.embedding:
            continue
        if not any(other.checks_answers and other.covers(gate) for other in known):
            yield Problem((*path, "fit" if gate.objective.fit else "sli"), _sentence(gate.objective))


def _gate(objective: Objective, fits: Mapping[str, Fit], only: str | None) -> _Gate | None:
    """The objective as a gate, None where a name in it is not known; that is said elsewhere."""
    if objective.fit is not None:
        fit = fits.get(objective.fit)
        known = fit is not None and fit.response.sli in SLIS
        # A fit looks at all doses of its fault.
        return _Gate(objective, SLIS.get(fit.response.sli), fit.fault, ALL) if fit and known else None
    try:
        kind = resolve_sli(str(objective.sli)).kind
    except RegistryError:
        return None
    return _Gate(objective, kind, objective.fault or only, _place(objective))


def _place(objective: Objective) -> str:
    if not isinstance(objective.at, DoseRange):
        return str(objective.at)
    return ALL if objective.at.dose == "all" else f"dose {objective.at.dose}"


def _sentence(gate: Objective) -> str:
    read = f"read {gate.fit!r}, a fit on embeddings" if gate.fit else f"read {gate.sli!r}, which compares embeddings"
    return (
        f"{read}: these do not tell a wrong answer from a right one, so that no gate may rest on them alone; add a "
        "gate objective at the same place on an SLI that grades each answer, answer-accuracy or exact-match, or write "
        "`severity: warn` here"
    )
