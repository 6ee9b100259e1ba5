"""The verdict of a run: pure rules over what was estimated. Nothing that is missing can ever make it `pass`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chaosgate.judge.objectives import objective_reasons, recovered_reasons, semantic_reasons, steady_state_reasons
from chaosgate.judge.reasons import plain
from chaosgate.judge.trust import health_reasons, injection_reasons, witness_reasons
from chaosgate.model.result import Estimates, Fits, Injection, Reason, Subject, Verdict, worst
from chaosgate.model.spec import ChaosSpec

__all__ = ["judge", "semantic_reasons", "steady_state_reasons"]


def judge(
    spec: ChaosSpec,
    estimates: Estimates | None,
    injections: Mapping[str, Injection],
    fits: Fits | None,
    subject: Subject | None,
    problems: Sequence[str] = (),
) -> Verdict:
    """The verdict with all its reasons, those that pass included; it is the worst of them.

    error > fail > inconclusive > warn > pass, where an objective of severity warn gives at most warn. `problems` are
    sentences about what could not be read or did not run; each is an error, and so are missing estimates, thresholds or
    a subject that is not known.
    """
    reasons = tuple(_reasons(spec, estimates, injections, fits, subject, problems))
    return Verdict(verdict=worst(reasons), reasons=reasons, subject=subject)


def _reasons(
    spec: ChaosSpec,
    estimates: Estimates | None,
    injections: Mapping[str, Injection],
    fits: Fits | None,
    subject: Subject | None,
    problems: Sequence[str],
) -> Iterator[Reason]:
    for problem in problems:
        yield plain("error", problem)
    if estimates is None and problems:
        # The rest could only say again that there is nothing to judge.
        return
    if subject is None:
        yield plain("error", "it is not known what was tested: deploy recorded no subject")
    yield from injection_reasons(spec, injections)
    if estimates is None:
        yield plain("error", "there are no estimates: the data of the run could not be read")
        return
    if [fit.name for fit in spec.spec.fits] != [fit.name for fit in (fits.fits if fits else ())]:
        yield plain("error", "the thresholds do not belong to the spec's fits; fit the run again")
    yield from steady_state_reasons(spec, estimates.steady_state)
    yield from semantic_reasons(spec, estimates.semantic)
    yield from recovered_reasons(spec, estimates.recovered)
    yield from health_reasons(estimates.health)
    yield from witness_reasons(spec, estimates.witnesses)
    yield from objective_reasons(spec, estimates, fits)
