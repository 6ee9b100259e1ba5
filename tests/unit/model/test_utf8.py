"""Files are UTF-8, and one that is not is named with its first wrong byte."""

from __future__ import annotations

import pytest

from chaosgate.errors import UsageError
from chaosgate.model.utf8 import utf8_text


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_text_is_read_with_and_without_a_mark(mark: bytes) -> None:
    assert utf8_text(mark + "für".encode(), "a.csv") == "für"


def test_what_is_no_utf8_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        utf8_text(b"f\xfcr", "a.csv")
    assert str(caught.value) == "a.csv: byte 1 is no UTF-8; save the file as UTF-8"
