"""The chaos spec: what a team keeps in git, as frozen models. `chaosgate.model.load` reads one from YAML."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, model_validator

from chaosgate.model.base import Frozen, Name
from chaosgate.model.breaker import Breaker
from chaosgate.model.fault import Fault
from chaosgate.model.fit import Fit
from chaosgate.model.observation import MIN_WINDOWS
from chaosgate.units import Bound, Duration, Rate

URL_PATTERN = r"^https?://[^\s/]+[^\s]*$"
EXPERIMENT_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9 ._/-]*$"

ArrivalProcess = Literal["poisson", "constant"]


class Metadata(Frozen):
    """Who the spec is. Nothing here changes what is run, so nothing here enters the digest."""

    name: Name
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class Parameter(Frozen):
    """A value that may be set from outside and is used as `{{ parameters.NAME }}`."""

    type: Literal["rate", "duration", "share", "integer", "string"]
    default: str | int
    min: str | int | None = None
    max: str | int | None = None


class CannedFallback(Frozen):
    """What an open breaker answers: one fixed sentence."""

    canned: str


class UpstreamFallback(Frozen):
    """What an open breaker asks instead: another OpenAI-compatible server."""

    upstream: str


class Target(Frozen):
    """What is served and how it is reached."""

    engine: Literal["embedded", "vllm", "endpoint"]
    """`embedded` is started for the run; `endpoint` is a server that runs already, such as vLLM's."""
    model: str
    """A model name, a path, or models:/name@alias."""
    endpoint: Annotated[str, Field(pattern=URL_PATTERN)] | None = None
    """Base URL of an OpenAI-compatible server, without /v1; needed with engine: endpoint."""
    replicas: Annotated[int, Field(ge=1, le=64)] = 1
    fallback: CannedFallback | UpstreamFallback | None = None

    @model_validator(mode="after")
    def _endpoint_given(self) -> Target:
        if (self.engine == "endpoint") != (self.endpoint is not None):
            raise ValueError("`endpoint: URL` goes with `engine: endpoint`, and only with it")
        return self


class Arrivals(Frozen):
    """When requests are sent: an open loop that never waits for an answer."""

    process: ArrivalProcess
    rate: Annotated[Rate, Field(gt=0, le=10_000)]


class Prompts(Frozen):
    """The prompts, cycled in order."""

    set: str


class Workload(Frozen):
    """The load of every phase."""

    arrivals: Arrivals
    prompts: Prompts
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 64
    warmup: Duration = 5.0
    """Load before the baseline whose requests are never judged."""
    timeout: Annotated[Duration, Field(gt=0)] = 30.0
    """When the client gives a request up."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    """The seed of every draw of the run, not negative: it is part of every request's name and seeds numpy."""


class SteadyObjective(Frozen):
    """What must hold before anything is injected."""

    sli: str
    bound: Bound


class SteadyState(Frozen):
    """The baseline: its windows and what must hold in them."""

    windows: Annotated[int, Field(ge=MIN_WINDOWS, le=64)] = MIN_WINDOWS
    hold: Annotated[Duration, Field(gt=0)] = 4.0
    objectives: Annotated[tuple[SteadyObjective, ...], Field(min_length=1)]


class DoseRange(Frozen):
    """The doses at which an objective judges: a bound on the dose, or `all`."""

    dose: Literal["all"] | Bound


