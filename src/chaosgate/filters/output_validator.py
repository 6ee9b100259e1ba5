"""output-validator: an answer that is to be JSON is checked before its client sees it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from chaosgate.filters.json_repair import mended, read_json
from chaosgate.filters.json_schemas import check_schema, schema_error
from chaosgate.model.filter import FILTERS, Asked, Filter, Refused, Repaired, Retry

_JSON_FORMATS = ("json_object", "json_schema")


@FILTERS.register("output-validator")
class OutputValidator(Filter):
    """A validator of answers: JSON, and fit for a JSON Schema, or they are repaired, asked for again or refused.

    The gateway holds an answer until it is whole, so that its client waits longer for the first token. A request that
    is asked for again takes the same faults inside the engine along, and its further answers pass no stream fault.
    """

    kind: Literal["output-validator"]
    when: Literal["asked", "always"] = "asked"
    """Whose answers are checked: of requests that ask for JSON by `response_format`, or of all."""
    json_schema: dict[str, Any] | None = None
    """The JSON Schema (draft 2020-12) that an answer has to fit; left out, any JSON does."""
    on_invalid: Literal["repair", "retry", "refuse"] = "refuse"
    """`repair` cuts away what stands around the JSON and closes what is open; `retry` asks the server again; what is
    still invalid then is refused with a 502."""
    retries: Annotated[int, Field(ge=1, le=5)] = 2
    """With `retry`, how often the server is asked again."""

    @field_validator("json_schema")
    @classmethod
    def _is_schema(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is None:
            return None
        # A spec holds its lists as tuples, which are no arrays to a JSON Schema.
        schema: dict[str, Any] = json.loads(json.dumps(value))
        check_schema(schema)
        return schema

    def holds(self, asked: Asked) -> bool:
        """Whether JSON was asked for, or all answers are checked."""
        wanted = (asked.facts.body or {}).get("response_format")
        return self.when == "always" or (isinstance(wanted, dict) and wanted.get("type") in _JSON_FORMATS)

    def judge(self, text: str, attempt: int) -> Repaired | Retry | Refused | None:
        """None for an answer that is valid, else what `on_invalid` says."""
        wrong = self._wrong(text)
        if wrong is None:
            return None
        if self.on_invalid == "repair":
            repaired = mended(text)
            if repaired is not None and self._wrong(repaired) is None:
                return Repaired(repaired, wrong)
        if self.on_invalid == "retry" and attempt < self.retries:
            return Retry(wrong)
        return Refused(502, f"the model's answer is invalid: {wrong}; ask again", "invalid_answer")

    def _wrong(self, text: str) -> str | None:
        """What is wrong with an answer, None where it is valid."""
        try:
            value = read_json(text)
        except ValueError as error:
            return f"it is no JSON: {error}"
        return None if self.json_schema is None else schema_error(value, self.json_schema)
