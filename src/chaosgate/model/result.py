"""What a run ends in: injection, estimates, thresholds, verdict, record and seal, as frozen models.

None stands for "there is no number"; NaN and infinity never reach a file. An open end of an interval is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

from chaosgate.model.base import Frozen, Line
from chaosgate.model.change_points import SliChanges
from chaosgate.model.comparison import Comparisons, OutcomeRow, Times
from chaosgate.model.fault import ClusterTarget
from chaosgate.model.fit import Threshold
from chaosgate.model.observation import Place
from chaosgate.model.safety import Override
from chaosgate.model.scorer import ScorerCard
from chaosgate.units import Dimension

VerdictName = Literal["pass", "warn", "fail", "inconclusive", "error"]
StatusName = Literal["ok", "declined", "failed"]

EXIT_CODES: dict[VerdictName, int] = {"pass": 0, "warn": 0, "fail": 1, "inconclusive": 3, "error": 3}
EXIT_UNCLEAN = 4

RANK: tuple[VerdictName, ...] = ("pass", "warn", "inconclusive", "fail", "error")
"""The better first: the verdict is the worst of its reasons."""


def finite(number: float | None) -> float | None:
    """`number`, or None where it is no number that a file may hold."""
    return number if number is not None and math.isfinite(number) else None


class Status(Frozen):
    """How a step ended, as data: what follows reads it."""

    status: StatusName
    reason: Line | None = None


class StepStatus(Status):
    """The status of a step as its file holds it."""

    step: str
    """The step's id in the plan."""


class Subject(Frozen):
    """What a verdict is about, read back from the running target."""

    model: Line
    engine: Line
    engine_version: Line | None = None
    weights_digest: Line | None = None
    image_digest: Line | None = None
    arguments: dict[str, Any] = {}


class SecretRef(Frozen):
    """Where a secret is found; never the secret itself."""

    file: str | None = None
    env: str | None = None
    run: str | None = None
    """With a run, what is found is a key, and the secret is the token of that run under it."""


class ProcessPlace(Frozen):
    """Where a process id means something: a machine, since it was started last, and there a PID namespace."""

    host: str
    """The name of the machine, for people; where nothing else is known it tells machines apart."""
    boot: str | None
    """The id Linux gives each start of a machine, None elsewhere."""
    namespace: str | None
    """The PID namespace as Linux names it, such as `pid:[4026531836]`, None elsewhere."""


class Process(Frozen):
    """A local process a run started: its id, and what tells it from every other process with the same id."""

    role: str
    pid: int
    created: float
    """When it started: clock ticks since its machine did, or seconds since the epoch where that cannot be read. The
    former do not move when somebody sets the clock."""
    place: ProcessPlace


class Endpoint(Frozen):
    """Where the target of a run is reached."""

    url: str
    """The gateway's data address: every request of the run goes there."""
    admin: str
    """The gateway's admin address."""
    token: SecretRef
    upstream: str
    """The server behind the gateway, for its metrics only."""
    subject: Subject
    processes: tuple[Process, ...] = ()
    namespace: str | None = None
    """Where the run's objects are on a cluster, None for a run of local processes."""
    target: ClusterTarget | None = None
    """The pods that serve the target on a cluster: namespace and labels; None where they are not known."""


class InjectedWindow(Frozen):
    """One window as it was injected, in gateway time; `applied` counts the requests touched."""

    fault: str
    window: int
    dose: float
    on: float
    off: float
    applied: int


class Injection(Frozen):
    """What inject did in a block."""

    phase: str
    status: Status
    windows: tuple[InjectedWindow, ...] = ()
    halted: Line | None = None
    """Why the gateway halted the run, if it did."""


