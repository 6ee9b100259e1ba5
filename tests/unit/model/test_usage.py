"""The count of tokens that an answer claims."""

from __future__ import annotations

from typing import Any

import pytest

from chaosgate.model.usage import MAX_TOKENS, completion_tokens


@pytest.mark.parametrize("count", [0, 7, MAX_TOKENS])
def test_a_count_is_read(count: int) -> None:
    assert completion_tokens({"usage": {"completion_tokens": count}}) == count


@pytest.mark.parametrize("count", [None, True, 1.5, "7", -1, MAX_TOKENS + 1])
def test_what_is_no_count_is_none(count: Any) -> None:
    assert completion_tokens({"usage": {"completion_tokens": count}}) is None


@pytest.mark.parametrize("chunk", [{}, {"usage": None}, {"usage": []}, {"usage": {}}])
def test_an_answer_without_figures_claims_nothing(chunk: dict[str, Any]) -> None:
    assert completion_tokens(chunk) is None
