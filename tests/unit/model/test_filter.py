"""Filters are read by their kind, from a spec and from data, and stand in its digest."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.errors import SpecError
from chaosgate.filters.byte_limit import ByteLimit
from chaosgate.model.filter import FILTERS, Asked, Filter, Finding, filter_of, passes_unguarded
from chaosgate.model.load import parse_spec, spec_from_data
from chaosgate.model.prompt_text import PromptText, Turn
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.schema import json_schema
from chaosgate.model.spec import ChaosSpec

ATOM = Path(__file__).parents[3] / "chaos-specs" / "atoms" / "wire.latency.yaml"
FILTER_LIST = (
    "  filters:\n    - {kind: prompt-sanitiser}\n    - {kind: byte-limit, limit: 4000}\n  objectives:\n    - {name"
)
UNGUARDED_LIST = FILTER_LIST.replace("  objectives:", "  unguarded: 30 %\n  objectives:")
SHARES = st.floats(0, 1, exclude_max=True)


def spec(filters: str = "") -> ChaosSpec:
    return parse_spec(
        ATOM.read_text().replace("  objectives:\n    - {name", filters or "  objectives:\n    - {name"), "x"
    )


def test_a_filter_that_writes_nothing_lets_everything_pass() -> None:
    asked = Asked(RequestFacts("/"), PromptText((Turn("user", "a"),)), 2)
    nothing = Filter(kind="none")
    assert (nothing.check(asked), nothing.holds(asked), nothing.judge("a", 0)) == (None, False, None)


def test_a_finding_reads_as_a_sentence() -> None:
    assert str(Finding("byte-limit", "refused", "too long")) == "byte-limit refused: too long"


def test_data_becomes_the_filter_of_its_kind() -> None:
    assert filter_of({"kind": "byte-limit"}) == ByteLimit(kind="byte-limit")
    assert filter_of(ByteLimit(kind="byte-limit")) == ByteLimit(kind="byte-limit")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "a filter is an object with a `kind`, such as byte-limit"),
        ({"kind": "byte-limt"}, "unknown filter kind 'byte-limt'; did you mean 'byte-limit'?"),
    ],
)
def test_what_is_no_filter_is_refused(data: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        filter_of(data)


def test_a_spec_holds_its_filters_in_order_and_reads_back_equal() -> None:
    read = spec(FILTER_LIST)
    assert [one.kind for one in read.spec.filters] == ["prompt-sanitiser", "byte-limit"]
    assert read.spec.filters[1] == ByteLimit(kind="byte-limit", limit=4000)
    assert spec_from_data(read.to_json(), "spec.json") == read


def test_filters_are_part_of_the_digest_and_a_spec_without_any_keeps_its_own() -> None:
    assert "filters" not in spec().digested()
    assert spec(FILTER_LIST).digest() != spec().digest()
    assert spec(FILTER_LIST).digest() != spec(FILTER_LIST.replace("4000", "4001")).digest()


def test_a_mistake_in_a_filter_is_shown_at_its_place() -> None:
    with pytest.raises(SpecError) as refused:
        spec(FILTER_LIST.replace("limit: 4000", "limt: 4000"))
    assert "spec.filters[1].limt: unknown key 'limt'; did you mean 'limit'?" in str(refused.value)


def test_the_schema_knows_every_filter() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    data = yaml.safe_load(ATOM.read_text())
    for kind in FILTERS.names():
        data["spec"]["filters"] = [{"kind": kind}]
        assert list(validator.iter_errors(data)) == []
    data["spec"]["filters"] = [{"kind": "byte-limt"}]
    assert list(validator.iter_errors(data))


@given(share=SHARES, larger=SHARES, seed=st.integers(0, 2**63 - 1), request=st.text(max_size=20))
def test_who_is_unguarded_at_a_share_is_so_at_every_larger_one(
    share: float, larger: float, seed: int, request: str
) -> None:
    share, larger = sorted((share, larger))
    assert passes_unguarded(share, seed, request) <= passes_unguarded(larger, seed, request)
    assert not passes_unguarded(0.0, seed, request)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_so_many_are_unguarded_as_the_share_says_whatever_they_ask(share: float) -> None:
    arm = [passes_unguarded(share, 7, f"7.block1.{number}") for number in range(24_000)]
    assert stats.binomtest(sum(arm), len(arm), share).pvalue > 1e-3
    by_prompt = [sum(arm[prompt::24]) for prompt in range(24)]
    assert stats.chi2_contingency([by_prompt, [1000 - hits for hits in by_prompt]]).pvalue > 1e-3


def test_a_spec_says_whom_it_leaves_unguarded() -> None:
    read = spec(UNGUARDED_LIST)
    assert read.spec.unguarded == 0.3
    assert spec_from_data(read.to_json(), "spec.json") == read
    names = [f"1.block1.{number}" for number in range(100)]
    assert [read.unguards(name) for name in names] == [passes_unguarded(0.3, 1, name) for name in names]
    assert not any(map(spec(FILTER_LIST).unguards, names))


def test_the_unguarded_share_is_part_of_the_digest_where_there_is_one() -> None:
    assert "unguarded" not in spec(FILTER_LIST).digested()
    assert spec(UNGUARDED_LIST).digest() != spec(FILTER_LIST).digest()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "  unguarded: 30 %\n  objectives:\n    - {name",
            "spec.unguarded: read 30 % without `filters`, and then no request is guarded; add `filters`, or leave "
            "`unguarded` out",
        ),
        (UNGUARDED_LIST.replace("30 %", "100 %"), "spec.unguarded: read '100 %'; less than 100 % is allowed"),
        (UNGUARDED_LIST.replace("30 %", "0.3"), "spec.unguarded: read 0.3 without a unit; write a share such as 5 %"),
    ],
)
def test_a_share_that_leaves_no_arm_to_compare_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(text)
    assert sentence in str(refused.value)


def test_a_share_of_nothing_needs_no_filters() -> None:
    assert spec("  unguarded: 0 %\n  objectives:\n    - {name").digest() == spec().digest()
