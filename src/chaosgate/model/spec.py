"""The chaos spec: what a team keeps in git, as frozen models. `chaosgate.model.load` reads one from YAML."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator, model_validator

from chaosgate.model.base import Frozen, Name
from chaosgate.model.breaker import Breaker
from chaosgate.model.cron import Cron
from chaosgate.model.fault import Fault
from chaosgate.model.filter import Filter, passes_unguarded
from chaosgate.model.fit import Fit
from chaosgate.model.gauges import Metrics
from chaosgate.model.history import GateHistory
from chaosgate.model.labels import Labels
from chaosgate.model.observation import MIN_WINDOWS, RequestBound
from chaosgate.model.safety import Safety
from chaosgate.model.steady import SemanticSteadyState
from chaosgate.model.workload import Workload
from chaosgate.units import Bound, Duration, Margin, Share, format_share

URL_PATTERN = r"^https?://[^\s/]+[^\s]*$"
EXPERIMENT_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9 ._/-]*$"

SUBDOMAIN_PATTERN = r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$"
"""A DNS subdomain (RFC 1123), which the names of most Kubernetes objects are: `llama-3.1` is one."""


class Metadata(Frozen):
    """Who the spec is. Nothing here changes what is run, so nothing here enters the digest."""

    name: Name
    """The name of the spec: run ids begin with it."""
    labels: Labels = {}
    """Words by which specs are grouped, such as a suite; on a cluster every pod of a run carries them."""
    annotations: dict[str, str] = {}
    """Notes for people; `proves` says in one sentence what a run of the spec shows."""


class Parameter(Frozen):
    """A value that may be set from outside and is used as `{{ parameters.NAME }}`."""

    type: Literal["rate", "duration", "share", "integer", "string"]
    """What its values are; a value of another type is refused."""
    default: str | int
    """The value where none is set from outside."""
    min: str | int | None = None
    """The smallest value that may be set; not with `type: string`."""
    max: str | int | None = None
    """The largest value that may be set; not with `type: string`."""


class CannedFallback(Frozen):
    """What an open breaker answers: one fixed sentence."""

    canned: str
    """The sentence."""


class UpstreamFallback(Frozen):
    """What an open breaker asks instead: another OpenAI-compatible server."""

    upstream: str
    """The base URL of the other server, without /v1."""


class KubernetesTarget(Frozen):
    """A server that runs on the cluster on which the spec is run: its Service, or its Deployment."""

    service: Name | None = None
    """The Service in front of it."""
    deployment: Annotated[str, Field(pattern=SUBDOMAIN_PATTERN, max_length=253)] | None = None
    """A Deployment in the run's own namespace that has no Service: the run puts one of its own in front."""
    namespace: Name | None = None
    """The Service's namespace; left out, the run's own."""
    port: Annotated[int, Field(ge=1, le=65535)]
    """The port of the Service, or of the Deployment's containers, at which it serves."""

    @model_validator(mode="after")
    def _one_of_two(self) -> KubernetesTarget:
        if (self.service is None) == (self.deployment is None):
            raise ValueError("name one of `service` and `deployment`")
        if self.deployment is not None and self.namespace is not None:
            raise ValueError(
                "`namespace` goes with `service`: a run makes no object in another namespace, and a Deployment has no "
                "address of its own; name the Service in front of it"
            )
        return self


class Target(Frozen):
    """What is served and how it is reached."""

    engine: Literal["embedded", "vllm", "endpoint"]
    """`embedded` is started for the run; `endpoint` is a server that runs already, such as vLLM's."""
    model: str
    """A model name, a path, or models:/name@alias."""
    endpoint: Annotated[str, Field(pattern=URL_PATTERN)] | None = None
    """With engine: endpoint, the base URL of an OpenAI-compatible server, without /v1."""
    kubernetes: KubernetesTarget | None = None
    """With engine: endpoint, a Service or Deployment in place of a URL; its pods are what faults of the cluster hit."""
    replicas: Annotated[int, Field(ge=1, le=64)] = 1
    """How many copies of the model server; on one machine the embedded engine runs as one."""
    fallback: CannedFallback | UpstreamFallback | None = None
    """What an open breaker answers instead of the model."""

    @model_validator(mode="after")
    def _reached_one_way(self) -> Target:
        given = [key for key in ("endpoint", "kubernetes") if getattr(self, key) is not None]
        if self.engine != "endpoint" and given:
            raise ValueError(f"`{given[0]}` goes with `engine: endpoint`, and only with it")
        if self.engine == "endpoint" and len(given) != 1:
            raise ValueError(
                "`engine: endpoint` needs one of `endpoint: URL` and `kubernetes: {service: NAME, port: NUMBER}`"
            )
        return self


class SteadyObjective(Frozen):
    """What must hold before anything is injected."""

    sli: str
    """The SLI, a distribution with its percentile: ttft-p95, error-rate."""
    bound: Bound
    """What it must keep: only an interval wholly outside, or none at all, says that it does not hold."""


