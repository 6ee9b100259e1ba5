"""What a run's gateway is told, whoever starts it."""

from __future__ import annotations

from collections.abc import Mapping

from chaosgate.model.spec import ChaosSpec, canonical_json


def gateway_config(spec: ChaosSpec, run: str, upstream: str, phases: Mapping[str, list[str]]) -> str:
    """The configuration as canonical JSON: `upstream` is the server behind it, `phases` the faults of each phase."""
    body = spec.spec
    return canonical_json(
        {
            "upstream": upstream,
            "run": run,
            "spec": spec.digest(),
            "seed": body.workload.seed,
            "phases": dict(phases),
            "faults": [fault.to_json() for fault in body.faults],
            "filters": [one.to_json() for one in body.filters],
            "unguarded": body.unguarded,
        }
    )
