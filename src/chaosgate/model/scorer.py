"""What turns texts into numbers: a scorer says which one it is, of which version, and with which weights."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from chaosgate.model.base import Frozen, Line
from chaosgate.model.sli import Sli
from chaosgate.registry import Registry

EXTRA = "quality"
"""The extra of chaosgate that holds the packages of all its scorers."""


class ScorerCard(Frozen):
    """Which scorer judged the texts of a run; two numbers of one SLI compare only where version and digest agree."""

    name: str
    slis: tuple[str, ...]
    """The SLIs of the spec that it scored."""
    version: Line | None = None
    """Its package's, None where it is not installed."""
    digest: str | None = None
    """`sha256:<hex>` of its weights or lists, None where it is not installed."""
    reason: Line | None = None
    """Why it scored nothing."""


class Scorer(ABC):
    """One way to judge texts. A kind subclasses this and is registered with `@SCORERS.register(name)`.

    It works without a network, and gives the same number for the same text, version and weights.
    """

    distribution: ClassVar[str] = "chaosgate"
    """The package that has to be installed, as pip calls it."""
    module: ClassVar[str] = "chaosgate"
    """What that package is imported as."""
    live: ClassVar[bool] = False
    """Whether it is quick enough to score while a load is sent, for a stop condition."""
    install: ClassVar[str] = f"pip install 'chaosgate[{EXTRA}]'"
    """The command that installs it."""

    @classmethod
    @abstractmethod
    def files(cls) -> Sequence[Path]:
        """The files that decide its numbers, such as weights and lists, always in the same order."""

    @classmethod
    def prepare(cls, texts: Collection[str]) -> None:
        """Score `texts` ahead of being asked for them one by one, for a kind that is quicker with many at once."""
        return

    @classmethod
    def missing(cls) -> str | None:
        """What has to be installed, in one sentence without its begin; None where it can score."""
        return None if _is_there(cls.module) else f"the package {cls.distribution} is not installed: {cls.install}"

    @classmethod
    def version(cls) -> str | None:
        """The version of its package, None where it is not installed as one."""
        try:
            return version(cls.distribution)
        except PackageNotFoundError:
            return None

    @classmethod
    def digest(cls) -> str:
        """`sha256:<hex>` of all its files, one after the other."""
        found = hashlib.sha256()
        for file in cls.files():
            found.update(file.read_bytes())
        return f"sha256:{found.hexdigest()}"


@cache
def _is_there(module: str) -> bool:
    # Once a module: every text that is scored asks.
    return find_spec(module) is not None


SCORERS: Registry[Scorer] = Registry("scorer", Scorer)


def scorer_card(name: str, slis: Sequence[str]) -> ScorerCard:
    """The card of the scorer called `name`, which the SLIs `slis` use. Nothing is raised where it cannot score."""
    kind = SCORERS.get(name)
    if missing := kind.missing():
        return ScorerCard(name=name, slis=tuple(slis), reason=missing)
    return ScorerCard(name=name, slis=tuple(slis), version=kind.version(), digest=kind.digest())


def why_unmeasured(kind: type[Sli]) -> str | None:
    """Why an SLI kind has no number here, as a package that it needs is missing; None where it has."""
    if kind.needs is not None and not _is_there(kind.needs):
        return f"the package {kind.needs} is not installed: {Scorer.install}"
    return why_unscored(kind.scorer)


def why_unscored(name: str | None) -> str | None:
    """Why the scorer called `name` cannot score, in one sentence; None where it can, or where none is needed."""
    missing = None if name is None else SCORERS.get(name).missing()
    return None if missing is None else f"scorer {name!r} cannot score: {missing}"
