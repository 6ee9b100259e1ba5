"""pod.memory-limit: the memory limit of running pods is cut in place."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosgate.faults.pod.limits import LimitCut
from chaosgate.model.change import Resource
from chaosgate.model.fault import FAULTS, Sweep
from chaosgate.units import Share


@FAULTS.register("pod.memory-limit")
class PodMemoryLimit(LimitCut):
    """Memory that gets short: a container's memory limit is cut while it runs.

    The kubelet leaves a limit as it is that would lie below what the container uses; nothing is killed for it.
    """

    kind: Literal["pod.memory-limit"]
    dose: Sweep[Literal["cut"], Share]

    resource: ClassVar[Resource] = "memory"
