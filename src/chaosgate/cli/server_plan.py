"""`plan --dry-run=server`: a spec against a real cluster, read and not changed."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click

from chaosgate.cli.compile import with_options
from chaosgate.cli.loading import load
from chaosgate.cli.options import SpecOptions
from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.compile.common import requests_of
from chaosgate.components.definition import find_component
from chaosgate.deploy.cluster.aim import DoseAim, FaultAim, Look
from chaosgate.deploy.cluster.bring_up import unsupported
from chaosgate.deploy.cluster.dry_run import PLANNED_RUN, DryRun, dry_run
from chaosgate.deploy.cluster.manifests import ENGINE_REQUESTS, GATEWAY_REQUESTS, SWEEPER_REQUESTS
from chaosgate.deploy.cluster.room import PodNeed, peak
from chaosgate.deploy.cluster.safety import Objection
from chaosgate.deploy.cluster.subject import selector_of
from chaosgate.errors import ClusterError, one_line
from chaosgate.inject.cluster.objections import objections
from chaosgate.inject.cluster.scene import Scene
from chaosgate.model.carrier import Carrier
from chaosgate.model.change import Change, TargetPod
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import format_value

STAGES = (("deploy",), ("measure", "inject"), ("conclude",), ("cleanup",))
"""Components that run at the same time."""
WIDTH = 118
MARKS = {"ok": "ok", "missing": "MISSING", "note": "note"}


def plan_on_server(path: Path, options: SpecOptions, given: dict[str, str], output: str) -> NoReturn:
    """Print what a run would meet; exit code 0 only when all it needs is there and every fault would be let through."""
    found = load(path, options, unsupported)
    carrier = with_options(found.carrier, given)
    cluster = open_cluster(carrier.namespace)
    seen = dry_run(cluster, found.spec, carrier, pods_at_peak(found.spec, carrier), looker(cluster))
    click.echo(json.dumps(seen.to_json(), indent=2) if output == "json" else dry_run_text(seen))
    raise click.exceptions.Exit(0 if seen.ready else ClusterError.exit_code)


def pods_at_peak(spec: ChaosSpec, carrier: Carrier) -> list[PodNeed]:
    """The pods that a run has when it has the most."""
    servers = [PodNeed("gateway", GATEWAY_REQUESTS), PodNeed("sweeper", SWEEPER_REQUESTS)]
    if spec.spec.target.engine == "embedded":
        servers.insert(0, PodNeed("engine", ENGINE_REQUESTS, spec.spec.target.replicas))
    return peak(servers, [[_step(name, carrier) for name in stage] for stage in STAGES])


def _step(component: str, carrier: Carrier) -> PodNeed:
    asked = requests_of(find_component(component), carrier)
    return PodNeed(component, {"cpu": asked.cpu, "memory": asked.memory})


def looker(cluster: Cluster) -> Look:
    """What inject would object to besides the rules of safety."""

    def look(fault: ClusterFault, place: str, changes: Sequence[Change], pods: Sequence[TargetPod]) -> list[str]:
        return list(objections(Scene(cluster, PLANNED_RUN, fault.name, place), changes, pods))

    return look


def dry_run_text(seen: DryRun) -> str:
    """The same for people."""
    lines = [
        f"{seen.spec}  {seen.digest[:19]}  on {seen.server}, Kubernetes {seen.version}, namespace {seen.namespace}",
        "",
        "what a run needs",
    ]
    for one in seen.findings:
        lines += _hanging(f"  {MARKS[one.level]:<9}{one.about:<11}", one.text)
    lines += ["", "what would be hit", *_hit(seen)]
    if seen.overrides:
        lines += ["", "rules of safety that the spec overrides"]
        lines += [line for one in seen.overrides for line in _hanging(f"  {one.rule:<20}", one.reason)]
    verdict = "a run may be started" if seen.ready else "a run would not get through: see MISSING and refused above"
    return "\n".join([*lines, "", verdict])


def _hit(seen: DryRun) -> Iterator[str]:
    if not seen.faults:
        yield "  no object of the cluster: the faults act on the run's own requests"
    for fault in seen.faults:
        yield from _fault(fault)


def _fault(fault: FaultAim) -> Iterator[str]:
    target = ClusterTarget(namespace=fault.namespace, labels=dict(fault.labels))
    made = "pods that deploy will make" if fault.planned else f"pods with {selector_of(target)}"
    yield f"  {fault.fault} ({fault.kind}): {made} in namespace {fault.namespace}"
    for pod in fault.candidates:
        state = "to come" if fault.planned else "ready" if pod.ready else "NOT READY"
        yield f"    {pod.name:<48} {pod.node or '-':<24} {state}"
    if not fault.candidates:
        yield "    none runs"
    if not fault.doses:
        yield "    on which nodes they run, and so which are closed, is known once they are there"
    everywhere = _shared(fault)
    yield from _objections(everywhere, "    ")
    for dose in fault.doses:
        yield from _dose(dose, fault)
        yield from _objections([one for one in dose.objections if one not in everywhere], "      ")


def _shared(fault: FaultAim) -> list[Objection]:
    """What speaks against every dose alike."""
    first, *others = (dose.objections for dose in fault.doses) if fault.doses else ((),)
    return [one for one in first if all(one in found for found in others)]


def _dose(dose: DoseAim, fault: FaultAim) -> Iterator[str]:
    whom = f"{dose.at_once} of {len(fault.candidates)} pods at once: {', '.join(dose.pods)}" if dose.pods else "no pod"
    closed = f"; closes {', '.join(dose.nodes)}" if dose.nodes else ""
    verdict = "" if dose.allowed else ": REFUSED"
    yield from _hanging(f"    dose {format_value(dose.dose, fault.dimension)}: ", f"{whom}{closed}{verdict}")
    for why in dose.obstacles:
        yield from _hanging("      refused: ", why)


def _objections(found: Sequence[Objection], margin: str) -> Iterator[str]:
    for one in found:
        if one.override is None:
            yield from _hanging(f"{margin}refused: {one.rule}: ", one.text)
        else:
            yield from _hanging(f"{margin}overridden: {one.rule}: ", f"{one.text} [{one.override.reason}]")


def _hanging(head: str, text: str) -> list[str]:
    """`text` behind `head`, wrapped below itself."""
    return textwrap.wrap(one_line(text), WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
