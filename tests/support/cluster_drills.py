"""Specs whose faults change objects of a cluster, as short as they get."""

from __future__ import annotations

from collections.abc import Sequence

from chaosgate.model.load import parse_spec
from chaosgate.model.spec import ChaosSpec

EMBEDDED = "{engine: embedded, model: embedded/tiny, replicas: 2}"
SERVICE = "{engine: endpoint, model: m, kubernetes: {service: vllm, namespace: models, port: 8000}}"
DEPLOYMENT = "{engine: endpoint, model: m, kubernetes: {deployment: vllm, port: 8000}}"
ADDRESS = "{engine: endpoint, model: m, endpoint: http://vllm.models.svc:8000}"
TEXT = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {{name: drill}}
spec:
  target: {target}
  workload: {{arrivals: {{process: poisson, rate: 20/s}}, prompts: {{set: recall-24}}}}
  steadyState: {{objectives: [{{sli: error-rate, bound: "<= 1 %"}}]}}
  faults:
{faults}
  objectives: [{{name: up, sli: error-rate, bound: "<= 5 %", at: baseline}}]
  safety: {safety}
{more}"""


def fault(kind: str, parameter: str = "pods", values: str = "[1]", **more: str) -> str:
    """A fault in one line, named after its kind."""
    keys = "".join(f", {key}: {value}" for key, value in more.items())
    name = kind.replace(".", "-")
    dose = f"{{parameter: {parameter}, values: {values}, hold: 10s, washout: 1s}}"
    return f"{{name: {name}, kind: {kind}{keys}, dose: {dose}}}"


LOST = fault("pod.delete")
SLOW = fault("wire.latency", "delay", "[100ms]")


def drill(*faults: str, target: str = EMBEDDED, safety: str = "{}", more: str = "") -> ChaosSpec:
    """A spec of these faults; without any it loses one pod."""
    return parse_spec(drill_text(faults or (LOST,), target, safety, more), "drill.yaml")


def drill_text(faults: Sequence[str], target: str = EMBEDDED, safety: str = "{}", more: str = "") -> str:
    """The text of such a spec."""
    lines = "\n".join(f"    - {one}" for one in faults)
    return TEXT.format(target=target, faults=lines, safety=safety, more=more)
