"""Values files: parameters with types, the last one wins, and whatever is wrong stands where it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import SpecError
from chaosgate.model.load import resolve
from chaosgate.model.source import parse_source
from chaosgate.model.spec import Workload
from chaosgate.model.values import ValuesFile, read_values

HERE = Path(__file__).parent
REFUSALS: list[dict[str, Any]] = yaml.safe_load((HERE / "values_refusals.yaml").read_text())
PARAMETERS = """\
spec:
  parameters:
    rate: {type: rate, default: 20/s, min: 1/s, max: 50/s}
    tokens: {type: integer, default: 8, max: 64}
    pause: {type: duration, default: 1s}
    part: {type: share, default: 50 %}
    prompts: {type: string, default: recall-24}
"""
USES = {
    "spec:\n": PARAMETERS,
    "rate: 40/s": 'rate: "{{ parameters.rate }}"',
    "maxTokens: 8": 'maxTokens: "{{ parameters.tokens }}"',
    "warmup: 1s": 'warmup: "{{ parameters.pause }}"',
    "share: 50 %": 'share: "{{ parameters.part }}"',
    "set: recall-24": 'set: "{{ parameters.prompts }}"',
}


def spec_text() -> str:
    text = (HERE / "base_spec.yaml").read_text()
    for old, new in USES.items():
        assert old in text
        text = text.replace(old, new, 1)
    return text


SPEC = parse_source(spec_text(), "spec.yaml")


def written(folder: Path, text: str, name: str = "values.yaml") -> ValuesFile:
    file = folder / name
    file.write_text(text)
    return read_values(file)


def workload(values: list[ValuesFile], **settings: str) -> Workload:
    return resolve(SPEC, settings, values).spec.spec.workload


def refusal(folder: Path, text: str, **settings: str) -> list[str]:
    with pytest.raises(SpecError) as refused:
        resolve(SPEC, settings, [written(folder, text)])
    return str(refused.value).replace(f"{folder}/", "").split("\n")


@pytest.mark.parametrize("case", REFUSALS, ids=[case["mistake"] for case in REFUSALS])
def test_a_mistake_is_answered_in_these_words(case: dict[str, Any], tmp_path: Path) -> None:
    assert refusal(tmp_path, case["values"].replace("LONG", "a" * 1_001)) == case["says"]


def test_every_type_has_its_yaml_form(tmp_path: Path) -> None:
    file = written(tmp_path, "rate: 90/min\ntokens: 0x10\npause: 250ms\npart: 5 %\nprompts: other\n")
    spec = resolve(SPEC, values=[file]).spec.spec
    assert (spec.workload.arrivals.rate, spec.workload.max_tokens, spec.workload.warmup) == (1.5, 16, 0.25)
    assert (spec.faults[0].select.share, spec.workload.prompts.set) == (0.05, "other")


def test_what_no_file_gives_keeps_its_default(tmp_path: Path) -> None:
    found = workload([written(tmp_path, "{}\n")])
    assert (found.arrivals.rate, found.max_tokens) == (20, 8)


def test_a_later_file_wins_and_the_command_line_over_all(tmp_path: Path) -> None:
    first = written(tmp_path, "rate: 5/s\ntokens: 5\npause: 5s\n", "first.yaml")
    second = written(tmp_path, "rate: 6/s\ntokens: 6\n", "second.yaml")
    found = workload([first, second], rate="7/s")
    assert (found.arrivals.rate, found.max_tokens, found.warmup) == (7, 6, 5)
    assert workload([second, first]).max_tokens == 5


def test_a_wrong_value_is_refused_though_another_one_wins(tmp_path: Path) -> None:
    assert refusal(tmp_path, "rate: 60/s\n", rate="7/s") == [
        "values.yaml:1:7 rate: read '60/s'; at most 50/s is allowed (the parameter's max)"
    ]


def test_what_is_wrong_in_the_spec_comes_first_and_in_each_file_in_its_order(tmp_path: Path) -> None:
    broken = parse_source(spec_text().replace("seed: 7", "seed: -7"), "spec.yaml")
    files = [written(tmp_path, "tokens: 2.5\n", "b.yaml"), written(tmp_path, "x: 1\nrate: 1\n", "a.yaml")]
    with pytest.raises(SpecError) as refused:
        resolve(broken, {"rate": "99/s"}, files)
    assert str(refused.value).replace(f"{tmp_path}/", "").split("\n") == [
        "spec.yaml:6:11 spec.parameters.rate: --set rate=99/s: read '99/s'; "
        "at most 50/s is allowed (the parameter's max)",
        "spec.yaml:17:11 spec.workload.seed: read -7; at least 0 is needed",
        "a.yaml:1:1 x: unknown parameter 'x'; known: part, pause, prompts, rate, tokens",
        "a.yaml:2:7 rate: read 1 without a unit; write a rate such as 20/s, 90/min or 400/h",
        "b.yaml:1:9 tokens: read 2.5; write a whole number",
    ]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.yaml", "cannot be read: No such file or directory; name a YAML file that holds values of parameters"),
        (".", "cannot be read: Is a directory; name a YAML file that holds values of parameters"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        read_values(tmp_path / name)
    assert str(refused.value) == f"{tmp_path / name} (document): {says}"


@given(st.integers(1, 64))
def test_a_value_from_a_file_and_from_the_command_line_make_the_same_spec(
    tmp_path_factory: pytest.TempPathFactory, tokens: int
) -> None:
    file = written(tmp_path_factory.mktemp("values"), f"tokens: {tokens}\nrate: {tokens % 50 + 1}/s\n")
    set_ = {"tokens": str(tokens), "rate": f"{tokens % 50 + 1}/s"}
    assert workload([file]) == workload([], **set_)
