"""prompt-sanitiser: what does not belong in a prompt is taken out of it."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from chaosgate.filters.invisible import MOST_MARKS, without_flood, without_invisible
from chaosgate.filters.phrases import injections, untrusted
from chaosgate.model.filter import FILTERS, Asked, Filter, Rewritten
from chaosgate.model.prompt_text import PLAIN, PromptText

_ENCODED = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{16,}={0,2}")
"""Base64 of twelve bytes or more: shorter runs are words."""
_DECODE = re.compile(r"\b(?:base64|decode)\b", re.IGNORECASE)
_BREAK = re.compile(r"(\n\s*\n)")
_SENTENCE = re.compile(r"(?:[.!?]\s+|\n)")


@dataclass(frozen=True)
class Step:
    """One thing that a sanitiser does to a text, and its name for the ledger."""

    name: str
    edit: Callable[[str], str]


@FILTERS.register("prompt-sanitiser")
class PromptSanitiser(Filter):
    """A sanitiser of prompts: invisible characters, floods of marks and known injected instructions are taken out.

    An instruction goes from the beginning of its sentence to the end of its paragraph. Turns of the system and the
    assistant are left as they are, and so is ordinary text in any script, byte for byte.
    """

    kind: Literal["prompt-sanitiser"]
    marks: Annotated[int, Field(ge=1, le=30)] = MOST_MARKS
    """The most combining marks in a row; Unicode's stream-safe form has 30 at most (UAX #15, 13)."""
    normalise: Literal["NFC", "NFKC", "none"] = "NFC"
    """The Unicode form of the text. NFC reads the same; NFKC also folds full-width letters, and changes ½ and ™."""
    base64: bool = True
    """Take out paragraphs with an instruction in base64: a known phrase, or any text with the demand to decode it."""
    injections: bool = True
    """Take out known phrases of injected instructions."""

    def check(self, asked: Asked) -> Rewritten | None:
        """The prompt without all that; None where nothing was found."""
        if asked.prompt is None:
            return None
        found: list[str] = []
        prompt = asked.prompt
        for index in untrusted(prompt):
            text, did = self._sanitised(prompt.turns[index].text)
            prompt, found = prompt.with_text(index, text), found + did
        if not found:
            return None
        taken = asked.prompt.size - prompt.size
        detail = f"{', '.join(dict.fromkeys(found))}; {taken} of {asked.prompt.size} characters less"
        return Rewritten(_without_emptied(prompt, asked.prompt), detail, attack=set(found) != {self.normalise})

    def _sanitised(self, text: str) -> tuple[str, list[str]]:
        """The text as it may go on, and the names of the steps that changed it."""
        did: list[str] = []
        for step in self._steps():
            edited = step.edit(text)
            if edited != text:
                text, did = edited, [*did, step.name]
        return text, did

    def _steps(self) -> Iterator[Step]:
        yield Step("invisible characters", without_invisible)
        yield Step("marks", partial(without_flood, most=self.marks))
        if self.normalise != "none":
            yield Step(self.normalise, partial(unicodedata.normalize, self.normalise))
        if self.base64:
            yield Step("base64", partial(_by_paragraph, harmless=_without_encoded))
        if self.injections:
            yield Step("injection", partial(_by_paragraph, harmless=_without_injection))


def _by_paragraph(text: str, harmless: Callable[[str], str]) -> str:
    """`text` with `harmless` of each paragraph; one of which nothing is left goes with the break before it."""
    pieces = _BREAK.split(text)
    kept: list[str] = []
    for gap, paragraph in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        rest = harmless(paragraph)
        if rest or not paragraph:
            kept += [gap if kept else "", rest]
    return "".join(kept)


def _without_injection(paragraph: str) -> str:
    found = injections().search(paragraph)
    if found is not None:
        starts = [one.end() for one in _SENTENCE.finditer(paragraph, 0, found.start())]
        return paragraph[: starts[-1] if starts else 0].rstrip()
    # In compatibility forms, such as full-width letters, the phrase stands at other places: all of it goes.
    disguised = injections().search(unicodedata.normalize("NFKC", paragraph))
    return "" if disguised else paragraph


def _without_encoded(paragraph: str) -> str:
    told = _DECODE.search(paragraph)
    for run in _ENCODED.findall(paragraph):
        text = _decoded(run)
        if text is not None and (told or injections().search(text)):
            return ""
    return paragraph


def _decoded(run: str) -> str | None:
    """The text that `run` is the base64 of; None where it is none, such as a key or a long word."""
    whole = run.rstrip("=")
    try:
        text = base64.b64decode(whole + "=" * (-len(whole) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if text.isprintable() and " " in text else None


def _without_emptied(prompt: PromptText, before: PromptText) -> PromptText:
    """`prompt` without messages of which nothing is left, as long as somebody still asks; prompts are never dropped."""
    left = tuple(
        turn
        for turn, was in zip(prompt.turns, before.turns, strict=True)
        if turn.text or not was.text or turn.role == PLAIN
    )
    kept = PromptText(left)
    return kept if left and untrusted(kept) else prompt
