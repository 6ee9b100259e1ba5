"""Every registered scorer keeps the contract, and every way to break it is refused by a broken twin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from chaosgate.conformance import ConformanceError, check_scorer
from chaosgate.model.scorer import SCORERS, Scorer

_NUMBERS = itertools.count()


@pytest.mark.parametrize("name", SCORERS.names())
def test_a_registered_scorer_keeps_the_contract(name: str) -> None:
    check_scorer(SCORERS.get(name))


def test_the_built_in_scorers_are_registered() -> None:
    assert {"profanity-check", "refusal-phrases", "wordllama"} <= set(SCORERS.names())


class Sound(Scorer):
    """A scorer that keeps the contract; the twins below break one thing each."""

    install: ClassVar[str] = "pip install sound"

    @classmethod
    def files(cls) -> Sequence[Path]:
        """Its own module."""
        return (Path(__file__),)


def broken(name: str = "twin", **changed: Any) -> type[Scorer]:
    """A registered subclass of the sound twin with something replaced."""
    kind = type(f"Broken{next(_NUMBERS)}", (Sound,), {"__module__": __name__, "__doc__": "A broken twin.", **changed})
    return SCORERS.register(name)(kind)


def files(*paths: Path) -> dict[str, Any]:
    def named(kind: type[Scorer]) -> Sequence[Path]:
        """What a broken twin reads."""
        return paths

    return {"files": classmethod(named)}


def versions(kind: type[Scorer]) -> str:
    return str(next(_NUMBERS))


TWINS: list[tuple[dict[str, Any], str]] = [
    ({"__doc__": None}, "the class has no docstring"),
    (files(), r"files\(\) gave none"),
    (files(Path("/no/such/weights")), r"files\(\) names /no/such/weights, and there is no such file"),
    ({"version": classmethod(versions)}, "it must not change while a run goes on"),
    ({"distribution": "chaosgate-no-such-package"}, "has no version: distribution is 'chaosgate-no-such-package'"),
    ({"missing": classmethod(lambda kind: "something is missing")}, "name what installs it: 'pip install sound'"),
]


@pytest.mark.parametrize(("changed", "sentence"), TWINS, ids=[sentence[:40] for _, sentence in TWINS])
def test_a_broken_twin_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check_scorer(broken(**changed))


def test_the_sound_twin_passes_installed_or_not() -> None:
    check_scorer(SCORERS.register("sound")(Sound))
    check_scorer(broken(module="chaosgate_no_such_package"))


def test_a_scorer_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConformanceError, match=r"is registered under 0 names; decorate it with @SCORERS\.register"):
        check_scorer(Sound)
