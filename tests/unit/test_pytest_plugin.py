"""The plug-in, as pytest loads it for a stranger's tests."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """\
import sys
import urllib.error
import urllib.request

import pytest

ended = []


def test_nothing_is_loaded_before_it_is_asked_for():
    assert not any(name.startswith(("aiohttp", "numpy", "chaosgate.gateway")) for name in sys.modules)


def test_two_gateways(chaos_gateway):
    first = chaos_gateway("http://127.0.0.1:9", ["wire.error=100%,status=503"])
    second = chaos_gateway("http://127.0.0.1:9", seed=2)
    for gateway, status in ((first, 503), (second, 502)):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(gateway.url, data=b"{}")
        assert caught.value.code == status
    ended.extend([first, second])


def test_they_ended_with_their_test():
    assert [len(gateway.ledger()) for gateway in ended] == [1, 1]
    for gateway in ended:
        with pytest.raises(Exception, match="does not run"):
            gateway.url
"""


@pytest.mark.thorough
def test_a_stranger_s_tests_have_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_strangers.py").write_text(TESTS)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert declared == {"chaosgate": "chaosgate.pytest_plugin"}
    # By its module, which works as well where the package was installed before it had the entry point.
    options = ["-p", "no:chaosgate", "-p", declared["chaosgate"], "-p", "no:cacheprovider", "-q"]
    command = [sys.executable, "-m", "pytest", *options, "test_strangers.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