class SteadyState(Frozen):
    """The baseline: its windows and what must hold in them."""

    windows: Annotated[int, Field(ge=MIN_WINDOWS, le=64)] = MIN_WINDOWS
    """Windows of the baseline."""
    hold: Annotated[Duration, Field(gt=0)] = 4.0
    """How long each of them is."""
    objectives: Annotated[tuple[SteadyObjective, ...], Field(min_length=1)]
    """What must hold in the baseline, and again once the faults are gone."""
    semantic: SemanticSteadyState | None = None
    """When the answers count as steady, which the baseline waits for; left out, nothing is waited for."""


class DoseRange(Frozen):
    """The doses at which an objective judges: a bound on the dose, or `all`."""

    dose: Literal["all"] | Bound
    """Which doses: a bound such as `<= 180ms`, or all of them."""


class Objective(Frozen):
    """One thing that is judged: an SLI at a place, or the interval of a fit's threshold."""

    name: Name
    """The name by which verdict and report refer to it."""
    severity: Literal["gate", "warn"] = "gate"
    """`gate`: the verdict depends on it; `warn`: it makes the verdict `warn` at most."""
    sli: str | None = None
    """The SLI that is judged, a distribution with its percentile: ttft-p95, error-rate."""
    bound: Bound | None = None
    """What the whole interval of the SLI must keep."""
    change: Margin | None = None
    """In place of `bound`: what the whole interval of the SLI's change from the baseline must keep. Of a share `%` are
    percentage points; of anything else they are relative to the baseline."""
    at: Literal["baseline", "recovery"] | DoseRange | None = None
    """Where an SLI is judged. A dose range pools its doses; controls are left out."""
    fault: Name | None = None
    """Whose doses are meant; needed when the spec has several faults."""
    each: bool = False
    """Judge every dose of the range by itself."""
    within: Annotated[Duration, Field(gt=0)] | None = None
    """With `at: recovery`: how soon after the last fault went off the SLI must be back."""
    fit: Name | None = None
    """The fit whose threshold is judged, instead of an SLI."""
    lower: Bound | None = None
    """The bound for the lower end of the fit's interval."""
    upper: Bound | None = None
    """The bound for the upper end of the fit's interval."""

    @model_validator(mode="after")
    def _one_of_two_forms(self) -> Objective:
        if (self.sli is None) == (self.fit is None):
            raise ValueError(
                "an objective has either `sli`, `bound` or `change`, and `at`, or `fit` with `lower` or `upper`"
            )
        if self.sli is not None:
            self._check_sli_form()
        else:
            self._check_fit_form()
        return self

    def _check_sli_form(self) -> None:
        if (self.bound is None and self.change is None) or self.at is None:
            raise ValueError(
                "an objective on an `sli` needs `bound` or `change`, and `at` (baseline, recovery, or {dose: ...})"
            )
        if self.bound is not None and self.change is not None:
            raise ValueError("`bound` and `change` are two objectives: write each under a name of its own")
        if self.change is not None and self.at == "baseline":
            raise ValueError("`change` is counted from the baseline: write `at: recovery` or `at: {dose: ...}`")
        if self.lower or self.upper:
            raise ValueError("`lower` and `upper` belong to an objective on a `fit`")
        if self.within is not None and self.at != "recovery":
            raise ValueError("`within` goes with `at: recovery`")
        if self.each and not isinstance(self.at, DoseRange):
            raise ValueError("`each` goes with `at: {dose: ...}`")

    def _check_fit_form(self) -> None:
        if (self.lower is None) == (self.upper is None):
            raise ValueError("an objective on a `fit` needs one of `lower` and `upper`")
        if self.limit or self.at or self.within or self.each or self.fault:
            raise ValueError("`bound`, `change`, `at`, `within`, `each` and `fault` belong to an objective on an `sli`")

    @property
    def limit(self) -> Bound | None:
        """What the SLI's interval must keep, or that of its change; None of an objective on a fit."""
        return self.bound if self.change is None else self.change

    @property
    def wanted(self) -> Bound:
        """What is bounded, of an SLI or of a fit: on which side of it numbers become worse."""
        wanted = self.limit or self.lower or self.upper
        assert wanted is not None
        return wanted


class Gate(Frozen):
    """What the gate makes of an interval that straddles its bound."""

    on_uncertain: Literal["inconclusive", "fail", "warn"] = "inconclusive"
    """The verdict of such an objective."""
    history: GateHistory | None = None
    """What `chaosgate gate` compares a run with; left out, the band of the last five accepted runs."""


class Schedule(Frozen):
    """When a cluster runs the spec by itself."""

    cron: Cron
    """When, in UTC, as cron writes it: minute, hour, day, month, weekday."""
    suspend: bool = False
    """Keep the schedule and do not run it for now."""


