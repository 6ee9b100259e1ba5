"""Running a command in a container, over the API server's WebSocket."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from chaosgate.cluster.api import CALL_SECONDS, Cluster, refusal
from chaosgate.errors import ClusterError, one_line

SIGNALLED = 128
"""What a shell adds to the signal that ended a command."""


def run_command(cluster: Cluster, pod: str, container: str, argv: Sequence[str], namespace: str | None = None) -> None:
    """Run `argv` in a container and wait until it ends; a ClusterError with its words where it fails.

    A connection that breaks off is no failure, nor is a command ended by a signal: it may have ended its own container.
    """
    from kubernetes.client import ApiClient, ApiException, CoreV1Api
    from kubernetes.stream import stream
    from kubernetes.stream.ws_client import ERROR_CHANNEL, STDERR_CHANNEL
    from urllib3.exceptions import HTTPError

    # A client of its own: while `stream` runs it replaces the way in which its client sends.
    core = CoreV1Api(ApiClient(cluster.client.configuration))
    asked = {"command": list(argv), "stdin": False, "stdout": True, "stderr": True, "tty": False}
    place = namespace or cluster.namespace
    try:
        answer = stream(
            core.connect_get_namespaced_pod_exec, pod, place, container=container, **asked, _preload_content=False
        )
    except ApiException as error:
        raise ClusterError(f"exec in pod {pod}: {refusal(error.status, error.body or error.reason)}") from error
    except (HTTPError, OSError) as error:
        raise ClusterError(f"exec in pod {pod}: the Kubernetes API does not answer: {one_line(str(error))}") from error
    try:
        answer.run_forever(timeout=CALL_SECONDS)
        said, status = answer.read_channel(STDERR_CHANNEL), answer.read_channel(ERROR_CHANNEL)
    finally:
        answer.close()
    why = failure(status)
    if why is not None:
        raise ClusterError(f"exec in pod {pod}: {' '.join(argv)}: {one_line(said.strip()) or why}")


def failure(status: str) -> str | None:
    """Why the command failed, by the `Status` that the API server sends last; None where it did not or nobody knows."""
    try:
        ended: dict[str, Any] = json.loads(status)
    except ValueError:
        return None
    causes = (ended.get("details") or {}).get("causes") or []
    codes = [int(one["message"]) for one in causes if one.get("reason") == "ExitCode"]
    if ended.get("status") == "Success" or any(code >= SIGNALLED for code in codes):
        return None
    return one_line(str(ended.get("message", "it gave no reason")))
