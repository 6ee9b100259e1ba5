"""One spec and one profile that show nearly every key, from which examples are taken; both are valid."""

from __future__ import annotations

from functools import cache
from typing import Any

from chaosgate.model.source import parse_source

SPEC = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata:
  name: checkout-assistant
  labels: {suite: checkout}
  annotations: {proves: the first token stays in time while the network gets slower}
spec:
  parameters:
    rate: {type: rate, default: 20/s, min: 1/s, max: 50/s}
  target:
    engine: endpoint
    model: my-org/my-model
    endpoint: http://127.0.0.1:8000
    replicas: 1
    fallback: {canned: The service is degraded}
  workload:
    arrivals: {process: poisson, rate: "{{ parameters.rate }}"}
    prompts: {set: recall-24}
    maxTokens: 64
    warmup: 5s
    timeout: 30s
    seed: 7
  steadyState:
    windows: 4
    hold: 4s
    objectives:
      - {sli: error-rate, bound: "<= 5 %"}
      - {sli: ttft-p95, bound: "<= 300ms"}
  faults:
    - name: slow-wire
      kind: wire.latency
      jitter: 5ms
      select: {share: 50 %, path: /v1/chat/completions}
      dose: {parameter: delay, values: [100ms, 200ms, 400ms], windows: 4, hold: 5s, washout: 500ms}
    - name: refusals
      kind: wire.error
      status: 503
      retryAfter: 1s
      dose: {parameter: probability, values: [5 %, 20 %], windows: 4, hold: 5s, washout: 500ms}
    - name: lost-line
      kind: stream.cut
      after: 2
      marker: false
      dose: {parameter: probability, values: [5 %, 20 %], windows: 4, hold: 5s, washout: 500ms}
  filters:
    - {kind: byte-limit, limit: 16000}
    - {kind: prompt-sanitiser}
    - {kind: standard-refusal, deny: [pick a lock]}
    - {kind: output-validator, onInvalid: repair}
  unguarded: 30 %
  slo:
    - {sli: ttft, bound: "<= 400ms"}
    - {sli: tpot, bound: "<= 50ms"}
  fits:
    - {name: knee, kind: logistic, fault: slow-wire, response: {sli: ttft, bound: "<= 300ms", share: 5 %}}
    - {name: crossing, kind: isotonic, fault: slow-wire, response: {sli: ttft, bound: "<= 300ms", share: 5 %}}
    - {name: onset, kind: segmented, fault: slow-wire, response: {sli: ttft, bound: "<= 300ms"}}
    - {name: growth, kind: phase-change, fault: slow-wire, response: {sli: ttft, bound: "<= 300ms"}}
    - {name: peak, kind: usl, fault: slow-wire, response: {sli: request-rate}}
    - name: either
      kind: best
      kinds: [logistic, isotonic]
      fault: slow-wire
      response: {sli: ttft, bound: "<= 300ms", share: 5 %}
  composition: serial
  objectives:
    - {name: first-token, sli: ttft-p95, bound: "<= 500ms", at: {dose: "<= 200ms"}, fault: slow-wire, severity: gate}
    - {name: same-answers, sli: exact-match, bound: ">= 95 %", at: {dose: all}, fault: slow-wire, each: true}
    - {name: whole-answer, sli: e2e-p95, bound: "<= 5s", at: {dose: all}, fault: slow-wire}
    - {name: errors-stay-few, sli: error-rate, bound: "<= 30 %", at: {dose: all}, fault: refusals}
    - {name: headroom, fit: knee, lower: ">= 150ms", severity: warn}
    - {name: knee-is-seen, fit: knee, upper: "<= 400ms", severity: warn}
    - {name: back, sli: ttft-p95, bound: "<= 300ms", at: recovery, within: 5s}
  breakers: []
  gate: {onUncertain: inconclusive}
  safety:
    sweepAfter: 2m
    stopWhen: [{sli: error-rate, bound: "> 50 %", consecutive: 3}]
    maxPods: 2
    maxShare: 50 %
    minHealthy: 1
    protectedNamespaces: [payments]
    allowed:
      - {days: [mon, tue, wed, thu, fri], from: "09:00", to: "17:00", timezone: Europe/Berlin}
    overrides:
      - {rule: disruption-budget, reason: the budget is for node upgrades; the team agreed to this drill}
  schedule: {cron: "0 3 * * *", suspend: false}
  tracking: {experiment: chaosgate/checkout, uri: http://127.0.0.1:5000}
"""
PROFILE = """\
apiVersion: chaosgate/v1
kind: ChaosProfile
metadata: {name: staging}
spec:
  target: {model: my-org/my-model}
  carrier:
    image: registry.example/chaosgate:0.1.0
    pullPolicy: IfNotPresent
    namespace: chaos
    serviceAccount: chaosgate
    labels: {team: checkout}
    secrets: [{env: MLFLOW_TRACKING_PASSWORD, secret: mlflow, key: password}]
    nodeSelector: {pool: chaos}
    resources: {measure: {cpu: 500m, memory: 512Mi}}
    steps: [{component: my-notify, arguments: {channel: chaos}}]
"""


@cache
def example_data(document: str) -> dict[str, Any]:
    """The example of a `ChaosSpec` or a `ChaosProfile` as plain data."""
    data = parse_source(SPEC if document == "ChaosSpec" else PROFILE, document).data
    return dict(data)
