"""What the machine under the target shows: free blocks of memory, the engine's cgroup and process, its GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from chaosgate.loadgen.gpu import GpuReader
from chaosgate.model.gauges import LARGEST_ORDER

_ZONE = re.compile(r"Node\s+(?P<node>\d+), zone\s+(?P<zone>\S+)\s+(?P<free>[\d ]+?)\s*")
_SMALL_ZONE = "DMA"
"""The first 16 MiB of a PC, kept for old devices: nobody's memory comes from there, and its blocks stay whole."""
_MICRO, _NANO = 1e-6, 1e-9
_NO_LIMIT = 1 << 60
"""cgroup v1 writes the largest number of pages where no limit is set."""


@dataclass(frozen=True)
class HostReading:
    """The values by gauge, and by what is missing why it is."""

    values: Mapping[str, float]
    missing: Mapping[str, str]


class HostReader:
    """Reads the machine of the process `pid` each time it is asked. What cannot be read is a reason, no exception."""

    def __init__(self, pid: int, proc: Path = Path("/proc"), gpus: Callable[[], Mapping[str, float]] | None = None):
        self._pid, self._proc = pid, proc
        self._sources: Mapping[str, Callable[[], Mapping[str, float]]] = {
            "host:buddyinfo": self._buddyinfo,
            "host:cgroup": self._cgroup,
            "host:process": self._process,
            "gpu": gpus or GpuReader().read,
        }

    def read(self) -> HostReading:
        """Everything that can be read now."""
        values: dict[str, float] = {}
        missing: dict[str, str] = {}
        for name, source in self._sources.items():
            try:
                values |= source()
            except (OSError, ValueError, psutil.Error) as error:
                missing[name] = _cause(error)
        return HostReading(values, missing)

    def _buddyinfo(self) -> Mapping[str, float]:
        text = (self._proc / "buddyinfo").read_text(encoding="ascii")
        return {LARGEST_ORDER: float(largest_free_order(text))}

    def _cgroup(self) -> Mapping[str, float]:
        return read_cgroup(self._proc / str(self._pid))

    def _process(self) -> Mapping[str, float]:
        process = psutil.Process(self._pid)
        with process.oneshot():
            cpu = process.cpu_times()
            return {
                "host:process:rss-bytes": float(process.memory_info().rss),
                "host:process:cpu-seconds": cpu.user + cpu.system,
                "host:process:threads": float(process.num_threads()),
            }


def largest_free_order(buddyinfo: str) -> int:
    """The order of the largest free block of memory on the node where it is smallest, -1 where a node has none.

    `buddyinfo` is the text of /proc/buddyinfo: by node and zone how many blocks of 2^0, 2^1, ... pages are free (Linux,
    Documentation/filesystems/proc.rst). Memory comes from the node on which a process runs, so that the worst one
    counts, and from any of its zones but the small first one. A ValueError where there are no zones in the text.
    """
    by_node: dict[str, int] = {}
    zones = [match for match in map(_ZONE.fullmatch, buddyinfo.splitlines()) if match]
    large = [zone for zone in zones if zone["zone"] != _SMALL_ZONE] or zones
    for zone in large:
        free = [order for order, blocks in enumerate(zone["free"].split()) if int(blocks)]
        by_node[zone["node"]] = max([by_node.get(zone["node"], -1), *free])
    if not by_node:
        raise ValueError("/proc/buddyinfo lists no zone of memory")
    return min(by_node.values())


def read_cgroup(process: Path) -> dict[str, float]:
    """The readings of the cgroup of the process whose folder in /proc is `process`, of version 2 or 1.

    A ValueError where it has none of its own, as on a machine without containers or services, or none that is mounted.
    """
    groups = _groups((process / "cgroup").read_text(encoding="utf-8", errors="surrogateescape"))
    mounts = list(_mounts((process / "mountinfo").read_text(encoding="utf-8", errors="surrogateescape")))
    values = dict(_version_2(_folder("", groups, mounts)))
    # Where both versions are mounted, the controllers belong to version 1.
    for controller, files in _VERSION_1.items():
        values |= _version_1(_folder(controller, groups, mounts), files)
    if not values:
        raise ValueError("the engine's process is in no cgroup that counts memory or CPU time")
    return values


