"""The sealed runs of one spec in MLflow, with the files that tell how they ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chaosgate.artifacts import SPEC
from chaosgate.model.spec import ChaosSpec
from chaosgate.tracking.location import tracking_uri
from chaosgate.tracking.mlflow_record import open_store
from chaosgate.tracking.pages import DIGEST_TAG, RUN_TAG, SEAL_TAG

MOST = 100
"""The latest runs that are looked at."""
STEPS = ("deploy", "conclude")
"""Their files hold the record, the verdict, the estimates and the thresholds."""

ASK_AGAIN = "ask again; without `--from mlflow` the runs of the state directory are looked at"


def fetch_past(run: str, spec: ChaosSpec, state: Path | None, folder: Path) -> dict[str, Path]:
    """The runs of the spec that are sealed clean, each with its folder below `folder`, the latest first.

    They are looked for in the spec's experiment; `run` is the one that asks. A TrackingError as in `record_run`.
    """
    with open_store(tracking_uri(spec, state), run, ASK_AGAIN) as store:
        found = store.client.get_experiment_by_name(spec.spec.tracking.experiment)
        if found is None:
            return {}
        wanted = f"tags.`{DIGEST_TAG}` = '{spec.digest()}' and tags.`{SEAL_TAG}` = 'clean'"
        runs = store.client.search_runs([found.experiment_id], wanted, max_results=MOST)
        return {str(each.data.tags[RUN_TAG]): _fetch(store.client, each, folder) for each in runs}


def _fetch(client: Any, run: Any, folder: Path) -> Path:
    """The files of one run; those that it does not have are missing, and whoever reads them says so."""
    place = folder / str(run.data.tags[RUN_TAG])
    place.mkdir()
    there = {file.path for file in client.list_artifacts(run.info.run_id)}
    for name in (SPEC.file, *STEPS):
        if name in there:
            client.download_artifacts(run.info.run_id, name, str(place))
    return place
