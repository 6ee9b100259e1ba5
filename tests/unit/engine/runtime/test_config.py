from __future__ import annotations

import pytest

from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.errors import UsageError


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("num_blocks", 0, "num_blocks is a whole number of 1 or more, got 0"),
        ("max_num_batched_tokens", 0, "max_num_batched_tokens is a whole number of 1 or more, got 0"),
        ("block_size", 24, "block_size is one of 8, 16, 32, 64 and 128, got 24"),
        ("response_cache", ("prompt", "tennant"), "response_cache: unknown field 'tennant'; did you mean 'tenant'?"),
    ],
)
def test_what_nothing_could_run_with_is_refused(field: str, value: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        EngineConfig(**{field: value})
    assert str(caught.value) == message
