"""The noise that a client asks for in one line, such as `latency:50ms,p95:true`, as faults for its request alone.

A line is a list of terms with commas between them. A term is a word of WORDS and, after a colon, its dose as a spec
writes it; without one the word has a dose of its own. `p95:true` after a term lets it hit one request in twenty, drawn
by the request's name. That is a reading of ours, for the language has no published grammar: the slowest twentieth of
the requests is what moves a P95.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from chaosgate.errors import RegistryError
from chaosgate.model.fault import Fault
from chaosgate.model.standing import standing_fault
from chaosgate.registry import unknown

MAX_TERMS = 8
"""Terms of a line; a request that wants more is a mistake or an attack."""
PREFIX = "noise-"
"""How the faults that a line makes are called; a configured fault may not begin so."""
P95 = "p95"
TAIL_SHARE = "5 %"
"""One in twenty."""


@dataclass(frozen=True)
class Word:
    """What a word stands for: a kind of fault, and the dose that it has where none is written."""

    kind: str
    dose: str


WORDS = {
    "latency": Word("wire.latency", "50ms"),
    "jitter": Word("wire.jitter", "50ms"),
    "error": Word("wire.error", "100 %"),
    "timeout": Word("wire.timeout", "500ms"),
    "reset": Word("wire.reset", "100 %"),
    "stall": Word("stream.stall", "500ms"),
    "cut": Word("stream.cut", "100 %"),
    "token_drop": Word("stream.token-drop", "10 %"),
    "duplicate": Word("stream.duplicate", "10 %"),
    "reorder": Word("stream.reorder", "10 %"),
}
"""The words of the language."""


@dataclass(frozen=True)
class Term:
    """One term as it was read: its word, the text of its dose, and whether it hits the tail alone."""

    word: str
    dose: str
    tail: bool = False


@lru_cache(maxsize=256)
def noise_faults(line: str) -> tuple[Fault, ...]:
    """The faults of a line in its order, none for an empty one; a ValueError quotes the term that is wrong."""
    terms = _terms(line)
    if len(terms) > MAX_TERMS:
        raise ValueError(f"read {len(terms)} terms; at most {MAX_TERMS} are allowed")
    words = [term.word for term in terms]
    if double := next((word for word in words if words.count(word) > 1), None):
        raise ValueError(f"{double}: is written twice; write it once")
    return tuple(map(_fault, terms))


def _terms(line: str) -> list[Term]:
    terms: list[Term] = []
    for word, value in _pairs(line):
        if word != P95:
            terms.append(_term(word, value))
        elif not terms:
            raise ValueError(f"{P95}: stands before every other term; write it after the one that it belongs to")
        else:
            terms[-1] = Term(terms[-1].word, terms[-1].dose, tail=_truth(value))
    return terms


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """The words of a line, with dashes read as underscores, and what stands behind their colons."""
    for text in filter(None, map(str.strip, line.split(","))):
        word, _, value = text.partition(":")
        yield word.strip().replace("-", "_"), value.strip()


def _term(word: str, value: str) -> Term:
    if word not in WORDS:
        raise ValueError(unknown("word", word, [*WORDS, P95]))
    return Term(word, value or WORDS[word].dose)


def _truth(value: str) -> bool:
    if value not in ("", "true", "false"):
        raise ValueError(f"{P95}: read {value!r}; write true or false")
    return value != "false"


def _fault(term: Term) -> Fault:
    name = PREFIX + term.word.replace("_", "-")
    select = {"select": {"share": TAIL_SHARE}} if term.tail else {}
    try:
        return standing_fault(WORDS[term.word].kind, name, term.dose, select)
    except (RegistryError, ValueError) as error:
        raise ValueError(f"{term.word}: {error}") from error
