"""What a task of KFP is told beyond its component: no caching, a deadline, secrets, labels, no root."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kfp import kubernetes

from chaosgate.compile.common import USER
from chaosgate.compile.kfp.package import PLATFORM
from chaosgate.model.carrier import Carrier
from chaosgate.model.plan import Step


@dataclass
class Settings:
    """What all tasks of a pipeline are told, worked out once: KFP reads all of it anew for every word it is told."""

    carrier: Carrier
    labels: Mapping[str, str]
    shared: dict[str, Any] = field(default_factory=dict)

    def apply(self, task: Any, step: Step) -> None:
        """Tell `task`, which runs `step`, how it is carried."""
        # KFP caches every task unless told otherwise, and a cached step would answer with an old run's files.
        task.set_caching_options(False)
        if not self.shared:
            self._tell(task)
            self.shared = task.platform_config[PLATFORM]
        task.platform_config[PLATFORM] = dict(self.shared)
        # activeDeadlineSeconds of the pod: Kubernetes ends it that many seconds after it came to its node.
        kubernetes.set_timeout(task, math.ceil(step.deadline))

    def _tell(self, task: Any) -> None:
        kubernetes.set_image_pull_policy(task, self.carrier.pull_policy)
        kubernetes.set_security_context(task, run_as_user=USER, run_as_group=USER, run_as_non_root=True)
        for secret in self.carrier.variables:
            kubernetes.use_secret_as_env(task, secret.secret, {secret.key: secret.env}, optional=secret.optional)
        for key, value in sorted(self.labels.items()):
            kubernetes.add_pod_label(task, key, value)
        for key, value in sorted(self.carrier.node_selector.items()):
            kubernetes.add_node_selector(task, key, value)