@dataclass(frozen=True)
class _Mount:
    controllers: frozenset[str]
    root: str
    """The cgroup that is seen at the mount point; inside a container that is its own."""
    point: Path


def _groups(text: str) -> dict[str, str]:
    """Controller to path, from /proc/PID/cgroup; version 2 has the one line with the empty name (cgroups(7))."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        found |= dict.fromkeys(controllers.split(","), path)
    return found


def _mounts(text: str) -> Iterator[_Mount]:
    """Where cgroups are mounted, from /proc/PID/mountinfo (proc_pid_mountinfo(5))."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if kind[0] in ("cgroup", "cgroup2"):
            controllers = frozenset(kind[2].split(",")) if kind[0] == "cgroup" else frozenset({""})
            yield _Mount(controllers, fields[3], Path(fields[4]))


def _folder(controller: str, groups: Mapping[str, str], mounts: Iterable[_Mount]) -> Path | None:
    """The folder of the process's cgroup; where a container sees only its own, that is the mount point itself.

    None for the root of all cgroups, which counts the whole machine and not the engine: a root of version 2 has no
    cgroup.type, and of version 1 it alone has a release_agent (Linux, Documentation/admin-guide).
    """
    mount = next((mount for mount in mounts if controller in mount.controllers), None)
    path = groups.get(controller)
    if mount is None or path is None:
        return None
    below = path.removeprefix(mount.root.rstrip("/")).lstrip("/")
    folder = mount.point / below
    found = folder if ".." not in Path(below).parts and folder.is_dir() else mount.point
    whole_machine = (found / "release_agent").exists() if controller else not (found / "cgroup.type").exists()
    return None if whole_machine else found


def _version_2(folder: Path | None) -> Iterator[tuple[str, float]]:
    """Linux, Documentation/admin-guide/cgroup-v2.rst: bytes, and microseconds in cpu.stat."""
    if folder is None:
        return
    for name, file in (("memory-bytes", "memory.current"), ("memory-limit-bytes", "memory.max")):
        value = _number(folder / file)
        if value is not None:
            yield f"host:cgroup:{name}", value
    stat = _pairs(folder / "cpu.stat")
    for name, key, unit in (
        ("cpu-seconds", "usage_usec", _MICRO),
        ("throttled-seconds", "throttled_usec", _MICRO),
        ("throttled-periods", "nr_throttled", 1.0),
    ):
        if key in stat:
            yield f"host:cgroup:{name}", stat[key] * unit


_VERSION_1: Mapping[str, tuple[tuple[str, str, str | None, float], ...]] = {
    "memory": (
        ("memory-bytes", "memory.usage_in_bytes", None, 1.0),
        ("memory-limit-bytes", "memory.limit_in_bytes", None, 1.0),
    ),
    "cpuacct": (("cpu-seconds", "cpuacct.usage", None, _NANO),),
    "cpu": (
        ("throttled-seconds", "cpu.stat", "throttled_time", _NANO),
        ("throttled-periods", "cpu.stat", "nr_throttled", 1.0),
    ),
}
"""By controller: gauge, file, key within it, unit (Linux, Documentation/admin-guide/cgroup-v1)."""


def _version_1(folder: Path | None, files: Iterable[tuple[str, str, str | None, float]]) -> Iterator[tuple[str, float]]:
    if folder is None:
        return
    for name, file, key, unit in files:
        value = _number(folder / file) if key is None else _pairs(folder / file).get(key)
        if value is not None and value < _NO_LIMIT:
            yield f"host:cgroup:{name}", value * unit


def _number(file: Path) -> float | None:
    """The number in a file; None where there is none, or the word `max`."""
    try:
        return float(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _pairs(file: Path) -> dict[str, float]:
    """The numbers of a file of lines `key number`, nothing where it is not there."""
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    words = [line.split() for line in lines]
    return {pair[0]: float(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
