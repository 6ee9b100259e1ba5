"""The embedded engine: a small mixture-of-experts language model with an OpenAI-compatible server, on numpy alone."""

import os

# A BLAS reads its thread count when numpy is first imported, and every way into the engine comes through here before
# that. Products of this size are slower on several threads, and the other cores belong to the load and the gateway.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
