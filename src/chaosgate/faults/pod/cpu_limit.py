"""pod.cpu-limit: the CPU limit of running pods is cut in place."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosgate.faults.pod.limits import LimitCut
from chaosgate.model.change import Resource
from chaosgate.model.fault import FAULTS, Sweep
from chaosgate.units import Share


@FAULTS.register("pod.cpu-limit")
class PodCpuLimit(LimitCut):
    """A noisy neighbour or a wrong manifest: a container is throttled, for its CPU limit is cut while it runs."""

    kind: Literal["pod.cpu-limit"]
    dose: Sweep[Literal["cut"], Share]

    resource: ClassVar[Resource] = "cpu"
