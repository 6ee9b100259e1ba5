from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.tracking.names import MAX_KEY, MAX_PARAM, cut, flat, key, metric_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("baseline/ttft-p95", "baseline/ttft-p95"),
        ("dose <= 180ms", "dose-le-180ms"),
        ("dose > 5 %", "dose-gt-5-percent"),
        ("models:/name@champion", "models-/name-champion"),
    ],
)
def test_a_key_keeps_its_meaning(text: str, expected: str) -> None:
    assert key(text) == expected


@given(st.text(max_size=400))
def test_a_key_has_only_letters_that_mlflow_takes(text: str) -> None:
    made = key(text)
    assert len(made) <= MAX_KEY
    assert not set(made) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-")


def test_a_metric_says_its_base_unit() -> None:
    assert metric_key("baseline", "ttft-p95", "duration") == "baseline/ttft-p95_s"
    assert metric_key("dose 5 %", "error-rate", "share") == "dose-5-percent/error-rate_share"
    assert metric_key("x", "n", "number") == "x/n"


def test_nested_data_becomes_flat_keys() -> None:
    data = {"select": {"path": None, "share": "5 %"}, "values": ["1s", "2s"], "rules": [{"at": 1}, {"at": 2}]}
    assert flat("fault", data) == {
        "fault.select.share": "5 %",
        "fault.values": "1s, 2s",
        "fault.rules.0.at": "1",
        "fault.rules.1.at": "2",
    }


def test_a_long_value_is_cut_with_a_mark() -> None:
    value = flat("load", {"prompts": "x" * 7000})["load.prompts"]
    assert len(value) == MAX_PARAM
    assert value.endswith("x ... (cut)")
    assert cut("short", 5) == "short"
