"""How the objects of a run are called and labelled, so that they are found again by the run id alone."""

from __future__ import annotations

import hashlib

RUN_LABEL = "chaosgate/run"
ROLE_LABEL = "chaosgate/role"
STEP_LABEL = "chaosgate/step"
"""On the pods of a pipeline's steps."""
HIT_LABEL = "chaosgate/hit"
"""On an object that a fault changed: the run. What was there before stands in UNDO_ANNOTATION."""
UNDO_ANNOTATION = "chaosgate/undo"
ALLOWED_LABEL = "chaosgate/allowed"
"""With the value `true` on a namespace: faults may be injected there."""
INJECTABLE_LABEL = "chaos-injectable"
"""With the value `true` on a pod or a node: a fault may hit it."""
TAINT = "chaosgate/run"
"""The key of a run's taints; the value is the run."""
FAULT_ROLE = "fault"
"""The role of what a fault makes."""
PART_OF = {"app.kubernetes.io/part-of": "chaosgate"}
LIMIT = 63
"""Characters of a DNS label (RFC 1123), which a Service's name must be."""
HASH = 8
"""Hexadecimal digits that keep shortened names apart: two of a million runs share them with a chance of 1e-4."""


def object_name(run: str, role: str) -> str:
    """`<run>-<role>`; where that is too long, the run's beginning and a hash of it."""
    name = f"{run}-{role}"
    if len(name) <= LIMIT:
        return name
    digest = hashlib.sha256(run.encode()).hexdigest()[:HASH]
    return f"{run[: LIMIT - len(role) - HASH - 2].rstrip('-')}-{digest}-{role}"


def labels(run: str, role: str) -> dict[str, str]:
    """The labels of an object of the run."""
    return {**PART_OF, RUN_LABEL: run, ROLE_LABEL: role}


def selector(run: str, role: str | None = None) -> str:
    """The label selector that finds the run's objects, of one role or all."""
    return f"{RUN_LABEL}={run}" + (f",{ROLE_LABEL}={role}" if role else "")


def hit_selector(run: str) -> str:
    """The label selector that finds what the run's faults changed."""
    return f"{HIT_LABEL}={run}"
