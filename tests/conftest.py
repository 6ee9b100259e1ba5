"""For every test: one BLAS thread, as the engine itself runs; two threads on two busy cores are slower than one."""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
