"""Which of the specs that are due are drilled: `all`, `none`, or terms that all must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from changed_specs import GateError, glob_pattern, one_line

ALLOWED = "`all`, `none`, or terms such as `label=suite:quickstart`, `engine=embedded`, `path=chaos-specs/fast/**`"


@dataclass(frozen=True)
class Selection:
    """A choice of specs by their labels, the engine of their target, and their path."""

    words: str
    every: bool
    """False for `none`."""
    terms: tuple[tuple[str, str], ...] = ()
    """Key and value; a spec is chosen when it meets every one."""

    def picks(self, file: str, labels: Mapping[str, str], engine: str) -> bool:
        """Whether a spec is chosen."""
        return self.every and all(_meets(key, value, file, labels, engine) for key, value in self.terms)


def parse_selection(words: str) -> Selection:
    """The selection that `words` name, terms parted by blanks; a GateError for one that nobody knows."""
    found = words.split()
    if found in (["all"], ["none"]):
        return Selection(words, found == ["all"])
    terms = tuple((key, value) for key, _, value in (word.partition("=") for word in found))
    wrong = [word for word, term in zip(found, terms, strict=True) if not _is_term(*term)]
    if wrong or not terms:
        raise GateError(f"run: read {one_line(wrong[0] if wrong else words)!r}; allowed: {ALLOWED}")
    return Selection(words, True, terms)


def _is_term(key: str, value: str) -> bool:
    if key == "label":
        name, colon, wanted = value.partition(":")
        return bool(name and colon and wanted)
    return key in ("engine", "path") and bool(value)


def _meets(key: str, value: str, file: str, labels: Mapping[str, str], engine: str) -> bool:
    if key == "label":
        name, _, wanted = value.partition(":")
        return labels.get(name) == wanted
    if key == "path":
        return glob_pattern([value]).fullmatch(file) is not None
    return engine == value
