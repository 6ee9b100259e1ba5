"""What every filter is: a guard that the gateway puts in front of a model, behind the faults that attack it.

A kind is one class in one file: its fields are its parameters, its methods its pure behaviour. It acts on every
request, in the order of the spec, whether a fault is on or not: it is the cure whose effect a drill measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from chaosgate.draws import Draw
from chaosgate.model.base import Frozen, of_its_kind
from chaosgate.model.prompt_text import PromptText
from chaosgate.model.request_facts import RequestFacts
from chaosgate.registry import Registry

Action = Literal["rewritten", "refused", "answered", "repaired", "retried", "unread"]
"""What a filter did; `unread` means that it could not, as there was nothing that it can read."""
UNGUARDED = "unguarded"
"""What the ledger says, in `filtered`, of a request that no filter met."""


@dataclass(frozen=True)
class Finding:
    """One thing that a filter did to one request, for the ledger and for the filters after it."""

    filter: str
    """The kind of the filter."""
    action: Action
    detail: str
    attack: bool = False
    """Whether it took an attack out of the prompt."""

    def __str__(self) -> str:
        return f"{self.filter} {self.action}: {self.detail}"


@dataclass(frozen=True)
class Asked:
    """A request as a filter sees it: what the faults and the filters before it have left."""

    facts: RequestFacts
    """Path, headers and body as the client sent them."""
    prompt: PromptText | None
    """What is asked now; None where the body has no prompt that can be read."""
    size: int
    """Bytes of the body that were read."""
    found: tuple[Finding, ...] = ()
    """What the filters before it did."""


@dataclass(frozen=True)
class Rewritten:
    """Ask `prompt` instead; `attack` says that more was changed than the form of ordinary text."""

    prompt: PromptText
    detail: str
    attack: bool = False


@dataclass(frozen=True)
class Answered:
    """Answer the request with `text`, as the model would; nothing goes upstream."""

    text: str
    detail: str


@dataclass(frozen=True)
class Refused:
    """Answer with an HTTP error in OpenAI's form: in the place of the request, or of the answer that was held."""

    status: int
    message: str
    code: str | None = None


@dataclass(frozen=True)
class Repaired:
    """Send `text` in the place of the answer."""

    text: str
    detail: str


@dataclass(frozen=True)
class Retry:
    """Ask the server once more."""

    why: str


class Filter(Frozen):
    """A filter of a spec. A kind is registered with `@FILTERS.register(kind)`; it writes `check`, or `judge`, or both.

    A filter that judges answers says in `holds` whose: the gateway keeps such an answer, streamed or not, until it
    is whole, so that its client waits for all of it.
    """

    kind: str
    """The registered kind."""

    def check(self, asked: Asked) -> Rewritten | Answered | Refused | None:
        """What becomes of a request before it goes upstream; None lets it pass."""
        return None

    def holds(self, asked: Asked) -> bool:
        """Whether the answer to this request is to be judged."""
        return False

    def judge(self, text: str, attempt: int) -> Repaired | Retry | Refused | None:
        """What becomes of an answer of which `text` is the first choice; None lets it pass.

        `attempt` counts how often the server was asked before: 0 for its first answer.
        """
        return None


FILTERS: Registry[Filter] = Registry("filter kind", Filter)


def passes_unguarded(share: float, seed: int, request: str) -> bool:
    """Whether `request` is of the `share` that passes no filter; the same for gateway and estimate.

    Drawn by the request's name alone, so that it depends on no fault and no dose. A request that is unguarded at a low
    share is unguarded at a higher one.
    """
    return share > 0 and Draw(seed, "filters", request).at("guard") < share


def filter_of(data: Any) -> Any:
    """The filter that resolved `data` describes, by its kind; a filter as it is. A ValueError says what is wrong."""
    return of_its_kind(FILTERS, Filter, data, "byte-limit")
