"""The page on the gateway: what it runs does what it shows, and its examples are what the code reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console import blocks, run_page

from chaosgate.gateway.standing_config import standing_config
from chaosgate.model.fault import FAULTS, WireFault

PAGE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(120)
def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    problems = run_page(PAGE, tmp_path)
    assert problems == [], "\n".join(problems)


@pytest.mark.parametrize(("name", "faults"), [("gateway.yaml", ("wire-latency", "flaky")), ("servers.yaml", ())])
def test_a_file_on_the_page_is_read(name: str, faults: tuple[str, ...], tmp_path: Path) -> None:
    (shown,) = (block for block in blocks(PAGE) if block.mark == f"file: {name}")
    file = tmp_path / name
    file.write_text(shown.body)
    assert standing_config(file=file).unnamed == faults


def test_the_code_on_the_page_compiles_and_its_faults_are_read() -> None:
    code = [block.body for block in blocks(PAGE) if block.language == "python"]
    assert len(code) == 2
    for body in code:
        compile(body, "gateway.md", "exec")
    flags = re.findall(r'\["([a-z.]+=[^"]*)"\]', "".join(code))
    assert len(standing_config(flags, upstream="http://h:1").faults) == 2


def test_every_family_that_the_gateway_carries_is_in_the_table() -> None:
    listed = set(re.findall(r"`([a-z]+)\.\*`", PAGE))
    assert {name.partition(".")[0] for name, kind in FAULTS.items() if issubclass(kind, WireFault)} == listed
