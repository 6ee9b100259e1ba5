"""The fault inside the engine that a page shows keeps the contract as it stands there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console import blocks

from chaosgate.conformance import ConformanceError, check_fault
from chaosgate.model.fault import FAULTS
from chaosgate.registry import load_kinds

PAGE = Path(__file__).parents[2] / "docs" / "write-a-fault.md"
EXAMPLE = {
    "name": "mine",
    "kind": "acme.noisy-router",
    "dose": {"parameter": "sigma", "values": [0.5, 2], "hold": "2s", "washout": "500ms"},
}


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    load_kinds()
    before = dict(FAULTS._kinds)
    yield
    FAULTS._kinds.clear()
    FAULTS._kinds.update(before)


def shown() -> str:
    (code,) = [block.body for block in blocks(PAGE.read_text(encoding="utf-8")) if "acme.noisy-router" in block.body]
    return code


def kind_of(code: str) -> Any:
    """The class that the page's code makes."""
    made: dict[str, Any] = {"__name__": "acme_noisy_router"}
    exec(compile(code, str(PAGE), "exec", dont_inherit=True), made)
    return made["NoisyRouter"]


def test_the_fault_of_the_page_keeps_the_contract() -> None:
    check_fault(kind_of(shown()), EXAMPLE)


def test_noise_that_forgets_the_position_would_not() -> None:
    code = shown().replace(", context.first * array.shape[1])", ")")
    with pytest.raises(ConformanceError, match="depends on how a prompt is cut"):
        check_fault(kind_of(code), EXAMPLE)
