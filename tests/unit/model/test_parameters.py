"""Parameters: typed, limited, filled in where they are named, and never half used."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.errors import SpecError
from chaosgate.model.load import load_spec
from chaosgate.model.spec import ChaosSpec

BASE = (Path(__file__).parent / "base_spec.yaml").read_text()
RATE = "rate: {type: rate, default: 20/s, min: 1/s, max: 50/s}"


def write(folder: Path, declarations: str, *changes: tuple[str, str]) -> Path:
    text = BASE.replace("spec:\n", f"spec:\n  parameters:\n    {declarations}\n", 1)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "spec.yaml"
    path.write_text(text)
    return path


def load(folder: Path, declarations: str, *changes: tuple[str, str], **settings: str) -> ChaosSpec:
    return load_spec(write(folder, declarations, *changes), settings)


def refusal(folder: Path, declarations: str, *changes: tuple[str, str], **settings: str) -> list[str]:
    with pytest.raises(SpecError) as refused:
        load(folder, declarations, *changes, **settings)
    return str(refused.value).replace(f"{folder}/", "").split("\n")


USE_RATE = ("rate: 40/s", 'rate: "{{ parameters.rate }}"')


def test_a_default_is_filled_in(tmp_path: Path) -> None:
    assert load(tmp_path, RATE, USE_RATE).spec.workload.arrivals.rate == 20


def test_a_setting_replaces_the_default(tmp_path: Path) -> None:
    assert load(tmp_path, RATE, USE_RATE, rate="30/s").spec.workload.arrivals.rate == 30


def test_a_whole_value_keeps_its_type(tmp_path: Path) -> None:
    spec = load(tmp_path, "n: {type: integer, default: 3}", ("seed: 7", 'seed: "{{parameters.n}}"'), n="12")
    assert spec.spec.workload.seed == 12


def test_inside_a_text_the_value_is_written_out(tmp_path: Path) -> None:
    spec = load(
        tmp_path,
        "top: {type: duration, default: 400ms}",
        ('bound: "<= 500ms"', 'bound: "<= {{ parameters.top }}"'),
    )
    assert str(spec.spec.objectives[0].bound) == "<= 400ms"


@pytest.mark.parametrize(("setting", "rate"), [("1/s", 1), ("60/min", 1), ("50/s", 50)])
def test_min_and_max_are_allowed_themselves(tmp_path: Path, setting: str, rate: float) -> None:
    assert load(tmp_path, RATE, USE_RATE, rate=setting).spec.workload.arrivals.rate == rate


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"rate": "60/s"}, "--set rate=60/s: read '60/s'; at most 50/s is allowed (the parameter's max)"),
        ({"rate": "30/min"}, "--set rate=30/min: read '30/min'; at least 1/s is needed (the parameter's min)"),
        ({"rate": "30"}, "--set rate=30: read '30'; write a rate such as 20/s, 90/min or 400/h"),
    ],
)
def test_a_setting_is_checked_against_the_declaration(tmp_path: Path, settings: dict[str, str], says: str) -> None:
    assert refusal(tmp_path, RATE, USE_RATE, **settings) == [f"spec.yaml:6:11 spec.parameters.rate: {says}"]


USE_SET = ("set: recall-24", 'set: "{{ parameters.set }}"')


def test_a_text_may_have_a_thousand_characters(tmp_path: Path) -> None:
    text = "a" * 1_000
    declaration = f"set: {{type: string, default: {text}}}"
    assert load(tmp_path, declaration, USE_SET).spec.workload.prompts.set == text
    assert load(tmp_path, declaration, USE_SET, set="b" * 1_000).spec.workload.prompts.set == "b" * 1_000


def test_a_longer_text_is_refused_wherever_it_comes_from(tmp_path: Path) -> None:
    says = "read a text of 1,001 characters; at most 1,000 are allowed"
    declared = refusal(tmp_path, f"set: {{type: string, default: {'a' * 1_001}}}", USE_SET)
    given = refusal(tmp_path, "set: {type: string, default: recall-24}", USE_SET, set="b" * 1_001)
    assert declared == [f"spec.yaml:6:34 spec.parameters.set.default: {says}"]
    assert given == [f"spec.yaml:6:10 spec.parameters.set: --set set=...: {says}"]


def test_an_unknown_setting_gets_the_nearest_name(tmp_path: Path) -> None:
    assert refusal(tmp_path, RATE, USE_RATE, rat="5/s") == [
        "spec.yaml:6:5 spec.parameters: --set rat=5/s: unknown parameter 'rat'; did you mean 'rate'?"
    ]


def test_a_setting_for_an_integer_must_be_one(tmp_path: Path) -> None:
    says = refusal(tmp_path, "n: {type: integer, default: 3}", ("seed: 7", 'seed: "{{ parameters.n }}"'), n="2.5")
    assert says == ["spec.yaml:6:8 spec.parameters.n: --set n=2.5: read '2.5'; write a whole number"]


@pytest.mark.parametrize(
    ("declaration", "says"),
    [
        (
            "rate: {type: rate, default: 20}",
            "spec.yaml:6:33 spec.parameters.rate.default: read 20 without a unit; "
            "write a rate such as 20/s, 90/min or 400/h",
        ),
        (
            "rate: {type: rate, default: 20/s, max: 10/s}",
            "spec.yaml:6:33 spec.parameters.rate.default: read '20/s'; at most 10/s is allowed (the parameter's max)",
        ),
        (
            "rate: {type: integer, default: twenty}",
            "spec.yaml:6:36 spec.parameters.rate.default: read 'twenty'; write a whole number",
        ),
        (
            "rate: {type: string, default: 20/s, min: 1/s}",
            "spec.yaml:6:46 spec.parameters.rate.min: `min` does not go with `type: string`; remove it",
        ),
        (
            "rate: {type: rates, default: 20/s}",
            "spec.yaml:6:18 spec.parameters.rate.type: read 'rates'; "
            "write 'rate', 'duration', 'share', 'integer' or 'string'; did you mean 'rate'?",
        ),
        (
            "rate: {type: rate, default: [1]}",
            "spec.yaml:6:33 spec.parameters.rate.default: read a list; write text or a whole number",
        ),
    ],
)
def test_a_broken_declaration_is_one_problem_and_its_uses_are_none(tmp_path: Path, declaration: str, says: str) -> None:
    assert refusal(tmp_path, declaration, USE_RATE) == [says]


def test_a_misspelt_use_is_one_problem(tmp_path: Path) -> None:
    assert refusal(tmp_path, RATE, ("rate: 40/s", 'rate: "{{ parameters.rates }}"')) == [
        "spec.yaml:9:40 spec.workload.arrivals.rate: unknown parameter 'rates'; did you mean 'rate'?"
    ]


def test_a_declaration_cannot_use_another(tmp_path: Path) -> None:
    declarations = RATE + '\n    top: {type: rate, default: "{{ parameters.rate }}"}'
    says = refusal(tmp_path, declarations, ("rate: 40/s", 'rate: "{{ parameters.top }}"'))
    assert says == [
        "spec.yaml:7:32 spec.parameters.top.default: read '{{ parameters.rate }}'; a parameter cannot use another one"
    ]


def test_a_bad_name_of_a_parameter_is_refused(tmp_path: Path) -> None:
    says = refusal(tmp_path, "My_Rate: {type: rate, default: 20/s}", ("rate: 40/s", 'rate: "{{ parameters.My_Rate }}"'))
    assert says == [
        "spec.yaml:6:5 spec.parameters.My_Rate: read 'My_Rate'; "
        "a name is lower case letters, digits and hyphens between them, at most 63 (a DNS label)"
    ]
