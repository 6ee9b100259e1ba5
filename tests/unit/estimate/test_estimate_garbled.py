from __future__ import annotations

import pytest

from chaosgate.estimate.garbled import garbled


@pytest.mark.parametrize(
    "text",
    [
        "The capital of France is Lyon.",
        "def f():\n\treturn 1\r\n",
        "very, very, very good",
        "very very very good",
        "東京は日本の首都です。",
        "A heart \N{HEAVY BLACK HEART} and e\N{COMBINING ACUTE ACCENT}",
    ],
)
def test_text_that_a_person_may_have_typed_is_not(text: str) -> None:
    assert not garbled(text)


@pytest.mark.parametrize(
    "text",
    ["", " \n", "caf\N{REPLACEMENT CHARACTER}", "bell \x07", "private \ue000", "the the The the", "unassigned \u0378"],
)
def test_broken_text_is(text: str) -> None:
    assert garbled(text)
