"""Which specs are drilled: every way to choose them, and what is refused."""

from __future__ import annotations

import re

import pytest
from changed_specs import GateError
from spec_selection import parse_selection

FILE, LABELS, ENGINE = "chaos-specs/fast/a.yaml", {"suite": "quickstart", "team": "x:y"}, "embedded"


@pytest.mark.parametrize(
    ("words", "picked"),
    [
        ("all", True),
        ("none", False),
        ("label=suite:quickstart", True),
        ("label=suite:nightly", False),
        ("label=owner:me", False),
        ("label=team:x:y", True),
        ("engine=embedded", True),
        ("engine=endpoint", False),
        ("path=chaos-specs/fast/**", True),
        ("path=chaos-specs/*", False),
        ("engine=embedded  label=suite:quickstart", True),
        ("engine=embedded label=suite:nightly", False),
    ],
)
def test_a_spec_is_chosen_when_it_meets_every_term(words: str, picked: bool) -> None:
    assert parse_selection(words).picks(FILE, LABELS, ENGINE) is picked


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("", ""),
        ("some", "some"),
        ("label=suite", "label=suite"),
        ("label=:x", "label=:x"),
        ("label=suite:", "label=suite:"),
        ("engine=", "engine="),
        ("suite=quickstart", "suite=quickstart"),
        ("engine=embedded all", "all"),
        ("none engine=embedded", "none"),
    ],
)
def test_what_nobody_knows_is_refused_not_taken_for_all_or_none(words: str, read: str) -> None:
    said = re.escape(f"run: read {read!r}; allowed: `all`, `none`, or terms such as `label=suite:quickstart`")
    with pytest.raises(GateError, match=said):
        parse_selection(words)
