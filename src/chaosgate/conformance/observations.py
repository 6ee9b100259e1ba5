"""Requests of every sort that a client can see: the inputs on which SLIs and witnesses may not fail."""

from __future__ import annotations

from collections.abc import Sequence

from chaosgate.model.observation import Observation, Outcome, RequestBound, Sample
from chaosgate.units import Bound

_STATUS: dict[Outcome, int | None] = {
    "ok": 200,
    "error": 503,
    "cut": 200,
    "timeout": None,
    "refused": None,
    "cancelled": 200,
}
_SLO = (RequestBound(sli="ttft", bound=Bound.parse("<= 250ms")), RequestBound(sli="tpot", bound=Bound.parse("<= 1s")))


def observations() -> Sequence[Observation]:
    """Every outcome, each without a token, with one and with several, sent on time and late."""
    return [
        _observation(outcome, tokens, late)
        for outcome in _STATUS
        for tokens in ((), (0.2,), (0.2, 0.3, 0.5))
        for late in (0.0, 0.25)
    ]


def samples() -> Sequence[Sample]:
    """Each observation with no clean answer, with the same answer and with another one."""
    return [Sample(seen, clean, _SLO) for seen in observations() for clean in (None, seen.text, "sha256:" + "b" * 64)]


def _observation(outcome: Outcome, tokens: tuple[float, ...], late: float) -> Observation:
    shifted = tuple(token + late for token in tokens)
    return Observation(
        request="7.block1.1",
        phase="block1",
        prompt="recall-24/1",
        scheduled=0.1,
        sent=0.1 + late,
        first=shifted[0] if shifted else None,
        tokens=shifted,
        end=0.6 + late,
        status=_STATUS[outcome],
        outcome=outcome,
        answer={0: None, 1: "wrong"}.get(len(tokens), "right"),
        text="sha256:" + "a" * 64,
        # No answer, one that is refused, and one that is taken where it is whole.
        accepted={0: None, 1: False}.get(len(tokens), outcome == "ok"),
        # A server that says nothing of its answer, one that says too much, and one that says what it sent.
        finish={0: None, 1: "length"}.get(len(tokens), "stop"),
        claimed={0: None, 1: 2}.get(len(tokens), len(tokens)),
        # An answer that opens with an empty event, and one that reasons first.
        opened=0.15 + late,
        last=(shifted or (0.15 + late,))[-1],
        events=len(tokens) + 1,
        reasoning=() if len(tokens) < 3 else (0.15 + late,),
    )
