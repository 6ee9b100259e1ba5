"""The sweeper of a run on a cluster: it cleans up once the workflow is gone or ended without doing so itself."""

from __future__ import annotations

import time

from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.components import on_cluster
from chaosgate.components.sweeper import say
from chaosgate.deploy.cluster.clean import is_marked
from chaosgate.errors import ChaosgateError, ClusterError
from chaosgate.model.result import EXIT_UNCLEAN

POLL = 2.0
"""Seconds between two looks."""
PAUSE = 10.0
"""Seconds between two attempts to clean up."""
KFP_RUN_LABEL = "pipeline/runid"
"""Kubeflow Pipelines puts the run's id, by which chaosgate calls it, on the workflow that it makes of a package."""
ENDED = ("Succeeded", "Failed", "Error")
"""Phases in which a workflow has run its exit handler, or will not any more."""


def guard(run: str, deadline: float, carried: bool) -> int:
    """Wait until the run is over or nobody else can end it; then clean up. `deadline` is of the monotonic clock.

    A run that is `carried` by a workflow is over when there is none, even if none was ever seen from here.
    """
    why = watch(run, deadline, carried)
    if why is None:
        return 0
    say(f"{why}: cleaning up")
    return sweep(run, deadline)


def watch(run: str, deadline: float, carried: bool) -> str | None:
    """Why the run must be swept; None once it is over."""
    cluster = open_cluster()
    seen = carried
    while time.monotonic() < deadline:
        try:
            if not is_marked(cluster, run):
                return None
            phase = workflow_phase(cluster, run)
        except ClusterError as error:
            # An API server that restarts is no reason to end a run.
            say(str(error))
        else:
            seen = seen or phase is not None
            if phase in ENDED:
                return f"the workflow has ended ({phase}) and left the run behind"
            if seen and phase is None:
                return "the workflow is gone"
        time.sleep(POLL)
    return "the run did not end in time"


def workflow_phase(cluster: Cluster, run: str) -> str | None:
    """The phase of the workflow that carries the run, empty before its controller saw it; None when there is none.

    Where nothing serves workflows there never is one, and only the deadline counts.
    """
    found = cluster.get("Workflow", run)
    workflows = [found] if found is not None else cluster.select_if_served("Workflow", f"{KFP_RUN_LABEL}={run}")
    return next((str(one.get("status", {}).get("phase", "")) for one in workflows), None)


def sweep(run: str, deadline: float) -> int:
    """Clean up, again and again until that is proved or the deadline has passed; once in any case."""
    while True:
        code = attempt(run)
        if code == 0 or time.monotonic() >= deadline:
            return code
        time.sleep(PAUSE)


def attempt(run: str) -> int:
    """One attempt: 0 when the run is clean."""
    try:
        cleanup, _ = on_cluster.clean_up(run)
    except ChaosgateError as error:
        say(str(error))
        return EXIT_UNCLEAN
    for left in cleanup.left:
        say(f"left behind: {left}")
    return cleanup.exit_code
