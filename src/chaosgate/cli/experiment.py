"""A spec as the experiment it is: what is hit for how long, how many requests that makes, and what they can prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic.alias_generators import to_camel

from chaosgate.cli.outlook import Outlook, fit_outlook, outlooks
from chaosgate.inject.sweep import TTL
from chaosgate.loadgen.client import CHAT_PATH, FIXED_HEADERS, VARYING_HEADERS, addressed
from chaosgate.model.blocks import BASELINE, baseline_length, baseline_warmup, make_blocks, planned_length
from chaosgate.model.carrier import Carrier
from chaosgate.model.fault import ClusterFault, ClusterTarget, Fault, Goes, RequestFault, Surface
from chaosgate.model.plan import DEPLOY, Block
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.spec import ChaosSpec, SpecBody
from chaosgate.planner import LOCAL, make_plan
from chaosgate.prompts.sets import prompt_set
from chaosgate.units import Dimension


@dataclass(frozen=True)
class Stretch:
    """A part of the run under load: seconds, and about how many requests are due in it."""

    what: Literal["warm-up", "settling", "windows", "controls", "doses", "wash-outs", "recovery"]
    phase: str
    seconds: float
    requests: float


@dataclass(frozen=True)
class DosePlan:
    """One dose of a fault: its windows, their seconds together, the requests in them and how many it may touch.

    `selected` is None of a fault that acts on no requests, and where nobody can tell before the run.
    """

    dose: float
    windows: int
    seconds: float
    requests: float
    selected: float | None


@dataclass(frozen=True)
class Hit:
    """A fault and its blast radius."""

    fault: str
    kind: str
    what: str
    surface: Surface
    goes: Goes
    share: float | None
    """Of the requests; None of a fault that acts on none."""
    path: str | None
    whom: str
    """What is asked of a request besides the share, in words that follow `requests`; empty where nothing is."""
    pods: str | None
    """Whose pods a fault of the cluster may hit."""
    parameter: str
    dimension: Dimension
    doses: tuple[DosePlan, ...]


@dataclass(frozen=True)
class Experiment:
    """What a spec does. Times are seconds, rates per second; requests are what is due on average."""

    spec: ChaosSpec
    stretches: tuple[Stretch, ...]
    hits: tuple[Hit, ...]
    outlooks: tuple[Outlook, ...]
    load: float
    """Seconds of load, all phases together."""
    requests: float
    longest: float
    """Seconds after which a run has used every deadline of its steps."""
    swept: float
    """Seconds after the start at which the sweeper reverts what is left, at the latest."""
    fault_lives: float
    """Seconds a fault of the wire lives at the gateway when its injector is gone."""
    extra_steps: tuple[str, ...]
    """Components of plug-ins that look at the result."""

    def to_json(self) -> dict[str, Any]:
        """The same for machines; the spec with every default written out."""
        plain = {key: value for key, value in vars(self).items() if key != "spec"}
        listed = {
            key: [asdict(item) for item in value] if key in ("stretches", "hits") else value
            for key, value in plain.items()
        }
        looks = [outlook.to_json() for outlook in self.outlooks]
        told = {to_camel(key): value for key, value in listed.items()}
        return {**told, "outlooks": looks, "specDigest": self.spec.digest(), "spec": self.spec.to_json()}


def experiment_of(spec: ChaosSpec, carrier: Carrier) -> Experiment:
    """The experiment that `spec` describes, as the local carrier runs it."""
    rate, blocks = spec.spec.workload.arrivals.rate, make_blocks(spec)
    plan = make_plan(spec, LOCAL, carrier.steps)
    longest = float(plan.step(DEPLOY).arguments["seconds"])
    return Experiment(
        spec=spec,
        stretches=tuple(_stretches(spec, blocks)),
        hits=tuple(_hit(fault, spec.spec) for fault in spec.spec.faults),
        outlooks=(*outlooks(spec, blocks), *fit_outlook(spec)),
        load=planned_length(spec),
        requests=planned_length(spec) * rate,
        longest=longest,
        swept=longest + spec.spec.safety.sweep_after,
        fault_lives=TTL,
        extra_steps=tuple(step.component for step in carrier.steps),
    )


def _stretches(spec: ChaosSpec, blocks: tuple[Block, ...]) -> Iterator[Stretch]:
    rate, warmup = spec.spec.workload.arrivals.rate, spec.spec.workload.warmup
    settling = baseline_warmup(spec) - warmup
    measured = baseline_length(spec) - warmup - settling
    yield Stretch("warm-up", BASELINE, warmup, warmup * rate)
    if settling:
        yield Stretch("settling", BASELINE, settling, settling * rate)
    yield Stretch("windows", BASELINE, measured, measured * rate)
    for block in blocks:
        dose_of = {name: spec.fault(name).dose for name in block.faults}
        controls = sum(dose_of[window.fault].hold for window in block.windows if not window.dose)
        doses = sum(dose_of[window.fault].hold for window in block.windows if window.dose)
        washouts = sum(dose_of[window.fault].washout for window in block.windows)
        yield Stretch("controls", block.phase, controls, controls * rate)
        yield Stretch("doses", block.phase, doses, doses * rate)
        yield Stretch("wash-outs", block.phase, washouts, washouts * rate)
        yield Stretch("recovery", block.phase, block.recovery, block.recovery * rate)


def _hit(fault: Fault, body: SpecBody) -> Hit:
    axis, sweep = fault.axis(), fault.dose
    seconds = sweep.windows * sweep.hold
    requests = seconds * body.workload.arrivals.rate
    select = fault.select if isinstance(fault, RequestFault) else None
    touched = _touched(fault, body) if isinstance(fault, RequestFault) else None
    selected = None if touched is None else requests * touched
    doses = (DosePlan(float(dose), sweep.windows, seconds, requests, selected) for dose in sweep.values)
    return Hit(
        fault=fault.name,
        kind=fault.kind,
        what=" ".join((type(fault).__doc__ or fault.kind).split("\n\n")[0].split()),
        surface=fault.surface,
        goes=fault.goes,
        share=None if select is None else select.share,
        path=None if select is None else select.path,
        whom="" if select is None else select.describe(),
        pods=_pods(fault.target) if isinstance(fault, ClusterFault) else None,
        parameter=axis.parameter,
        dimension=axis.dimension,
        doses=tuple(doses),
    )


def _touched(fault: RequestFault, body: SpecBody) -> float | None:
    """The share of the workload's requests that `fault` may touch; None where that shows in the run alone."""
    if any(name.lower() in VARYING_HEADERS for name in fault.select.header):
        return None
    sent = _sent(body) if fault.reads_body() else [RequestFacts(CHAT_PATH, FIXED_HEADERS)]
    fitting = sum(fault.select.matches(facts) and not fault.unasked(facts) for facts in sent) / len(sent)
    reached = 1.0 if fault.shape is None else fault.shape.reached(fault.dose.hold)
    return fitting * fault.select.share * reached


def _sent(body: SpecBody) -> list[RequestFacts]:
    """What the gateway sees of the workload's requests, one for each prompt."""
    prompts, model = prompt_set(body.workload.prompts.set).prompts, body.target.model
    return [RequestFacts(CHAT_PATH, FIXED_HEADERS, {**addressed(model, prompt), "stream": True}) for prompt in prompts]


def _pods(target: ClusterTarget) -> str:
    """Whose pods are meant, in words."""
    if not target.labels:
        return "pods of the run's own target"
    place = "" if target.namespace is None else f" of namespace {target.namespace}"
    return f"pods{place} with {', '.join(f'{key}={value}' for key, value in sorted(target.labels.items()))}"
