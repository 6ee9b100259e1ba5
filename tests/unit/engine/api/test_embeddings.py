from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from chaosgate.engine.api.embeddings import EmbeddingRequest, Reading, embeddings_body, parse_embeddings
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.network.vocabulary import BOS
from chaosgate.model.sites import SiteContext

SERVED = ServedModel("m", 16, ("a",), max_prompts=2)
CONTEXT = SiteContext("head", None, None, 0, 1, "prefill", "", None)


def parsed(**body: Any) -> EmbeddingRequest:
    return parse_embeddings(json.dumps({"model": "m", "input": "hi", **body}).encode(), SERVED)


def test_input_forms() -> None:
    (one,) = parsed().generations
    assert (one.prompt, one.max_tokens, one.sampling.temperature, one.adapter) == ((BOS, 104, 105), 1, 0.0, None)
    assert [one.prompt for one in parsed(input=["h", [7, 8]]).generations] == [(BOS, 104), (7, 8)]
    assert parsed(model="m:a", input=[7]).generations[0].adapter == "a"
    assert (parsed().encoding, parsed(encoding_format="base64").encoding) == ("float", "base64")
    assert parsed(encoding_format=None).encoding == "float"


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        (
            {"dimensions": 8},
            "dimensions",
            "dimensions: this model's vectors have one length and cannot be cut shorter; leave the field out",
        ),
        ({"encoding_format": "hex"}, "encoding_format", 'encoding_format: must be "float" or "base64", got "hex"'),
        (
            {"encoding_format": ["float"]},
            "encoding_format",
            'encoding_format: must be "float" or "base64", got ["float"]',
        ),
        *(
            (
                {"encoding_format": empty},
                "encoding_format",
                f'encoding_format: must be "float" or "base64", got {json.dumps(empty)}',
            )
            for empty in (False, 0, "", [])
        ),
        (
            {"truncate_prompt_tokens": 4},
            "truncate_prompt_tokens",
            "truncate_prompt_tokens: 4 is not supported by the embedded engine; leave the field out or set it to null",
        ),
        (
            {"normalize": False},
            "normalize",
            "normalize: false is not supported by the embedded engine; leave the field out or set it to true",
        ),
        ({"input": None}, "input", "input: missing or empty"),
        ({"input": ["a", "b", "c"]}, "input", "input: at most 2 prompts in one request, got 3; send them in several"),
        (
            {"input": ["a", "x" * 15]},
            "input",
            "this model's maximum context length is 16 tokens, but the prompt has 16 and needs the place behind them,"
            " too; shorten it",
        ),
    ],
)
def test_what_is_refused(body: dict[str, Any], param: str, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        parsed(**body)
    assert (caught.value.param, str(caught.value)) == (param, message)


def test_a_reading_keeps_the_last_state_at_length_one_and_changes_nothing() -> None:
    reading = Reading()
    look = reading.hooks.transforms["head"]
    state = np.array([[3.0, 4.0]], np.float32)
    assert look(np.ones((1, 2), np.float32), CONTEXT).tolist() == [[1, 1]]
    assert look(state, CONTEXT) is state
    state[:] = 0
    np.testing.assert_allclose(reading.vector, [0.6, 0.8], rtol=1e-6)


def test_the_answer_as_numbers_and_as_base64() -> None:
    vector = np.array([0.6, -0.8], np.float32)
    answer = embeddings_body(parsed(input=["hi", "h"]), [vector, -vector])
    assert [entry["index"] for entry in answer["data"]] == [0, 1]
    assert answer["data"][1]["embedding"] == [-float(vector[0]), -float(vector[1])]
    assert answer["usage"] == {"prompt_tokens": 5, "total_tokens": 5}
    coded = embeddings_body(parsed(encoding_format="base64"), [vector])["data"][0]["embedding"]
    assert np.frombuffer(base64.b64decode(coded), "<f4").tolist() == vector.tolist()