class Estimate(Frozen):
    """An SLI over a set of windows with its 95 % interval, in base units; `reason` says why a number is missing."""

    sli: str
    at: str
    """A label for people: `baseline`, `dose 180ms`, `dose <= 180ms`, `recovery`."""
    place: Place
    dimension: Dimension
    fault: str | None = None
    dose: float | None = None
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    n: int = 0
    windows: int = 0
    reason: str | None = None
    unbounded: bool = False
    """Even the lower end is infinite: so many requests failed that no bound from above is kept."""
    change: Literal["absolute", "relative"] | None = None
    """Of a change from the baseline: in the SLI's unit, or as a share of the baseline; None of the SLI itself."""
    paired: bool = False
    """Whether a change was taken prompt by prompt."""
    freedom: int | None = None
    """Degrees of freedom behind the interval; 0 where it is that of independent requests, None where not known."""


class WitnessReading(Frozen):
    """What client or API server saw of a fault before, at its largest dose, and after it; never the injector's word."""

    fault: str
    what: str
    dimension: Dimension
    dose: float | None
    applied: int
    """At doses above 0: requests touched, from the ledger; objects changed, by a fault of the cluster. Where the spec
    leaves requests unguarded, only these count."""
    before: float | None
    during: float | None
    after: float | None
    bitten: bool
    gone: bool
    reason: str | None = None
    whole_after: float | None = None
    """Of a fault of the cluster: seconds, the most over the windows of its largest dose, until as many pods were ready
    as before it; from when it struck where it heals, from when it was undone where it does not. None where they never
    were fewer, or did not become as many again."""
    cut: int | None = None
    """Of a fault of the cluster: answers that began and broke off in its windows at doses above 0."""
    rms_dose: float | None = None
    """Of a fault inside the engine: root mean square of what each request that was touched at `dose` got of it."""


class Health(Frozen):
    """Whether the measurement itself can be trusted."""

    schedule_delay_p99: float | None
    """Seconds the client lagged behind its schedule; judge says how much makes the load invalid."""
    requests: int
    straddlers: int
    """Requests left out because they lay in no window."""
    unguarded: int = 0
    """Of `requests` those that passed no filter, because the spec wants that: only witnesses read them."""
    drift: tuple[str, ...] = ()
    """What the controls show to have drifted, one sentence each."""
    subject_changed: str | None = None
    gaps: tuple[str, ...] = ()
    """What was planned and is not in the data, one sentence each: the run is inconclusive."""
    problems: tuple[str, ...] = ()
    """Whatever else makes the run's data unusable, one sentence each."""
    gauges_missing: tuple[str, ...] = ()
    """Gauges that could not be read, one sentence each: a run is judged without them."""


class SeriesPoint(Frozen):
    """One second of a run for the timeline plot, `at` in gateway time, of the requests that are judged."""

    at: float
    requests: int
    errors: int
    ttft_p50: float | None
    ttft_p99: float | None


class GaugeSeries(Frozen):
    """The readings of one gauge over a run, in the order of time, for the report."""

    name: str
    at: tuple[float, ...]
    """Gateway time of each reading."""
    values: tuple[float, ...]


class SemanticState(Frozen):
    """Whether the answers became steady before the baseline's windows, as the spec asks."""

    scorer: str
    """Who scored the answers."""
    scores: tuple[float | None, ...]
    """The mean score of each sample, in order; None where no request of it counts."""
    steady: float | None = None
    """Seconds after the warm-up at which the last of the windows that were needed in a row ended."""
    best: float | None = None
    """The best mean of a window; None where every window has a sample without a score."""
    reason: str | None = None
    """Why there is no score at all."""


class ObjectiveEstimate(Frozen):
    """The estimates one objective rests on, in the order they are judged, with baseline and recovery to compare."""

    objective: str
    estimates: tuple[Estimate, ...]
    baseline: Estimate | None = None
    recovery: Estimate | None = None
    after: float | None = None
    """With `at: recovery`: seconds after the last `off` from which on the estimate was taken."""


