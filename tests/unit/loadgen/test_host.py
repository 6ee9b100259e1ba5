"""The machine under the target: free blocks of memory, cgroups of both versions, and what is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chaosgate.loadgen.host import HostReader, largest_free_order, read_cgroup
from chaosgate.model.gauges import LARGEST_ORDER, fragmentation

HEAD = "Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      3 \n"
ZONE = "Node {}, zone {:>8} " + " ".join("{:>6}" for _ in range(11)) + " \n"


def zone(node: int, name: str, *free: int) -> str:
    return ZONE.format(node, name, *free, *[0] * (11 - len(free)))


@pytest.mark.parametrize(
    ("text", "order", "level"),
    [
        (HEAD + zone(0, "Normal", 12, 37, 16, 6, 2, 14, 11, 4, 17, 27, 109), 10, "light"),
        (HEAD + zone(0, "Normal", 1, 0, 0, 0, 0, 0, 0, 0, 0, 2), 9, "light"),
        (HEAD + zone(0, "Normal", 1, 0, 0, 0, 0, 0, 0, 0, 2), 8, "medium"),
        (HEAD + zone(0, "Normal", 1, 0, 0, 0, 0, 2), 5, "medium"),
        (HEAD + zone(0, "Normal", 1, 0, 0, 0, 2), 4, "heavy"),
        (HEAD + zone(0, "DMA32", 0, 0, 0, 0, 0, 0, 1) + zone(0, "Normal", 3), 6, "medium"),
        (HEAD + zone(0, "Normal", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5) + zone(1, "Normal", 0, 0, 1), 2, "heavy"),
        (HEAD + zone(0, "Normal"), -1, "heavy"),
        (HEAD, 10, "light"),
    ],
)
def test_the_largest_free_block_of_the_fullest_node_counts(text: str, order: int, level: str) -> None:
    assert largest_free_order(text) == order
    assert fragmentation(order) == level


def test_a_file_without_zones_is_refused() -> None:
    with pytest.raises(ValueError, match="lists no zone"):
        largest_free_order("")


def process(root: Path, cgroup: str, mounts: list[str]) -> Path:
    """A folder in /proc of a process in these cgroups."""
    folder = root / "proc" / "7"
    folder.mkdir(parents=True)
    (folder / "cgroup").write_text(cgroup)
    (folder / "mountinfo").write_text("".join(f"{line}\n" for line in mounts))
    return folder


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


CPU_STAT = "usage_usec 2500000\nuser_usec 1\nnr_periods 10\nnr_throttled 4\nthrottled_usec 750000\n"


def test_version_2_is_read_in_base_units(tmp_path: Path) -> None:
    point = tmp_path / "cg"
    mounts = [
        "22 1 0:21 / /proc rw - proc proc rw",
        f"32 31 0:29 / {point} rw shared:9 - cgroup2 cgroup2 rw,nsdelegate",
    ]
    write(point / "a/b", cgroup__type="domain\n", memory__current="1048576\n", memory__max="max\n", cpu__stat=CPU_STAT)
    assert read_cgroup(process(tmp_path, "0::/a/b\n", mounts)) == {
        "host:cgroup:memory-bytes": 1048576.0,
        "host:cgroup:cpu-seconds": pytest.approx(2.5),
        "host:cgroup:throttled-seconds": pytest.approx(0.75),
        "host:cgroup:throttled-periods": 4.0,
    }


@pytest.mark.parametrize("path", ["/", "/../../other", "/kubepods/pod1/c1"])
def test_in_a_container_its_own_cgroup_stands_at_the_mount_point(tmp_path: Path, path: str) -> None:
    point = tmp_path / "cg"
    write(point, cgroup__type="domain\n", memory__current="5\n", memory__max="10\n")
    mounts = [f"32 31 0:29 /kubepods/pod1/c1 {point} ro - cgroup2 cgroup rw"]
    assert read_cgroup(process(tmp_path, f"0::{path}\n", mounts)) == {
        "host:cgroup:memory-bytes": 5.0,
        "host:cgroup:memory-limit-bytes": 10.0,
    }


def test_version_1_is_read_in_base_units_beside_an_empty_version_2(tmp_path: Path) -> None:
    point = tmp_path / "cg"
    mounts = [
        *(f"{index} 31 0:{index} / {point}/{name} rw - cgroup cgroup rw,{name}" for index, name in
          enumerate(("cpu,cpuacct", "memory"))),
        f"40 31 0:40 / {point}/unified rw - cgroup2 cgroup2 rw",
    ]  # fmt: skip
    write(
        point / "cpu,cpuacct/x", cpuacct__usage="1500000000\n", cpu__stat="nr_throttled 2\nthrottled_time 250000000\n"
    )
    write(point / "memory/y", memory__usage_in_bytes="77\n", memory__limit_in_bytes="9223372036854771712\n")
    write(point / "unified", cpu__stat=CPU_STAT)
    groups = "4:memory:/y\n2:cpu,cpuacct:/x\n0::/\n"
    assert read_cgroup(process(tmp_path, groups, mounts)) == {
        "host:cgroup:memory-bytes": 77.0,
        "host:cgroup:cpu-seconds": pytest.approx(1.5),
        "host:cgroup:throttled-seconds": pytest.approx(0.25),
        "host:cgroup:throttled-periods": 2.0,
    }


def test_the_root_of_all_cgroups_counts_the_machine_and_is_not_read(tmp_path: Path) -> None:
    point = tmp_path / "cg"
    mounts = [
        f"1 31 0:1 / {point}/memory rw - cgroup cgroup rw,memory",
        f"2 31 0:2 / {point}/unified rw - cgroup2 cgroup2 rw",
    ]
    write(point / "memory", memory__usage_in_bytes="77\n", release_agent="\n")
    write(point / "unified", cpu__stat=CPU_STAT)
    with pytest.raises(ValueError, match="in no cgroup that counts"):
        read_cgroup(process(tmp_path, "4:memory:/\n0::/\n", mounts))


def test_a_process_in_no_cgroup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in no cgroup that counts"):
        read_cgroup(process(tmp_path, "0::/\n", []))


def no_gpu() -> dict[str, float]:
    raise OSError("no GPU")


def test_what_is_missing_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    reading = HostReader(os.getpid(), proc=tmp_path, gpus=no_gpu).read()
    assert reading.missing == {
        "host:buddyinfo": f"{tmp_path}/buddyinfo: No such file or directory",
        "host:cgroup": f"{tmp_path}/{os.getpid()}/cgroup: No such file or directory",
        "gpu": "no GPU",
    }
    assert reading.values["host:process:rss-bytes"] > 1e6


def test_this_machine_can_be_read() -> None:
    reading = HostReader(os.getpid(), gpus=lambda: {"gpu:0:celsius": 40.0}).read()
    assert reading.values["gpu:0:celsius"] == 40.0
    assert reading.values["host:process:threads"] >= 1
    # A sandbox may hide either; then it is said, and never left out in silence.
    assert (LARGEST_ORDER in reading.values) != ("host:buddyinfo" in reading.missing)
    assert any(name.startswith("host:cgroup:") for name in reading.values) != ("host:cgroup" in reading.missing)


def test_a_process_that_is_gone_is_a_reason() -> None:
    reading = HostReader(2**22 + 1, gpus=dict).read()
    assert "host:process" in reading.missing
    assert "host:cgroup" in reading.missing