class Objective(Frozen):
    """One thing that is judged: an SLI at a place, or the interval of a fit's threshold."""

    name: Name
    severity: Literal["gate", "warn"] = "gate"
    sli: str | None = None
    bound: Bound | None = None
    at: Literal["baseline", "recovery"] | DoseRange | None = None
    """Where an SLI is judged. A dose range pools its doses; controls are left out."""
    fault: Name | None = None
    """Whose doses are meant; needed when the spec has several faults."""
    each: bool = False
    """Judge every dose of the range by itself."""
    within: Annotated[Duration, Field(gt=0)] | None = None
    """With `at: recovery`: how soon after the last fault went off the SLI must be back."""
    fit: Name | None = None
    lower: Bound | None = None
    """The bound for the lower end of the fit's interval."""
    upper: Bound | None = None
    """The bound for the upper end of the fit's interval."""

    @model_validator(mode="after")
    def _one_of_two_forms(self) -> Objective:
        if (self.sli is None) == (self.fit is None):
            raise ValueError("an objective has either `sli`, `bound` and `at`, or `fit` with `lower` or `upper`")
        if self.sli is not None:
            self._check_sli_form()
        else:
            self._check_fit_form()
        return self

    def _check_sli_form(self) -> None:
        if self.bound is None or self.at is None:
            raise ValueError("an objective on an `sli` needs `bound` and `at` (baseline, recovery, or {dose: ...})")
        if self.lower or self.upper:
            raise ValueError("`lower` and `upper` belong to an objective on a `fit`")
        if self.within is not None and self.at != "recovery":
            raise ValueError("`within` goes with `at: recovery`")
        if self.each and not isinstance(self.at, DoseRange):
            raise ValueError("`each` goes with `at: {dose: ...}`")

    def _check_fit_form(self) -> None:
        if (self.lower is None) == (self.upper is None):
            raise ValueError("an objective on a `fit` needs one of `lower` and `upper`")
        if self.bound or self.at or self.within or self.each or self.fault:
            raise ValueError("`bound`, `at`, `within`, `each` and `fault` belong to an objective on an `sli`")


class Gate(Frozen):
    """What the gate makes of an interval that straddles its bound."""

    on_uncertain: Literal["inconclusive", "fail", "warn"] = "inconclusive"


class StopCondition(Frozen):
    """Halt the run when an SLI of one-second samples is like this so many times in a row."""

    sli: str
    bound: Bound
    consecutive: Annotated[int, Field(ge=1, le=1000)] = 3


class Safety(Frozen):
    """What keeps a run from doing lasting harm."""

    sweep_after: Duration = 120.0
    """How long after a run should have ended the sweeper waits before it reverts what is left."""
    stop_when: tuple[StopCondition, ...] = ()


class Schedule(Frozen):
    """When a cluster runs the spec by itself."""

    cron: str
    suspend: bool = False


class Tracking(Frozen):
    """Where the run is recorded."""

    experiment: Annotated[str, Field(pattern=EXPERIMENT_PATTERN)] = "chaosgate/default"
    uri: str | None = None
    """The MLflow tracking URI; without one MLFLOW_TRACKING_URI, else a SQLite file in the state directory."""


class SpecBody(Frozen):
    """The `spec:` of a chaos spec."""

    parameters: dict[Name, Parameter] = {}
    target: Target
    workload: Workload
    steady_state: SteadyState
    faults: Annotated[tuple[SerializeAsAny[Fault], ...], Field(min_length=1, max_length=64)]
    fits: tuple[SerializeAsAny[Fit], ...] = ()
    composition: Literal["serial", "parallel"] = "serial"
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1)]
    breakers: tuple[SerializeAsAny[Breaker], ...] = ()
    gate: Gate = Gate()
    safety: Safety = Safety()
    schedule: Schedule | None = None
    tracking: Tracking = Tracking()


class ChaosSpec(Frozen):
    """A whole spec, resolved: parameters filled in, every default written out."""

    api_version: Literal["chaosgate/v1"]
    kind: Literal["ChaosSpec"]
    metadata: Metadata
    spec: SpecBody

    def fault(self, name: str) -> Fault:
        """The fault called `name`."""
        return next(fault for fault in self.spec.faults if fault.name == name)

    def digest(self) -> str:
        """`sha256:<hex>` of what is run, not of who runs it where.

        Left out: metadata, the target's engine, model and endpoint, safety, tracking, schedule and the parameters'
        declarations (their values stand in the resolved spec).
        """
        body: dict[str, Any] = self.to_json()["spec"]
        for key in ("safety", "tracking", "schedule", "parameters"):
            body.pop(key)
        for key in ("engine", "model", "endpoint"):
            body["target"].pop(key)
        return "sha256:" + hashlib.sha256(canonical_json(body).encode()).hexdigest()


def canonical_json(data: Any) -> str:
    """One text for one value: sorted keys, no spaces, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
