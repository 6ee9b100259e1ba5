"""The faults that a page shows besides its package keep the contract as they stand there, and do what the page says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console import blocks
from stream_rig import answer, edited, texts

from chaosgate.conformance import ConformanceError, check_fault
from chaosgate.model.fault import FAULTS
from chaosgate.model.prompt_text import PromptText, Turn
from chaosgate.registry import load_kinds

PAGE = Path(__file__).parents[2] / "docs" / "write-a-fault.md"
AXES = {
    "acme.noisy-router": ("sigma", [0.5, 2]),
    "acme.unfilled-template": ("probability", ["10 %", "50 %"]),
    "acme.trimmed-tokens": ("probability", ["10 %", "50 %"]),
}
BROKEN = {
    "acme.noisy-router": (", context.first * array.shape[1])", ")", "depends on how a prompt is cut"),
    "acme.unfilled-template": ('draw.at("hit") < dose', 'draw.at("hit") < 0.5', "changed at dose 0"),
    "acme.trimmed-tokens": ('self.effect = "tokens trimmed"', "pass", "its editor's effect is None"),
}
"""For each kind what stands in its code, what breaks it in that place, and what is said then."""


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    load_kinds()
    before = dict(FAULTS._kinds)
    yield
    FAULTS._kinds.clear()
    FAULTS._kinds.update(before)


def shown(kind: str) -> str:
    (code,) = [block.body for block in blocks(PAGE.read_text(encoding="utf-8")) if f'register("{kind}")' in block.body]
    return code


def kind_of(kind: str, code: str) -> Any:
    """The class that the page's code registers."""
    exec(compile(code, str(PAGE), "exec", dont_inherit=True), {"__name__": kind.replace(".", "_")})
    return FAULTS.get(kind)


def example(kind: str) -> dict[str, Any]:
    parameter, values = AXES[kind]
    dose = {"parameter": parameter, "values": values, "hold": "2s", "washout": "500ms"}
    return {"name": "mine", "kind": kind, "dose": dose}


@pytest.mark.parametrize("kind", AXES)
def test_a_fault_of_the_page_keeps_the_contract(kind: str) -> None:
    check_fault(kind_of(kind, shown(kind)), example(kind))


@pytest.mark.parametrize("kind", AXES)
def test_one_with_a_mistake_in_it_would_not(kind: str) -> None:
    right, wrong, said = BROKEN[kind]
    assert shown(kind).count(right) == 1
    with pytest.raises(ConformanceError, match=said):
        check_fault(kind_of(kind, shown(kind).replace(right, wrong)), example(kind))


def test_the_template_takes_the_place_of_the_question_alone() -> None:
    kind = "acme.unfilled-template"
    fault = kind_of(kind, shown(kind)).model_validate(example(kind))
    prompt = PromptText((Turn("system", "Be brief."), Turn("user", "Who are you?")))
    hit = fault.rewrite(prompt, 1.0, fault.draw(7, "7.block1.1"))
    assert [turn.text for turn in hit.turns] == ["Be brief.", "{question}"]


def test_trimmed_words_run_together() -> None:
    kind = "acme.trimmed-tokens"
    fault = kind_of(kind, shown(kind)).model_validate(example(kind))
    editor = fault.editor(1.0, fault.draw(7, "7.block1.1"))
    assert texts(edited(editor, answer("a", " lamp", " "))) == ["a", "lamp"]
    assert editor.effect == "tokens trimmed"
