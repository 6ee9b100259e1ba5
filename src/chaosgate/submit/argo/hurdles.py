"""Pods of a run that do not start: why, and when there is no use in waiting any longer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.deploy.cluster.ready import HOPELESS
from chaosgate.model.plan import CLEANUP, Step
from chaosgate.submit.argo.pods import why_pending
from chaosgate.submit.argo.requests import shut_down

STARTING = 5.0
"""Seconds that a pod may take to start before anybody asks why."""
GIVE_UP = 60.0
"""Seconds for which a pod may wait for what no waiting mends: whoever makes a missing Secret then still saves the run.
"""


class Hurdles:
    """Told of each step that does not start, as often as it is looked at; says each reason once."""

    def __init__(self, cluster: Cluster, run: str, say: Callable[[str], None], clock: Callable[[], float]) -> None:
        self.problems: list[str] = []
        """Why the run was given up."""
        self._cluster, self._run, self._say, self._clock = cluster, run, say, clock
        self._since: dict[str, float] = {}
        self._said: set[tuple[str, str]] = set()

    def look(self, step: Step, pod: Mapping[str, Any]) -> None:
        """Say why the pod of `step` does not start, and end the run where no waiting mends it."""
        if not self._lasts(f"{step.id} starts", STARTING):
            return
        why = why_pending(self._cluster, pod)
        if why is None:
            return
        # The rest of a reason may count attempts.
        key = (step.id, why.partition(":")[0])
        if key not in self._said:
            self._said.add(key)
            self._say(f"{step.id} does not start: {why}")
        hopeless = any(reason.startswith(HOPELESS) for reason in why.split("; "))
        if hopeless and self._lasts(f"{step.id} is hopeless", GIVE_UP):
            self._give_up(step, why)

    def _give_up(self, step: Step, why: str) -> None:
        """End the run; where not even its cleanup can start, that is not waited for either."""
        key = (step.id, "given up")
        if key not in self._said:
            self._said.add(key)
            self.problems.append(f"the pod of {step.id} cannot start: {why}")
            self._say(f"{step.id} cannot start as things are; ending the run")
            shut_down(self._cluster, self._run, "Terminate" if step.component == CLEANUP else "Stop")

    def _lasts(self, what: str, seconds: float) -> bool:
        """Whether `what` has been so for so long."""
        return self._clock() - self._since.setdefault(what, self._clock()) >= seconds
