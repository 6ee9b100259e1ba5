"""For every test: one BLAS thread, and no example that fails for taking long."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# As the engine itself runs, and before numpy is imported: two threads on two busy cores are slower than one.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# How long an example takes is a matter of how busy the machine is; benchmarks/ measures speed.
settings.register_profile("chaosgate", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("chaosgate")
