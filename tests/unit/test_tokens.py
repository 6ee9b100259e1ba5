"""The tokens of a run: what gives which, where they are read, and what is said where there are none."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import pytest

from chaosgate.errors import UsageError
from chaosgate.tokens import engine_token, read_token_file, run_token, token_digest, token_under


def test_each_token_comes_from_the_one_before_and_gives_nothing_of_it() -> None:
    admin = run_token("k", "r")
    assert admin == hmac.new(b"k", b"chaosgate gateway r", hashlib.sha256).hexdigest()
    assert engine_token(admin) == hmac.new(admin.encode(), b"chaosgate engine", hashlib.sha256).hexdigest()
    assert token_digest("t") == hashlib.sha256(b"t").hexdigest()
    assert len({admin, run_token("k", "s"), run_token("l", "r"), engine_token(admin), token_digest(admin)}) == 5


def test_a_token_that_no_header_may_hold_has_a_digest_too() -> None:
    assert token_digest("\udcff") == hashlib.sha256(b"\xff").hexdigest()


def test_a_token_is_read_without_the_space_around_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("  t0k3n\n")
    assert read_token_file(tmp_path / "token") == "t0k3n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "the admin token cannot be read: No such file or directory"),
        (b"\xff", "the admin token cannot be read: it is not ASCII"),
        (b" \n", "holds no admin token; one line of printable signs without spaces is needed"),
        (b"two\nlines", "holds no admin token; one line of printable signs without spaces is needed"),
        (b"bell\x07", "holds no admin token; one line of printable signs without spaces is needed"),
    ],
)
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        read_token_file(file)
    assert str(refused.value) == f"{file}: {reason}"


def test_a_run_s_token_comes_from_the_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", " k\n")
    assert token_under("KEY", "r") == run_token("k", "r")
    monkeypatch.setenv("KEY", " ")
    with pytest.raises(UsageError) as refused:
        token_under("KEY", "r")
    assert str(refused.value) == "environment variable KEY: holds no key from which the admin token could be derived"
