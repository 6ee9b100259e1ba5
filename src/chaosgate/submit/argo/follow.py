"""Follow a workflow to its end: which steps start and end, what they tell, and what keeps them from starting."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from chaosgate.cluster.api import Cluster, Forbidden
from chaosgate.components.definition import BUILT_IN
from chaosgate.components.places import step_role
from chaosgate.components.progress import heard
from chaosgate.errors import ClusterError, one_line
from chaosgate.model.plan import CLEANUP, GATE, Step
from chaosgate.submit.argo.hurdles import Hurdles
from chaosgate.submit.argo.pods import PodLog, has_started, pods_of
from chaosgate.submit.argo.requests import find, shut_down
from chaosgate.submit.argo.workflow import Node, Workflow
from chaosgate.submit.interrupts import Interrupts

POLL = 1.5
"""Seconds between two looks at the workflow."""
PATIENCE = 600.0
"""Seconds for which the API server may not answer: a control plane is upgraded in less."""
UNTAKEN = 30.0
"""Seconds until a workflow that no controller has taken up is worth a word."""
LAST_LINES = 3
"""Lines of a step's log that are quoted when it crashed: the end of a traceback."""

Say = Callable[[str], None]
Log = Callable[[str, str], None]


class Listener(Protocol):
    """Who is told of the steps."""

    def started(self, step: Step) -> None: ...
    def progress(self, step: Step, told: Mapping[str, Any]) -> None: ...
    def ended(self, step: Step, exit_code: int) -> None: ...


class Follower:
    """Looks at the workflow of `run` again and again.

    `listener` hears of its steps, `say` of everything else, and `log` gets (role, line) for each line that a pod
    prints, a step's role as in a local run's folder. Nothing is told of steps that had ended in `known`.
    """

    def __init__(
        self,
        cluster: Cluster,
        run: str,
        listener: Listener,
        say: Say,
        log: Log,
        interrupts: Interrupts,
        *,
        known: Workflow | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.cluster, self.run, self.listener, self.log = cluster, run, listener, log
        self.interrupts, self.clock = interrupts, clock
        self.workflow: Workflow | None = None
        """As it was seen last."""
        self.is_deleted = False
        """Whether somebody has deleted it since."""
        self.hurdles = Hurdles(cluster, run, say, clock)
        self._say, self._said = say, set[str]()
        self._begun = clock()
        self._silent_since: float | None = None
        self._started: set[str] = set()
        self._ended = {step.id for step in known.steps if known.node(step).phase == "ended"} if known else set[str]()
        self._logs: dict[str, PodLog] = {}
        self._words: dict[str, deque[str]] = {}

    def follow(self) -> bool:
        """True once the workflow is over or gone; False when a second signal came before.

        The first signal asks the cluster to stop the workflow. A ClusterError when the API server has not answered for
        PATIENCE seconds; the run goes on without us.
        """
        while not self.interrupts.again:
            try:
                self._look()
                self._answered()
                if self.is_deleted or (self.workflow is not None and self.workflow.is_over):
                    return True
            except ClusterError as error:
                self._unanswered(error)
            self.interrupts.wait(POLL)
        return False

    def problems(self) -> Iterator[str]:
        """What kept the run from its end, a sentence each: its verdict does not count then."""
        yield from self.hurdles.problems
        if self.is_deleted:
            yield "somebody deleted the workflow before it was over"
        elif self.workflow is not None and self.workflow.is_over and not self.workflow.is_stopping:
            yield from self._crashes(self.workflow)

    def _crashes(self, workflow: Workflow) -> Iterator[str]:
        """What crashed, with its last words."""
        if not any(workflow.node(step).phase != "waiting" for step in workflow.steps):
            yield f"Argo did not start the workflow: {workflow.message or 'it gives no reason'}"
        for step in workflow.steps:
            node = workflow.node(step)
            if node.failed and step.component not in BUILT_IN:
                yield f"the extra step {step.id} ended with exit code {node.exit_code}"
            elif node.failed and step.component not in (GATE, CLEANUP):
                yield f"{step.id} crashed: {node.message or 'Argo gives no reason'}{self._last_words(step)}"

    def _look(self) -> None:
        workflow = find(self.cluster, self.run)
        if workflow is None:
            self.is_deleted = True
            return
        self.workflow = workflow
        pods = self._pods()
        for step in workflow.steps:
            self._look_at(step, workflow.node(step), pods.pop(step.id, None))
        for server, pod in pods.items():
            self._read(server, pod, None)
        if not workflow.is_seen and self.clock() - self._begun > UNTAKEN:
            self._say_once(
                "Argo's workflow controller has not taken the workflow up; is it running, and for this "
                "namespace? kubectl get deployments -A | grep workflow-controller"
            )
        if self.interrupts.signal is not None and not workflow.is_stopping and not workflow.is_over:
            self._say("asked the cluster to stop the run; waiting for its cleanup, interrupt again to leave it alone")
            shut_down(self.cluster, self.run)

    def _pods(self) -> dict[str, Mapping[str, Any]]:
        try:
            return pods_of(self.cluster, self.run)
        except Forbidden as error:
            self._say_once(f"no live numbers: {error}")
            return {}

    def _look_at(self, step: Step, node: Node, pod: Mapping[str, Any] | None) -> None:
        """Tell of one step what has changed since the last look."""
        if step.id in self._ended or node.phase in ("waiting", "omitted"):
            return
        # Argo may take ten seconds to see that a pod runs; what it prints by then is not to come before its start.
        has_begun = node.phase in ("running", "ended") or (pod is not None and has_started(pod))
        if has_begun and step.id not in self._started:
            self._started.add(step.id)
            self.listener.started(step)
        elif not has_begun and pod is not None:
            self.hurdles.look(step, pod)
        if pod is not None:
            self._read(step.id, pod, step)
        if node.phase == "ended":
            self._ended.add(step.id)
            if node.failed and node.message and step.component != GATE:
                self.listener.progress(step, {"event": "note", "text": node.message})
            self.listener.ended(step, node.exit_code or 0)

    def _read(self, name: str, pod: Mapping[str, Any], step: Step | None) -> None:
        """Pass on what a pod has printed since the last look."""
        if not has_started(pod):
            return
        log = self._logs.setdefault(pod["metadata"]["name"], PodLog(self.cluster, pod))
        for line in log.lines():
            told = heard(line) if step is not None else None
            if told is not None and step is not None:
                self.listener.progress(step, told)
            else:
                self.log(name if step is None else step_role(name), line)
                self._words.setdefault(name, deque(maxlen=LAST_LINES)).append(one_line(line.strip()))

    def _last_words(self, step: Step) -> str:
        words = self._words.get(step.id)
        return f"; its last lines: {' | '.join(words)}" if words else "; its log is gone"

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def _answered(self) -> None:
        if self._silent_since is not None:
            self._silent_since = None
            self._say("the API server answers again")

    def _unanswered(self, error: ClusterError) -> None:
        if self._silent_since is None:
            self._silent_since = self.clock()
            self._say(f"{error}; the run goes on by itself, trying again for {PATIENCE:.0f} s")
        elif self.clock() - self._silent_since > PATIENCE:
            raise error
