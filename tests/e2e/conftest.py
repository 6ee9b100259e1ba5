"""Drills that end with their test: whatever one leaves running is ended, and is a failure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_drill import Drill, Start, write_spec


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a drill of the small spec in a state directory of its own; keywords go to `write_spec`."""
    drills: list[Drill] = []

    def begin(state: Path | None = None, env: dict[str, str] | None = None, **spec: Any) -> Drill:
        drills.append(Drill(state or tmp_path / "state", write_spec(tmp_path, **spec), env))
        return drills[-1]

    yield begin
    left = [process for drill in drills for process in drill.close()]
    assert left == [], f"left running: {left}"
