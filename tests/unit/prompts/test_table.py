"""Prompts as CSV: columns by name, cells as they are meant, every mistake with its line."""

from __future__ import annotations

import pytest

from chaosgate.errors import UsageError
from chaosgate.prompts.prompt import Message, Prompt, Suggestion
from chaosgate.prompts.table import read_table


def test_columns_stand_in_any_order_and_empty_cells_are_no_values() -> None:
    text = 'tenant,prompt,answer,maxTokens,session\n,"2 + 2, or\nmore",4,,\nacme,"say ""hi""",hi,8,\n'
    assert read_table(text, "p.csv") == (
        Prompt("2 + 2, or\nmore", "4"),
        Prompt('say "hi"', "hi", tenant="acme", max_tokens=8),
    )


def test_sessions_and_logs_are_read_from_columns() -> None:
    text = "session,prompt,answer,suggestion,accepted\na,1?,one,,\na,2?,two,deux,FALSE\n"
    _, second = read_table(text, "p.csv")
    assert second.history == (Message("user", "1?"), Message("assistant", "one"))
    assert second.suggestion == Suggestion("deux", False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "prompt,anser\na,b\n",
            "p.csv:1: read the columns 'prompt', 'anser'; prompts have `prompt`, and of prompt, answer, form, tenant, "
            "session, maxTokens, suggestion, accepted",
        ),
        ("", "p.csv: holds no prompt"),
        ("answer\na\n", "p.csv:1: read the columns 'answer'; prompts have `prompt`, and of"),
        ("prompt,prompt\na,b\n", "p.csv:1: read the columns 'prompt', 'prompt'; each may stand there once"),
        ("prompt,answer\na,b,c\n", "p.csv:2: has 3 values, and the first line names 2 columns"),
        ("prompt,answer\na\n", "p.csv:2: has 1 values, and the first line names 2 columns"),
        ('prompt,answer\n"a"x,b\n', "p.csv:2: is no CSV: "),
        ("prompt,answer\n", "p.csv: holds no prompt"),
        ("prompt,form\na,jsn\n", "p.csv:2: form: read 'jsn'; write 'text' or 'json'"),
        ("prompt,maxTokens\na,many\n", "p.csv:2: maxTokens: read 'many'; write a whole number"),
        ("prompt,suggestion,accepted\na,b,maybe\n", "p.csv:2: accepted: read 'maybe'; write true or false"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_table(text, "p.csv")
    assert said in str(refused.value)
