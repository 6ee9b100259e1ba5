from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..conftest import Served, start_engine


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that answers every prompt with many words: what is tested here is how, not what."""
    server = start_engine(tmp_path_factory.mktemp("untrained"), "--seed", "7")
    yield server
    code, errors = server.stop()
    assert code == 0
    assert "Traceback" not in errors
