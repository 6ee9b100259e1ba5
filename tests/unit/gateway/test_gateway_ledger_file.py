from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from test_gateway_tally import row

from chaosgate.errors import UsageError
from chaosgate.gateway.ledger_file import LedgerFile
from chaosgate.model.observation import LedgerRow


def test_a_row_is_in_the_file_as_soon_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.ndjson"
    path.write_text("an older one\n")
    with LedgerFile(path, asyncio.Event()) as file:
        file.write(row(1))
        assert [LedgerRow.model_validate_json(line) for line in path.read_text().splitlines()] == [row(1)]
        file.write(row(2))
    assert path.read_text().count("\n") == 2


def test_a_file_that_cannot_be_begun_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"--ledger .*/none/l: cannot be written: no such file or directory; make room"),
        LedgerFile(tmp_path / "none" / "l", asyncio.Event()),
    ):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_ends_the_file_and_is_told() -> None:
    broken = asyncio.Event()
    file = LedgerFile(Path("/dev/full"), broken).__enter__()
    file.write(row(1))
    assert broken.is_set()
    file.write(row(2))
    with pytest.raises(UsageError, match="--ledger /dev/full: cannot be written: no space left on device"):
        file.__exit__(None, None, None)
