"""The names of a run's objects, as `chaosgate.cluster.names` has them."""

from __future__ import annotations

from chaosgate.cluster.names import PART_OF, ROLE_LABEL, RUN_LABEL, labels, object_name, selector

__all__ = ["PART_OF", "ROLE_LABEL", "RUN_LABEL", "labels", "object_name", "selector"]
