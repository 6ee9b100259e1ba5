"""The page on the engine: what it runs does what it shows, and its lists are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console import run_page

from chaosgate.engine.api.metrics import Load, Metrics

PAGE = (Path(__file__).parents[2] / "docs" / "engine.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(120)
def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    problems = run_page(PAGE, tmp_path)
    assert problems == [], "\n".join(problems)


def test_every_metric_is_in_the_table() -> None:
    told = Metrics("m").render(Load(0, 0, 0.0, 0))
    assert set(re.findall(r"`(vllm:\w+)`", PAGE)) == set(re.findall(r"^# TYPE (\S+)", told, re.M))


def test_every_code_of_a_refusal_is_in_the_table() -> None:
    api = Path(__file__).parents[2] / "src" / "chaosgate" / "engine" / "api"
    source = "\n".join(file.read_text(encoding="utf-8") for file in api.glob("*.py"))
    codes = set(re.findall(r'code="(\w+)"|40[45]: "(\w+)"|50[03], "(\w+)"', source))
    rows = set(re.findall(r"`(\w+)`", PAGE.partition("| status | code | when |")[2].partition("\n\n")[0]))
    assert {code for found in codes for code in found if code} - {"method_not_allowed", "http_error"} <= rows
