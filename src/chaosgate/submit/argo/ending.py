"""End a run before its time, and wait until it has cleaned up after itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.components import on_cluster
from chaosgate.model.plan import Step
from chaosgate.model.result import Cleanup
from chaosgate.submit.argo.follow import Follower, Log, Say
from chaosgate.submit.argo.requests import shut_down
from chaosgate.submit.argo.workflow import Workflow
from chaosgate.submit.interrupts import Interrupts


class _Endings:
    """Says how each step ends."""

    def __init__(self, say: Say) -> None:
        self.say = say

    def started(self, step: Step) -> None: ...
    def progress(self, step: Step, told: Mapping[str, Any]) -> None: ...

    def ended(self, step: Step, exit_code: int) -> None:
        self.say(f"{step.id} ended")


def stop_and_wait(cluster: Cluster, workflow: Workflow, say: Say, log: Log, interrupts: Interrupts) -> Workflow | None:
    """The workflow once it is over, its exit handler included; None when somebody deleted it meanwhile.

    A second signal ends the waiting, never the run's cleanup. `say` and `log` are told as a Follower's are.
    """
    if workflow.is_over:
        return workflow
    if not workflow.is_stopping:
        shut_down(cluster, workflow.run)
        say("asked the cluster to stop the run; waiting for its cleanup")
    follower = Follower(cluster, workflow.run, _Endings(say), say, log, interrupts, known=workflow)
    follower.follow()
    return None if follower.is_deleted else follower.workflow


def clean_from_here(
    cluster: Cluster, workflow: Workflow | None, run: str, say: Say, log: Log, interrupts: Interrupts
) -> Cleanup:
    """What cleaning up came to, done by this very process: it needs no image, account or room on the cluster.

    A workflow that still runs is stopped first, so that it cleans up from within, where the gateway can be told to
    halt. Whatever is left then goes from here, where the gateway cannot be reached: a fault on the wire ends with the
    gateway's Deployment.
    """
    if workflow is not None:
        stop_and_wait(cluster, workflow, say, log, interrupts)
    seal, _ = on_cluster.clean_up(run, cluster)
    return seal