class Estimates(Frozen):
    """Everything estimated of a run, before anything is judged."""

    steady_state: tuple[Estimate, ...]
    """The objectives of the steady state over the baseline."""
    recovered: tuple[Estimate, ...] = ()
    """The same over the recovery, once every `within` has passed."""
    objectives: tuple[ObjectiveEstimate, ...]
    doses: tuple[Estimate, ...]
    """Every SLI the spec names, at every dose, for the report."""
    witnesses: tuple[WitnessReading, ...]
    health: Health
    series: tuple[SeriesPoint, ...] = ()
    semantic: SemanticState | None = None
    """Whether the answers became steady; None where the spec does not ask."""
    gauges: tuple[GaugeSeries, ...] = ()
    """What a person looks for beside the requests: queue, cache, free memory, and what the spec names."""
    scorers: tuple[ScorerCard, ...] = ()
    """What judged the texts of the run, for the SLIs that need a scorer."""
    comparisons: Comparisons | None = None
    """Every SLI the spec names against the baseline, with tests and effect sizes."""
    outcomes: tuple[OutcomeRow, ...] = ()
    """What became of the requests that were touched, by dose."""
    times: Times | None = None
    """How soon each fault was seen by the SLIs, and was over."""
    change_points: tuple[SliChanges, ...] = ()
    """When the SLIs that are judged changed their level."""


class FitResult(Frozen):
    """The threshold of one fit of the spec."""

    name: str
    kind: str
    fault: str
    dimension: Dimension
    threshold: Threshold


class Fits(Frozen):
    """The thresholds of a run."""

    fits: tuple[FitResult, ...]


class Reason(Frozen):
    """One line of a verdict: what was judged, where, what was found and what was allowed."""

    verdict: VerdictName
    text: Line
    objective: str | None = None
    severity: Literal["gate", "warn"] | None = None
    at: str | None = None
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    n: int | None = None
    bound: str | None = None
    dimension: Dimension | None = None


def worst(reasons: Iterable[Reason]) -> VerdictName:
    """The verdict that `reasons` add up to; without any reason nothing was judged, which is an error."""
    return max((reason.verdict for reason in reasons), key=RANK.index, default="error")


class Verdict(Frozen):
    """The answer of a run and why. The exit code follows from `verdict`."""

    verdict: VerdictName
    reasons: tuple[Reason, ...]
    subject: Subject | None = None

    @property
    def exit_code(self) -> int:
        """0 pass or warn, 1 fail, 3 inconclusive or error."""
        return EXIT_CODES[self.verdict]


class Record(Frozen):
    """What is kept of a run. deploy opens it as `error: not finished`; conclude replaces it."""

    name: str
    verdict: VerdictName
    reasons: tuple[Reason, ...]
    subject: Subject | None
    started: str
    """ISO 8601, UTC."""
    finished: str | None
    environment: dict[str, str]
    """Versions, platform, git commit of the spec."""
    recorded: Line
    """Where it is to be recorded; whether that has been done stands in the recording."""
    overrides: tuple[Override, ...] = ()
    """Rules of safety that did not hold for this run, each with its reason."""


class Recording(Frozen):
    """Whether a run stands in MLflow. Kept apart from the record, which is sealed and does not change any more."""

    mlflow_run: str | None
    """The id of its MLflow run, None while it is unrecorded."""
    reason: Line | None = None
    """Why it is unrecorded, and what to do."""


class Cleanup(Frozen):
    """The seal of a run: what was reverted and stopped, and whether all of that is proved."""

    clean: bool
    actions: tuple[str, ...]
    left: tuple[str, ...] = ()
    """What is left behind or unproved; empty when clean."""
    record_digest: str | None = None
    """The digest of the record that is sealed; the seal no longer holds once the record is another."""

    @property
    def exit_code(self) -> int:
        """0 when clean, EXIT_UNCLEAN otherwise."""
        return 0 if self.clean else EXIT_UNCLEAN
