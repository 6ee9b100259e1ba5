"""The SLI kinds that a spec names anywhere, and what they want the run to keep of every answer."""

from __future__ import annotations

from collections.abc import Iterator

from chaosgate.model.sli import SLIS, Sli, resolve_sli
from chaosgate.model.spec import ChaosSpec


def named_kinds(spec: ChaosSpec) -> list[type[Sli]]:
    """Every SLI kind that `spec` names, each once, in the order of the spec."""
    return list(dict.fromkeys(_kinds(spec)))


def keeps_texts(spec: ChaosSpec) -> bool:
    """Whether a run of `spec` keeps what was answered."""
    return any(kind.reads_text for kind in named_kinds(spec))


def keeps_logprobs(spec: ChaosSpec) -> bool:
    """Whether the client asks for the log-probabilities of the answers' tokens."""
    return any(kind.reads_logprobs for kind in named_kinds(spec))


def _kinds(spec: ChaosSpec) -> Iterator[type[Sli]]:
    body = spec.spec
    semantic = body.steady_state.semantic
    yield from (resolve_sli(steady.sli).kind for steady in body.steady_state.objectives)
    yield from () if semantic is None else (_of_request(semantic.scorer),)
    yield from (resolve_sli(objective.sli).kind for objective in body.objectives if objective.sli is not None)
    yield from (_of_request(fit.response.sli) for fit in body.fits)
    yield from (_of_request(bound.sli) for bound in body.slo)
    readings = (reading for condition in body.safety.stop_when for reading in condition.readings)
    yield from (resolve_sli(reading.sli).kind for reading in readings if reading.sli is not None)


def _of_request(name: str) -> type[Sli]:
    """The kind of an SLI that is named without a percentile, as what judges request by request names it."""
    return SLIS.get(name)
