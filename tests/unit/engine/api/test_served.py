from __future__ import annotations

from typing import Any

import pytest

from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.served import MODEL_CREATED, ServedModel

SERVED = ServedModel("m", 64, ("a", "b"))


def test_an_adapter_is_served_under_a_name_of_its_own() -> None:
    assert SERVED.names == ("m", "m:a", "m:b")
    assert [SERVED.adapter({"model": name}) for name in SERVED.names] == [None, "a", "b"]


@pytest.mark.parametrize("name", ["gpt", "m:c", "a", "", "m:"])
def test_an_unknown_model_is_not_found(name: str) -> None:
    with pytest.raises(ApiError) as caught:
        SERVED.adapter({"model": name})
    assert (caught.value.status, caught.value.code, caught.value.param) == (404, "model_not_found", "model")
    assert str(caught.value) == f'the model "{name}" does not exist; this engine serves "m", "m:a", "m:b"'


@pytest.mark.parametrize(("body", "got"), [({}, "null"), ({"model": 3}, "a number"), ({"model": ["m"]}, "an array")])
def test_a_model_is_a_string(body: dict[str, Any], got: str) -> None:
    with pytest.raises(ApiError) as caught:
        SERVED.adapter(body)
    assert str(caught.value) == f'model: must be a string such as "m", got {got}'


def test_the_listing_has_the_base_model_first_and_its_adapters_under_it() -> None:
    listing = SERVED.listing({"weights_digest": "base", "engine": "e"}, {"a": "of a", "b": "of b"})
    assert listing["object"] == "list"
    base, first, second = listing["data"]
    assert base == {
        "id": "m",
        "object": "model",
        "created": MODEL_CREATED,
        "owned_by": "chaosgate",
        "root": "m",
        "parent": None,
        "max_model_len": 64,
        "chaosgate": {"weights_digest": "base", "engine": "e"},
    }
    assert (first["id"], first["parent"], first["root"]) == ("m:a", "m", "a")
    assert first["chaosgate"] == {"weights_digest": "of a", "engine": "e"}
    assert (second["id"], second["chaosgate"]["weights_digest"]) == ("m:b", "of b")
