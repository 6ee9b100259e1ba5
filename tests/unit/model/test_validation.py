"""Refusals are derived from the models, so that a stranger's kind is explained as well as a built-in one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, model_validator

from chaosgate.errors import dotted
from chaosgate.model.annotations import describe, dimension_of
from chaosgate.model.base import Frozen
from chaosgate.model.validation import validate
from chaosgate.units import Bound, Duration, Rate, Share


class Inner(Frozen):
    """A nested part."""

    deep_key: int
    other: Share = 0.5


class Kind(Frozen):
    """Everything a kind may ask for."""

    count: Annotated[int, Field(ge=1, lt=10)] = 1
    factor: Annotated[float, Field(gt=0.5, le=2)] = 1.0
    delay: Annotated[Duration, Field(le=60)] = 0.0
    rate: Rate | None = None
    word: Annotated[str, Field(min_length=2, max_length=4)] = "ab"
    code: Annotated[str, Field(pattern="^[A-Z]+$")] = "A"
    flag: bool = False
    many: Annotated[tuple[Inner, ...], Field(max_length=2)] = ()
    table: dict[str, Inner] = {}
    mode: Literal["fast", "slow"] = "fast"
    either: Literal[1, 2] | Inner | None = None

    @model_validator(mode="after")
    def _together(self) -> Kind:
        if self.flag and self.count == 9:
            raise ValueError("`flag` does not go with `count: 9`")
        return self


def problems(data: Any) -> list[str]:
    found, refused = validate(Kind, data)
    assert (found is None) == bool(refused)
    return [f"{dotted(one.path)}: {one.message}" for one in refused]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"count": 0}, "count: read 0; at least 1 is needed"),
        ({"count": 10}, "count: read 10; less than 10 is allowed"),
        ({"count": True}, "count: read true; write a whole number"),
        ({"count": 2.0}, "count: read 2.0; write a whole number"),
        ({"factor": 0.5}, "factor: read 0.5; more than 0.5 is needed"),
        ({"factor": 3.0}, "factor: read 3.0; at most 2.0 is allowed"),
        ({"factor": "2"}, "factor: read '2'; write a number"),
        ({"delay": "2m"}, "delay: read '2m'; at most 60s is allowed"),
        ({"delay": [1]}, "delay: read a list; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ({"delay": False}, "delay: read false; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ({"rate": 5}, "rate: read 5 without a unit; write a rate such as 20/s, 90/min or 400/h"),
        ({"word": "a"}, "word: has 1 characters; at least 2 is needed"),
        ({"word": "abcde"}, "word: has 5 characters; at most 4 is allowed"),
        ({"code": "a"}, "code: read 'a'; it must match ^[A-Z]+$"),
        ({"flag": "yes"}, "flag: read 'yes'; write true or false"),
        ({"many": 5}, "many: read 5; write a list"),
        ({"many": [{"deepKey": 1}] * 3}, "many: has 3 entries; at most 2 is allowed"),
        ({"many": [{"deepKey": "x"}]}, "many[0].deepKey: read 'x'; write a whole number"),
        ({"many": [{"deep_key": 1}]}, "many[0].deep_key: unknown key 'deep_key'; did you mean 'deepKey'? "
         "allowed: deepKey, other"),
        ({"many": [{}]}, "many[0].deepKey: is missing; write a whole number"),
        ({"table": {"a": {"deepKey": None}}}, "table.a.deepKey: read nothing; write a whole number"),
        ({"table": []}, "table: read a list; write a mapping"),
        ({"mode": "fats"}, "mode: read 'fats'; write 'fast' or 'slow'; did you mean 'fast'?"),
        ({"either": 3}, "either: read 3; write 1 or 2 or {deepKey: ...}"),
        ({"either": {"deepKey": "x"}}, "either.deepKey: read 'x'; write a whole number"),
        ({"flag": True, "count": 9}, "(document): `flag` does not go with `count: 9`"),
        (5, "(document): read 5; write {count: ..., factor: ..., delay: ..., rate: ..., word: ..., code: ..., "
         "flag: ..., many: ..., table: ..., mode: ..., either: ...}"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_was_read_and_what_is_allowed(data: Any, says: str) -> None:
    assert problems(data) == [says]


def test_valid_data_is_the_model() -> None:
    found, refused = validate(Kind, {"delay": "20ms", "many": [{"deepKey": 1, "other": "5 %"}], "either": 2})
    assert refused == []
    assert found is not None
    assert (found.delay, found.many, found.either) == (0.02, (Inner(deep_key=1, other="5 %"),), 2)  # type: ignore[arg-type]


def test_the_place_of_the_data_comes_first() -> None:
    _, refused = validate(Kind, {"count": 0, "x": 1}, ("spec", "faults", 3))
    assert [one.path for one in refused] == [("spec", "faults", 3, "count"), ("spec", "faults", 3, "x")]
    assert [one.at_key for one in refused] == [False, True]


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (Duration, "a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        (Annotated[Share, Field(gt=0)] | None, "a share such as 5 %"),
        (Bound | None, 'a bound in quotes such as "<= 300ms"'),
        (str | int, "text or a whole number"),
        (Literal["a", "b", "c"], "'a', 'b' or 'c'"),
        (tuple[int, ...], "a list"),
        (dict[str, int], "a mapping"),
        (Inner, "{deepKey: ...}"),
        (bool, "true or false"),
    ],
)
def test_an_annotation_is_described_in_words(annotation: Any, words: str) -> None:
    assert describe(annotation) == words


def test_the_dimension_is_read_off_the_annotation() -> None:
    assert dimension_of(Annotated[Rate, Field(gt=0)] | None) == "rate"
    assert dimension_of(int) is None
