"""Ending pods and containers: the target heals itself, so that nothing is noted down."""

from __future__ import annotations

from chaosgate.cluster.command import run_command
from chaosgate.cluster.targets import deaths
from chaosgate.errors import ClusterError
from chaosgate.inject.cluster.scene import Proof, Scene, shows
from chaosgate.model.change import DeletePod, KillContainer


def delete(scene: Scene, change: DeletePod) -> Proof:
    """1 once the API server says that the pod is gone or on its way out, 0 where it was gone before."""
    deleted = scene.cluster.delete("Pod", change.pod, namespace=scene.namespace, grace=change.grace, uid=change.uid)
    return lambda: int(deleted and _going(scene, change))


def _going(scene: Scene, change: DeletePod) -> bool:
    pod = scene.pod(change.pod, change.uid)
    return pod is None or "deletionTimestamp" in pod["metadata"]


def kill(scene: Scene, change: KillContainer) -> Proof:
    """1 once the pod's status says that a container has died, 0 where none does, or the pod was gone before."""
    pod = scene.pod(change.pod, change.uid)
    if pod is None:
        return lambda: 0
    before = deaths(pod)
    try:
        argv = ("sh", "-c", f"kill -{change.signal} 1")
        run_command(scene.cluster, change.pod, change.container, argv, scene.namespace)
    except ClusterError as error:
        raise ClusterError(
            f"{error}; container.kill runs `sh` in the container, and its user must be that of the main process"
        ) from error
    return lambda: int(shows(lambda: _died(scene, change, before)))


def _died(scene: Scene, change: KillContainer, before: int) -> bool:
    pod = scene.pod(change.pod, change.uid)
    return pod is None or deaths(pod) > before
