"""A spec is loaded whole, or refused with everything that is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import SpecError
from chaosgate.model.load import load_spec, parse_spec, spec_from_data
from chaosgate.model.spec import ChaosSpec

HERE = Path(__file__).parent
BASE = (HERE / "base_spec.yaml").read_text()
REFUSALS: list[dict[str, Any]] = yaml.safe_load((HERE / "refusals.yaml").read_text())
SPECS = sorted(path for path in (HERE.parents[2] / "chaos-specs").rglob("*.yaml") if path.parent.name != "profiles")


def refusal(text: str) -> list[str]:
    with pytest.raises(SpecError) as refused:
        parse_spec(text, "spec.yaml")
    return str(refused.value).split("\n")


def data_of_base() -> dict[str, Any]:
    return parse_spec(BASE, "spec.yaml").to_json()


@pytest.mark.parametrize("case", REFUSALS, ids=[case["mistake"] for case in REFUSALS])
def test_a_mistake_is_answered_in_these_words(case: dict[str, Any]) -> None:
    assert case["replace"] in BASE
    assert refusal(BASE.replace(case["replace"], case["by"], 1)) == case["says"]


@pytest.mark.parametrize("path", SPECS, ids=[path.stem for path in SPECS])
def test_every_shipped_spec_is_valid_and_survives_a_round_trip(path: Path) -> None:
    spec = load_spec(path)
    again = spec_from_data(json.loads(json.dumps(spec.to_json())), "spec.json")
    assert again == spec
    assert again.digest() == spec.digest()


def test_there_are_specs_to_check() -> None:
    assert {"stream-degradation", "stream-cut-fails", "fault-out-of-reach"} <= {path.stem for path in SPECS}


def test_kinds_are_validated_by_their_own_class() -> None:
    fault = parse_spec(BASE, "spec.yaml").fault("slow")
    assert type(fault).__name__ == "WireLatency"
    assert fault.dose.values == (0.1, 0.2)


def test_everything_wrong_is_said_at_once_in_the_order_of_the_file() -> None:
    text = BASE.replace("seed: 7", "sed: 7").replace("[100ms, 200ms]", "[0ms, 5]").replace("fit: knee", "fit: kne")
    assert refusal(text) == [
        "spec.yaml:11:5 spec.workload.sed: unknown key 'sed'; did you mean 'seed'? "
        "allowed: arrivals, cancel, maxTokens, preset, prompts, seed, spikes, tenants, "
        "timeout, warmup, workers",
        "spec.yaml:21:46 spec.faults[0].dose.values[1]: read 5 without a unit; "
        "write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)",
        "spec.yaml:26:25 spec.objectives[1].fit: unknown fit 'kne'; did you mean 'knee'?",
    ]


def test_a_broken_fault_hides_no_other_mistake_and_causes_none() -> None:
    text = BASE.replace("kind: wire.latency", "kind: nonsense").replace("at: {dose: all}", 'at: {dose: "<= 5 %"}')
    assert refusal(text) == [
        f"spec.yaml:18:13 spec.faults[0].kind: unknown fault kind 'nonsense'; known: {', '.join(known_faults())}"
    ]


def known_faults() -> list[str]:
    from chaosgate.model.fault import FAULTS

    return FAULTS.names()


def test_data_without_marks_is_refused_by_path() -> None:
    data = data_of_base()
    data["spec"]["workload"]["seed"] = "7"
    with pytest.raises(SpecError) as refused:
        spec_from_data(data, "spec.json")
    assert str(refused.value) == "spec.json spec.workload.seed: read '7'; write a whole number"


@pytest.mark.parametrize("data", [None, 5, [], "text"])
def test_data_that_is_no_mapping_is_refused(data: object) -> None:
    with pytest.raises(SpecError, match="a spec is a mapping that starts with `apiVersion:`"):
        spec_from_data(data, "spec.json")


def test_a_digest_does_not_depend_on_key_order_comments_or_metadata() -> None:
    spec = parse_spec(BASE, "a")
    shuffled = yaml.safe_dump(yaml.safe_load(BASE), sort_keys=True)
    renamed = BASE.replace("{name: base}", "{name: other, labels: {a: b}, annotations: {c: d}}  # why")
    moved = BASE.replace("model: embedded/tiny", "model: other").replace("engine: embedded", "engine: vllm")
    tracked = BASE + "  tracking: {experiment: elsewhere}\n  schedule: {cron: 0 3 * * *}\n"
    unguarded = BASE.replace('  safety: {stopWhen: [{sli: error-rate, bound: "> 50 %"}]}\n', "")
    spelled = BASE.replace("warmup: 1s", "warmup: 1000ms").replace("share: 50 %", "share: 50.0%")
    for text in (shuffled, renamed, moved, tracked, unguarded, spelled):
        assert text != BASE
        assert parse_spec(text, "b").digest() == spec.digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed: 7", "seed: 8"),
        ("maxTokens: 8", "maxTokens: 9"),
        ("warmup: 1s", "warmup: 1001ms"),
        ("rate: 40/s", "rate: 41/s"),
        ("engine: embedded", "engine: embedded, replicas: 2"),
        ("hold: 2s", "hold: 3s"),
        ("jitter: 5ms", "jitter: 5.001ms"),
        ("[100ms, 200ms]", "[100ms, 201ms]"),
        ("windows: 3", "windows: 4"),
        ("share: 50 %", "share: 50.1 %"),
        ('bound: "<= 500ms"', 'bound: "< 500ms"'),
        ("severity: warn", "severity: gate"),
        ("within: 2s", "within: 3s"),
        ("  objectives:\n    - {name: f", "  gate: {onUncertain: fail}\n  objectives:\n    - {name: f"),
        ("name: knee,", "name: knie,"),
    ],
)
def test_a_digest_changes_with_whatever_changes_the_run(old: str, new: str) -> None:
    text = BASE.replace(old, new, 1).replace("fit: knee", "fit: knie" if "knie" in new else "fit: knee")
    assert text != BASE
    assert parse_spec(text, "b").digest() != parse_spec(BASE, "a").digest()


def test_a_digest_holds_the_values_of_parameters_and_not_their_declarations(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    text = BASE.replace("rate: 40/s", 'rate: "{{ parameters.rate }}"').replace(
        "spec:\n", "spec:\n  parameters: {rate: {type: rate, default: 20/s}}\n", 1
    )
    path.write_text(text)
    assert load_spec(path, {"rate": "40/s"}).digest() == parse_spec(BASE, "a").digest()
    assert load_spec(path).digest() != parse_spec(BASE, "a").digest()


def spec_or_refusal(load: Callable[[], ChaosSpec]) -> ChaosSpec | SpecError:
    try:
        return load()
    except SpecError as refused:
        return refused


def assert_a_spec_or_a_refusal(load: Callable[[], ChaosSpec]) -> None:
    result = spec_or_refusal(load)
    assert isinstance(result, ChaosSpec) or result.problems
    assert "pydantic" not in str(result)


@given(st.text(max_size=200))
def test_any_text_gives_a_spec_or_a_refusal(text: str) -> None:
    assert_a_spec_or_a_refusal(lambda: parse_spec(text, "f"))


@given(st.data())
def test_any_change_of_a_line_gives_a_spec_or_a_refusal(data: st.DataObject) -> None:
    lines = BASE.splitlines(keepends=True)
    number = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[number])))
    noise = data.draw(st.text(st.sampled_from("{}[]:,&*!|>%@`\"'#-? \t\n0x1~<="), max_size=4))
    lines[number] = lines[number][:at] + noise + lines[number][at + data.draw(st.integers(0, 9)) :]
    assert_a_spec_or_a_refusal(lambda: parse_spec("".join(lines), "f"))


@given(st.data())
def test_any_value_at_any_place_gives_a_spec_or_a_refusal(data: st.DataObject) -> None:
    root = data_of_base()
    node: Any = root
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if not node[key] or not isinstance(node[key], (dict, list)) or data.draw(st.booleans()):
            break
        node = node[key]
    scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5)
    node[key] = data.draw(
        st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner))
    )
    assert_a_spec_or_a_refusal(lambda: spec_from_data(root, "f"))


@given(st.binary(max_size=100))
def test_any_bytes_give_a_spec_or_a_refusal(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "spec.yaml"
    path.write_bytes(data)
    with pytest.raises(SpecError):
        load_spec(path)
