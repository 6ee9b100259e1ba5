from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asked_requests import user

from chaosgate.filters import json_schemas
from chaosgate.filters.output_validator import OutputValidator
from chaosgate.model.filter import FILTERS, Refused, Repaired, Retry
from chaosgate.model.validation import validate

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def validator(**fields: Any) -> OutputValidator:
    return OutputValidator.model_validate({"kind": "output-validator", **fields})


def test_it_is_registered() -> None:
    assert FILTERS.get("output-validator") is OutputValidator


@pytest.mark.parametrize(
    ("when", "body", "held"),
    [
        ("asked", {}, False),
        ("asked", {"response_format": {"type": "text"}}, False),
        ("asked", {"response_format": {"type": "json_object"}}, True),
        ("asked", {"response_format": {"type": "json_schema", "json_schema": {}}}, True),
        ("asked", {"response_format": "json"}, False),
        ("always", {}, True),
    ],
)
def test_whose_answers_it_judges(when: str, body: dict[str, Any], held: bool) -> None:
    assert validator(when=when).holds(user("hello", **body)) == held


def test_valid_answers_pass() -> None:
    assert validator().judge(' {"a": [1]}\n', 0) is None
    assert validator(jsonSchema=CITY).judge('{"city": "Oslo"}', 0) is None


def test_an_invalid_answer_is_refused_with_its_reason() -> None:
    refused = validator().judge("Oslo", 0)
    assert isinstance(refused, Refused)
    assert refused.status == 502
    assert refused.message.startswith("the model's answer is invalid: it is no JSON: Expecting value")
    unfit = validator(jsonSchema=CITY).judge('{"city": 1}', 0)
    assert isinstance(unfit, Refused)
    assert '$.city: breaks {"type": "string"}' in unfit.message


def test_an_answer_is_repaired_only_to_a_valid_one() -> None:
    repaired = validator(onInvalid="repair").judge('Sure: {"city": "Oslo"', 0)
    assert isinstance(repaired, Repaired)
    assert repaired.text == '{"city": "Oslo"}'
    assert isinstance(validator(onInvalid="repair", jsonSchema=CITY).judge('{"town": "Oslo"', 0), Refused)
    assert isinstance(validator(onInvalid="repair").judge("Oslo", 0), Refused)


def test_the_server_is_asked_again_so_often() -> None:
    twice = validator(onInvalid="retry", retries=2)
    verdicts = [type(twice.judge("Oslo", attempt)) for attempt in range(3)]
    assert verdicts == [Retry, Retry, Refused]


def test_a_schema_in_a_spec_is_read_as_json() -> None:
    """A spec's lists are tuples by then, which no JSON Schema knows."""
    read, problems = validate(OutputValidator, {"kind": "output-validator", "jsonSchema": CITY})
    assert problems == []
    assert read is not None
    assert isinstance(read.judge("{}", 0), Refused)
    assert read == validator(jsonSchema=CITY)


def test_what_is_no_schema_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"is no JSON Schema: \$\.type: 'objct' is not valid"):
        validator(jsonSchema={"type": "objct"})


def test_without_the_extra_a_schema_is_refused_and_json_still_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(json_schemas, "import_module", missing)
    with pytest.raises(ValueError, match=r"not installed; install it: pip install 'chaosgate\[filters\]'"):
        validator(jsonSchema=CITY)
    assert isinstance(validator().judge("Oslo", 0), Refused)


def test_a_reference_out_of_the_schema_is_not_followed() -> None:
    elsewhere = validator(jsonSchema={"$ref": "http://127.0.0.1:9/schema.json"})
    refused = elsewhere.judge("{}", 0)
    assert isinstance(refused, Refused)
    assert "which it does not hold" in refused.message


@pytest.mark.parametrize(
    ("answer", "schema"),
    [
        ('"' + "secret" * 10**5 + '"', {"type": "integer"}),
        ('{"secret": 1}', {"additionalProperties": False}),
        ('["secret", "secret"]', {"uniqueItems": True}),
    ],
)
def test_the_reason_holds_nothing_of_the_answer(answer: str, schema: dict[str, Any]) -> None:
    refused = validator(jsonSchema=schema).judge(answer, 0)
    assert isinstance(refused, Refused)
    assert "secret" not in refused.message
    assert len(refused.message) < 300


@pytest.mark.parametrize(
    ("answer", "schema"),
    [("[" * 300 + "]" * 300, {"items": {"$ref": "#"}}), ("1", {"$ref": "#"})],
)
def test_an_answer_or_schema_that_is_too_deep_is_invalid(answer: str, schema: dict[str, Any]) -> None:
    refused = validator(jsonSchema=schema).judge(answer, 0)
    assert isinstance(refused, Refused)
    assert "nested too deep" in refused.message


def test_not_all_errors_of_a_long_answer_are_made() -> None:
    looked: list[object] = []

    class Counted(list[int]):
        def __getitem__(self, index: Any) -> Any:
            looked.append(index)
            return super().__getitem__(index)

        def __iter__(self) -> Iterator[int]:
            return (self[index] for index in range(len(self)))

    assert json_schemas.schema_error(Counted([1] * 10_000), {"items": {"type": "string"}}) is not None
    assert 0 < len(looked) < 1000
