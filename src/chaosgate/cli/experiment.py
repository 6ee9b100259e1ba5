"""A spec as the experiment it is: what is hit for how long, how many requests that makes, and what they can prove."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic.alias_generators import to_camel

from chaosgate.cli.outlook import Outlook, fit_outlook, outlooks
from chaosgate.inject.sweep import TTL
from chaosgate.loadgen.client import CHAT_PATH, FIXED_HEADERS, VARYING_HEADERS, addressed
from chaosgate.model.blocks import BASELINE, baseline_length, make_blocks, planned_length
from chaosgate.model.carrier import Carrier
from chaosgate.model.fault import ClusterFault, ClusterTarget, Fault, Goes, RequestFault, Surface
from chaosgate.model.plan import DEPLOY, Block
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.spec import ChaosSpec, SpecBody
from chaosgate.model.workload import LoadStream
from chaosgate.planner import LOCAL, make_plan
from chaosgate.prompts.sources import prompts_of
from chaosgate.units import Dimension

StretchName = Literal["warm-up", "windows", "controls", "doses", "wash-outs", "recovery"]
_LOOKED_AT = 4096
"""Prompts of a stream that are looked at: a trace may have a prompt for each of its requests."""


@dataclass(frozen=True)
class Stretch:
    """A part of the run under load: seconds, and about how many requests are due in it."""

    what: StretchName
    phase: str
    seconds: float
    requests: float | None


@dataclass(frozen=True)
class DosePlan:
    """One dose of a fault: its windows, their seconds together, the requests in them and how many it may touch.

    `selected` is None of a fault that acts on no requests, and where nobody can tell before the run.
    """

    dose: float
    windows: int
    seconds: float
    requests: float | None
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
    requests: float | None
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
    blocks = make_blocks(spec)
    stretches = tuple(_stretches(spec, blocks))
    plan = make_plan(spec, LOCAL, carrier.steps)
    longest = float(plan.step(DEPLOY).arguments["seconds"])
    return Experiment(
        spec=spec,
        stretches=stretches,
        hits=tuple(_hit(fault, spec, blocks) for fault in spec.spec.faults),
        outlooks=(*outlooks(spec, blocks), *fit_outlook(spec)),
        load=planned_length(spec),
        requests=_sum(stretch.requests for stretch in stretches),
        longest=longest,
        swept=longest + spec.spec.safety.sweep_after,
        fault_lives=TTL,
        extra_steps=tuple(step.component for step in carrier.steps),
    )


def _stretches(spec: ChaosSpec, blocks: tuple[Block, ...]) -> Iterator[Stretch]:
    warmup, length = spec.spec.workload.warmup, baseline_length(spec)
    yield _stretch(spec, "warm-up", BASELINE, warmup, length)
    yield _stretch(spec, "windows", BASELINE, length - warmup, length)
    for block in blocks:
        dose_of = {name: spec.fault(name).dose for name in block.faults}
        controls = sum(dose_of[window.fault].hold for window in block.windows if not window.dose)
        doses = sum(dose_of[window.fault].hold for window in block.windows if window.dose)
        washouts = sum(dose_of[window.fault].washout for window in block.windows)
        lengths: dict[StretchName, float] = {
            "controls": controls,
            "doses": doses,
            "wash-outs": washouts,
            "recovery": block.recovery,
        }
        for what, seconds in lengths.items():
            yield _stretch(spec, what, block.phase, seconds, block.length)


def _stretch(spec: ChaosSpec, what: StretchName, phase: str, seconds: float, length: float) -> Stretch:
    """A part of a phase of `length` seconds; its requests are those at the phase's mean rate."""
    return Stretch(what, phase, seconds, _times(seconds, spec.spec.workload.mean_rate(length)))


def _times(number: float, by: float | None) -> float | None:
    return None if by is None else number * by


def _sum(numbers: Iterable[float | None]) -> float | None:
    listed = list(numbers)
    known = [number for number in listed if number is not None]
    return sum(known) if len(known) == len(listed) else None


def _hit(fault: Fault, spec: ChaosSpec, blocks: Sequence[Block]) -> Hit:
    body = spec.spec
    axis, sweep = fault.axis(), fault.dose
    seconds = sweep.windows * sweep.hold
    length = sum(block.length for block in blocks)
    requests = _times(seconds, body.workload.mean_rate(length))
    select = fault.select if isinstance(fault, RequestFault) else None
    touched = _touched(fault, body, length) if isinstance(fault, RequestFault) else None
    selected = None if touched is None else _times(touched, requests)
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


def _touched(fault: RequestFault, body: SpecBody, seconds: float) -> float | None:
    """The share of the requests of so many `seconds` that `fault` may touch; None where the run alone tells."""
    if any(name.lower() in VARYING_HEADERS for name in fault.select.header):
        return None
    reached = 1.0 if fault.shape is None else fault.shape.reached(fault.dose.hold)
    return _fitting(fault, body, seconds) * fault.select.share * reached


def _fitting(fault: RequestFault, body: SpecBody, seconds: float) -> float:
    """The share of the requests that `fault` selects: of each stream's prompts, weighted by how much it sends."""
    streams = body.workload.streams()
    # The only stream that may have no rate is a closed loop, which is all of its load.
    weights = [stream.arrivals.mean_rate(seconds) or 0.0 for stream in streams] if len(streams) > 1 else [1.0]
    shares = [_share(fault, _sent(fault, body, stream)) for stream in streams]
    total = sum(weights)
    return sum(weight * share for weight, share in zip(weights, shares, strict=True)) / total if total else 0.0


def _share(fault: RequestFault, sent: Sequence[RequestFacts]) -> float:
    return sum(fault.select.matches(facts) and not fault.unasked(facts) for facts in sent) / len(sent)


def _sent(fault: RequestFault, body: SpecBody, stream: LoadStream) -> list[RequestFacts]:
    """What the gateway sees of a stream's requests, one for each prompt."""
    if not fault.reads_body():
        return [RequestFacts(CHAT_PATH, FIXED_HEADERS)]
    prompts, model = prompts_of(stream, body.workload.seed), body.target.model
    asked = (prompts.at(at) for at in range(min(len(prompts), _LOOKED_AT)))
    bodies = (addressed(model, prompt, stream.tenant) for prompt in asked)
    return [RequestFacts(CHAT_PATH, FIXED_HEADERS, {**one, "stream": True}) for one in bodies]


def _pods(target: ClusterTarget) -> str:
    """Whose pods are meant, in words."""
    if not target.labels:
        return "pods of the run's own target"
    place = "" if target.namespace is None else f" of namespace {target.namespace}"
    return f"pods{place} with {', '.join(f'{key}={value}' for key, value in sorted(target.labels.items()))}"
