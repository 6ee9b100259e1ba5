"""What is said of a machine that is not as it was, and addresses that cannot be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from testbed import places
from testbed.leftovers import PREFIX
from testbed.trace import differences, look, members, namespaces_of

BEFORE = {"mount": frozenset({"/ ext4", "/old tmpfs"}), "link": frozenset({"lo"})}


def test_what_came_and_what_went_is_told() -> None:
    after = {"mount": frozenset({"/ ext4", "/new overlay"}), "link": frozenset({"lo", "veth1"})}
    assert differences(BEFORE, after) == ["mount came: /new overlay", "link came: veth1", "mount went: /old tmpfs"]
    assert differences(BEFORE, BEFORE) == []


def test_a_cluster_at_other_addresses_may_come_and_go() -> None:
    own, other = f"/tmp/{PREFIX}{places.SUBNET}-a", f"/tmp/{PREFIX}10.9-b"
    after = {
        **BEFORE,
        "link": BEFORE["link"] | {places.LINK, f"{places.LINK_PREFIX}10.9"},
        "file": frozenset({own, other}),
    }
    found = differences({**BEFORE, "file": frozenset()}, after)
    assert found == [f"link came: {places.LINK}", f"file came: {own}"]


@pytest.mark.skipif(sys.platform != "linux", reason="a test cluster runs on Linux")
def test_a_look_sees_a_file_that_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testbed.trace.tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("testbed.trace.said", lambda *command: [])
    before = look()
    (tmp_path / "containerd-mount123").touch()
    (tmp_path / "pytest-of-root").mkdir()
    assert differences(before, look()) == [f"temporary file came: {tmp_path}/containerd-mount123"]


@pytest.mark.skipif(sys.platform != "linux", reason="a test cluster runs on Linux")
def test_this_machines_own_namespaces_are_none_of_a_nodes() -> None:
    assert namespaces_of(os.getpid()) == frozenset()
    assert os.getpid() in members({os.readlink("/proc/self/ns/net")})
    assert members({"net:[0]"}) == []


@pytest.mark.parametrize("text", ["172.300", "172", "8.8", "172.31.0", ""])
def test_addresses_are_two_numbers_of_a_private_network(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.SUBNET_VARIABLE, text)
    with pytest.raises(ValueError, match=r"such as 172\.31") as refused:
        places.subnet()
    assert f"read {text!r}" in str(refused.value)
