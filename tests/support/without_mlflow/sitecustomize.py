"""On PYTHONPATH this makes every Python of a test believe that MLflow is not installed."""

import sys

sys.modules["mlflow"] = None  # type: ignore[assignment]
