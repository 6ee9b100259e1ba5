from __future__ import annotations

import pytest

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.runtime.admission import RefusedError, admitted
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.sequence import Generation, Sequence
from chaosgate.model.sites import Hooks, UnknownSiteError

CONFIG = EngineConfig(num_blocks=4)


def admit(generation: Generation) -> Sequence:
    return admitted(generation, ModelConfig(), CONFIG, {"tenant-a": None})


@pytest.mark.parametrize(
    ("generation", "message"),
    [
        (Generation((), 5), "a request needs a prompt token and max_tokens of 1 or more, got 0 and 5"),
        (Generation((1,), 0), "a request needs a prompt token and max_tokens of 1 or more, got 1 and 0"),
        (
            Generation((1,) * 1000, 25),
            "the prompt of 1000 tokens and max_tokens 25 make 1025; the model's context has 1024; shorten one of them",
        ),
        (Generation((1, 512), 5), "the prompt has token id 512; ids are 0 to 511"),
        (Generation((-1,), 5), "the prompt has token id -1; ids are 0 to 511"),
        (
            Generation((1,) * 50, 16),
            "the prompt of 50 tokens and max_tokens 16 need 5 cache blocks of 16 tokens; the engine has 4 in all; ask"
            " for fewer tokens or start the engine with more blocks",
        ),
        (Generation((1,), 5, adapter="tenant-b"), "unknown adapter 'tenant-b'; did you mean 'tenant-a'?"),
        (
            Generation((1,), 1, grammar="json"),
            "grammar json needs max_tokens of 2 or more to close the object, got 1",
        ),
    ],
)
def test_what_can_never_be_answered_is_refused(generation: Generation, message: str) -> None:
    with pytest.raises(RefusedError) as caught:
        admit(generation)
    assert str(caught.value) == message


def test_what_just_fits_is_admitted() -> None:
    assert admit(Generation((1,) * 50, 15, adapter="tenant-a")).due == 50


def test_an_unknown_site_is_refused() -> None:
    with pytest.raises(UnknownSiteError, match=r"unknown site 'layer.7.rope'; did you mean 'layer.2.rope'\?"):
        admit(Generation((1,), 5, hooks=Hooks({"layer.7.rope": lambda array, context: array})))