class Tracking(Frozen):
    """Where the run is recorded."""

    experiment: Annotated[str, Field(pattern=EXPERIMENT_PATTERN)] = "chaosgate/default"
    """The MLflow experiment."""
    uri: str | None = None
    """The MLflow tracking URI; without one MLFLOW_TRACKING_URI, else a SQLite file in the state directory."""


class SpecBody(Frozen):
    """The `spec:` of a chaos spec."""

    parameters: dict[Name, Parameter] = {}
    """Values that may be set from outside, by name."""
    target: Target
    """What is served and how it is reached."""
    workload: Workload
    """The load that runs all the time."""
    steady_state: SteadyState
    """What must hold before anything is injected."""
    faults: Annotated[tuple[SerializeAsAny[Fault], ...], Field(min_length=1, max_length=64)]
    """What is injected: each fault is swept over its doses."""
    filters: Annotated[tuple[SerializeAsAny[Filter], ...], Field(max_length=16)] = ()
    """Guards that the gateway puts in front of the model, behind the faults, in this order: the cures of a drill."""
    unguarded: Annotated[Share, Field(lt=1)] = 0.0
    """The share of requests that pass no filter: they alone show that a fault bites, all others what the cure is worth.
    At 0 every request is guarded, and a cure that works keeps its fault's effect out of sight."""
    slo: Annotated[tuple[RequestBound, ...], Field(max_length=16)] = ()
    """What one request must keep to count as good: the bounds of the SLI `goodput`."""
    fits: tuple[SerializeAsAny[Fit], ...] = ()
    """Thresholds that are looked for in the sweeps."""
    composition: Literal["serial", "parallel"] = "serial"
    """`serial`: one fault after the other under unbroken load; `parallel`: at the same time."""
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1)]
    """What is judged; the verdict is the worst of them."""
    breakers: tuple[SerializeAsAny[Breaker], ...] = ()
    """Circuit breakers that are armed with a threshold and proved."""
    gate: Gate = Gate()
    """How the gate decides where the data leaves room."""
    safety: Safety = Safety()
    """What ends a run early, what its faults must leave alone, and when it is reverted if nobody else does."""
    metrics: Metrics = Metrics()
    """Where gauges are read from, besides the target's own metrics page, its machine and its cluster."""
    schedule: Schedule | None = None
    """When a cluster runs it by itself; without one it is run by hand or by a pipeline."""
    tracking: Tracking = Tracking()
    """Where its runs are recorded."""

    @field_validator("unguarded")
    @classmethod
    def _beside_filters(cls, share: float, info: ValidationInfo) -> float:
        if share > 0 and info.data.get("filters") == ():
            raise ValueError(
                f"read {format_share(share)} without `filters`, and then no request is guarded; add `filters`, or "
                "leave `unguarded` out"
            )
        return share


class ChaosSpec(Frozen):
    """A whole spec, resolved: parameters filled in, every default written out."""

    api_version: Literal["chaosgate/v1"]
    """The version of this format."""
    kind: Literal["ChaosSpec"]
    """What the document is."""
    metadata: Metadata
    """What the spec is called."""
    spec: SpecBody
    """What is run and how it is judged."""

    def fault(self, name: str) -> Fault:
        """The fault called `name`."""
        return next(fault for fault in self.spec.faults if fault.name == name)

    def unguards(self, request: str) -> bool:
        """Whether the request of this name passes no filter."""
        return passes_unguarded(self.spec.unguarded, self.spec.workload.seed, request)

    def digest(self) -> str:
        """`sha256:<hex>` of what is run, not of who runs it where."""
        return "sha256:" + hashlib.sha256(canonical_json(self.digested()).encode()).hexdigest()

    def digested(self) -> dict[str, Any]:
        """What the digest is of.

        Left out: metadata, the target's engine, model, endpoint and kubernetes, safety, metrics, tracking, schedule,
        the gate's history and the parameters' declarations (their values stand in the resolved spec).
        """
        body: dict[str, Any] = self.to_json()["spec"]
        for key in ("safety", "metrics", "tracking", "schedule", "parameters"):
            body.pop(key)
        for key in ("engine", "model", "endpoint", "kubernetes"):
            body["target"].pop(key)
        # A spec that makes no use of these has the digest that it had before they were there.
        for key in ("filters", "unguarded", "slo"):
            if not getattr(self.spec, key):
                body.pop(key)
        # How many processes the client needs depends on the machine, and what is sent does not depend on it.
        body["workload"].pop("workers", None)
        if self.spec.steady_state.semantic is None:
            body["steadyState"].pop("semantic")
        for objective in body["objectives"]:
            if objective["change"] is None:
                objective.pop("change")
        # What a run is compared with afterwards changes nothing of it, and must not cut it off from its history.
        body["gate"].pop("history")
        return body


def canonical_json(data: Any) -> str:
    """One text for one value: sorted keys, no spaces, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
