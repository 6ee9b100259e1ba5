"""The pytest plug-in of chaosgate: the fixture `chaos_gateway`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from chaosgate.testing import ChaosGateway


@pytest.fixture
def chaos_gateway() -> Iterator[Callable[..., ChaosGateway]]:
    """Starts gateways that end with the test: `chaos_gateway(upstream, faults, seed=1)` returns one that serves.

    The arguments are those of `chaosgate.testing.chaos_gateway`.
    """
    # Only here: a test session that asks for no gateway loads none.
    from chaosgate.testing import chaos_gateway as make

    with ExitStack() as running:

        def start(*arguments: Any, **options: Any) -> ChaosGateway:
            return running.enter_context(make(*arguments, **options))

        yield start
