"""Requests of every sort that a client can see: the inputs on which SLIs and witnesses may not fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chaosgate.model.observation import Known, Observation, Outcome, RequestBound, Sample
from chaosgate.units import Bound

_STATUS: dict[Outcome, int | None] = {
    "ok": 200,
    "error": 503,
    "cut": 200,
    "timeout": None,
    "refused": None,
    "cancelled": 200,
}
_OTHER = "sha256:" + "b" * 64
_TEXTS = ("", " \n", "Kelun", "the order of Kelun is 17", "\u0301\u200d\ufffd", '{"order": 17}')
"""Answers as they come: none at all, white space, a word, a sentence, marks without a letter, and JSON."""
_KNOWN = Known("Kelun", False, ("Kelun",), frozenset({"Dobal"}))
_PROMPTS = 7
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
    """Each observation with no clean answer, with the same answer and with another one; with texts and without."""
    return [sample for seen in observations() for sample in (*_without_texts(seen), *_with_texts(seen))]


def request_sets() -> Sequence[Sequence[Sample]]:
    """Sets of requests: none, one, all that ended alike, and all there are; those of every second prompt among them."""
    every = [replace(each, observation=_of_prompt(each.observation, index)) for index, each in enumerate(samples())]
    alike = [[each for each in every if each.observation.outcome == outcome] for outcome in _STATUS]
    return [[], every[:1], *alike, every, every[::2]]


def _without_texts(seen: Observation) -> Sequence[Sample]:
    return [Sample(seen, clean, _SLO) for clean in (None, seen.text, _OTHER)]


def _with_texts(seen: Observation) -> Sequence[Sample]:
    """Each text against each, and the known answer where the prompt has one."""
    said = [seen.model_copy(update={"said": text, "logprobs": (-0.5, 3)}) for text in _TEXTS]
    clean = [(_OTHER, text, (-0.25, 2)) for text in _TEXTS]
    return [
        Sample(each, digest, _SLO, text, logprobs, known)
        for each in said
        for digest, text, logprobs in clean
        for known in (None, _KNOWN)
    ]


def _of_prompt(seen: Observation, index: int) -> Observation:
    """The same, of one of a few prompts."""
    return seen.model_copy(update={"prompt": f"recall-24/{index % _PROMPTS}"})


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
