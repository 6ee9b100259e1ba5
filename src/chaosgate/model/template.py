"""The text of a first spec, for `chaosgate init`: valid as it stands, with a comment where a choice is to be made."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from chaosgate.errors import UsageError
from chaosgate.model.annotations import describe, dimension_of, keys_of, of_field, strip
from chaosgate.model.fault import FAULTS, ClusterFault, EngineFault, Fault
from chaosgate.model.load import parse_spec
from chaosgate.units import Dimension, format_value

_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_RESERVED = ("true", "false", "null")
_COMMON = ("name", "kind", "select", "driver", "target", "dose")
"""Keys of every fault; a kind's other keys are its own parameters."""
_WHOM = {
    False: "  select: {share: 100 %}         # which requests it may touch; add a path to name one",
    True: "  # target: {labels: {app: mine}}  # whose pods; left out, those that serve the run's target",
}
"""Whom a fault of requests and one of the cluster may touch."""
_DOSES: dict[Dimension, tuple[float, ...]] = {
    "duration": (0.05, 0.1, 0.2),
    "share": (0.01, 0.1, 0.5),
    "rate": (1.0, 5.0, 10.0),
    "count": (1, 2, 4),
    "number": (1, 2, 4),
}
_TEXT = """\
# A chaos spec: load runs, a fault is injected at several doses, and the objectives decide the exit code.
# `chaosgate validate FILE` checks it, `chaosgate plan FILE` shows the steps, `chaosgate run FILE` runs it.
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata:
  name: {name}
spec:
  # Set from outside with `--set rate=10/s`; refused outside min and max.
  parameters:
    rate: {{type: rate, default: 20/s, min: 1/s, max: 50/s}}
  target:
{target}
  workload:
    arrivals: {{process: poisson, rate: "{{{{ parameters.rate }}}}"}}
    prompts: {{set: recall-24}}        # cycled in order; `chaosgate catalogue` lists the sets
    maxTokens: 8
    warmup: 5s                       # load that is never judged
    seed: 1                          # of every random draw: the same seed plans the same run
  # What must hold before anything is injected; else the run is inconclusive.
  steadyState:
    windows: 4
    hold: 4s
    objectives:
      - {{sli: error-rate, bound: "<= 5 %"}}
      - {{sli: ttft-p95, bound: "<= 1s"}}
  faults:
{fault}
  # What the gate asks. Choose bounds that your users would choose. Bounds are always quoted.
  objectives:
    - {{name: small-dose, {sli}, at: {{dose: "<= {dose}"}}, severity: gate}}
    - {{name: back, sli: error-rate, bound: "<= 5 %", at: recovery, within: 4s, severity: gate}}
  gate: {{onUncertain: inconclusive}}  # an interval that straddles its bound: inconclusive | fail | warn
  safety: {{sweepAfter: 2m}}           # how long after its end a run's leftovers are reverted
  tracking: {{experiment: chaosgate/first-spec}}
"""


def first_spec(name: str, engine: str, model: str, endpoint: str | None, fault_kind: str) -> str:
    """The text of a valid spec that sweeps one fault of the kind `fault_kind`.

    A RegistryError names the nearest kind, a SpecError what is wrong with a name, engine, model or endpoint, and a
    UsageError a kind that needs a parameter for which nothing general can be written.
    """
    kind = FAULTS.get(fault_kind)
    dimension = kind.axis().dimension
    # More than one pod or node at once is what safety refuses unless the spec allows it.
    largest = min(kind.max_dose, 1.0) if issubclass(kind, ClusterFault) else kind.max_dose
    doses = [format_value(dose, dimension) for dose in _DOSES[dimension] if dose <= largest]
    doses = doses or [format_value(largest, dimension)]
    text = _TEXT.format(
        name=_scalar(name),
        target=_target(engine, model, endpoint, 2 if issubclass(kind, ClusterFault) else 1),
        fault=_fault(fault_kind, kind, doses),
        sli=_asked(kind, dimension),
        dose=doses[0],
    )
    parse_spec(text, "first spec")
    return text


def _asked(kind: type[Fault], dimension: Dimension) -> str:
    """What is asked of the smallest dose: what such a fault harms first."""
    if issubclass(kind, EngineFault):
        return 'sli: exact-match, bound: ">= 90 %"'
    return 'sli: error-rate, bound: "<= 10 %"' if dimension == "share" else 'sli: ttft-p95, bound: "<= 1s"'


def _target(engine: str, model: str, endpoint: str | None, replicas: int) -> str:
    lines = [
        f"    {_scalar_line('engine', engine)}# embedded, or endpoint: a server that runs already",
        f"    {_scalar_line('model', model)}# the id that its /v1/models lists",
    ]
    if replicas > 1 and endpoint is None:
        lines.append(f"    replicas: {replicas}                  # one is left when the other is hit")
    if endpoint is not None:
        lines.append(f"    endpoint: {_scalar(endpoint)}")
    return "\n".join(lines)


def _fault(name: str, kind: type[Fault], doses: list[str]) -> str:
    summary = (kind.__doc__ or name).strip().splitlines()[0]
    own = [_parameter(kind, key, field) for key, field in keys_of(kind).items() if key not in _COMMON]
    on_cluster = issubclass(kind, ClusterFault)
    hold, washout = ("10s", "10s") if on_cluster else ("2s", "500ms")
    values = f"values: [{', '.join(doses)}], windows: 4, hold: {hold}, washout: {washout}"
    lines = [
        f"# {summary}",
        f"- name: {name.replace('.', '-').replace('_', '-')}",
        f"  kind: {name}",
        *own,
        _WHOM[on_cluster],
        "  # Each dose is held for `hold` in each of its windows, in random order, among controls without a fault.",
        f"  dose: {{parameter: {kind.axis().parameter}, {values}}}",
    ]
    return "\n".join(f"    {line}" for line in lines)


def _parameter(kind: type[Fault], key: str, field: FieldInfo) -> str:
    """A line for a parameter of the kind: a comment with its default, or a value where one is needed."""
    annotation = of_field(field)
    if not field.is_required():
        default = _written(field.default, dimension_of(annotation))
        return f"  # {key}: {default}" + " " * max(1, 28 - len(key) - len(default)) + f"# {describe(annotation)}"
    if get_origin(strip(annotation)) is not Literal:
        raise UsageError(
            f"fault kind {kind.__name__!r} needs {key!r} ({describe(annotation)}), for which nothing general can be "
            "written; copy a spec from chaos-specs/atoms and change it"
        )
    return f"  {key}: {_scalar(get_args(strip(annotation))[0])}"


def _written(value: Any, dimension: Dimension | None) -> str:
    return format_value(value, dimension) if dimension and value is not None else json.dumps(value, default=str)


def _scalar_line(key: str, value: str) -> str:
    return f"{key}: {_scalar(value)}".ljust(33)


def _scalar(value: Any) -> str:
    """A YAML scalar that reads back as `value`; JSON's quoted text is YAML's, too."""
    plain = isinstance(value, str) and _SAFE.fullmatch(value) and value.lower() not in _RESERVED
    return str(value) if plain else json.dumps(value)
