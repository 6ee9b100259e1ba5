"""The page on prompt sets says of each what is true of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.engine.network import tokenizer
from chaosgate.prompts.prompt import Prompt
from chaosgate.prompts.sets import prompt_set, prompt_sets

PAGE = (Path(__file__).parents[2] / "docs" / "prompt-sets.md").read_text()


def prompt_tokens(prompt: Prompt) -> int:
    """`<bos>`, the turns, and an end after each answer of the history."""
    answers = sum(turn.role == "assistant" for turn in prompt.history)
    return 1 + answers + sum(len(tokenizer.encode(turn["content"])) for turn in prompt.messages())


def answer_tokens(prompt: Prompt) -> int:
    return len(tokenizer.encode(prompt.answer or "")) + 1


@pytest.mark.parametrize("name", prompt_sets())
def test_its_row_counts_right(name: str) -> None:
    prompts = prompt_set(name).prompts
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    longest = max(map(prompt_tokens, prompts)), max(map(answer_tokens, prompts))
    assert (cells[1], cells[3], cells[4]) == (str(len(prompts)), *map(str, longest))
