"""The record of a run in MLflow: a parent run, one child a fault, and the seal. MLflow is imported only here, on use.

Recording twice changes nothing: runs are found by their tag, parameters are compared, and the time stamp of a metric is
the run's own, so that an equal point is the same point.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from chaosgate.artifacts import RECORD, Identity
from chaosgate.artifacts.documents import read_envelope
from chaosgate.errors import TrackingError, one_line
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.uri import hide_password, without_password
from chaosgate.tracking.location import artifact_location, tracking_uri
from chaosgate.tracking.pages import FAULT_TAG, RUN_TAG, SEAL_TAG, Page, TrackedRun, fault_page, run_page
from chaosgate.tracking.reach import check_reachable, unreachable

SETTINGS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""MLflow's environment variables, set where the user has not: by default it waits minutes for a dead server."""
INSTALL = "MLflow is not installed; pip install 'chaosgate[mlflow]' and {then}"
RECORD_IT = "run: chaosgate record {run}"
"""What is to be done once MLflow is there again, where nothing else was asked of it."""
MAX_METRICS = 1000
MAX_PARAMS = 100
"""The most that MLflow takes in one batch; the latter holds for tags, too."""

ATTACH = "MLFLOW_RUN_ID"
PARENT_TAG = "mlflow.parentRunId"
"""MLflow's own tag: its UI nests the run below this one."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Store:
    """An open tracking store, and the chaosgate run that is written or looked for in it."""

    client: Any
    entities: Any
    uri: str
    run: str


@dataclass(frozen=True)
class _Place:
    """Where the run stands: its experiment, None while there is none, and its MLflow runs by fault, "" the parent."""

    experiment: str | None
    runs: dict[str, Any]


def record_run(tracked: TrackedRun, state: Path | None) -> str:
    """Write a finished run to MLflow and return the id of its parent run; repeating it updates the same MLflow run.

    With MLFLOW_RUN_ID set, that run becomes the parent and stays open. A TrackingError says when MLflow is not
    installed, cannot be reached (after about 10 s at most) or refuses.
    """
    with open_store(tracking_uri(tracked.spec, state), tracked.run) as store:
        name = tracked.spec.spec.tracking.experiment
        place = _locate(store, name)
        experiment = place.experiment or _create_experiment(store, name)
        began, ended = _stamp(tracked.record.started), _stamp(tracked.record.finished or tracked.record.started)
        parent = place.runs.get("") or store.client.create_run(experiment, began, {RUN_TAG: tracked.run}, tracked.run)
        _write(store, parent, run_page(tracked), ended)
        _upload(store, parent, tracked.files)
        for fault in tracked.spec.spec.faults:
            page = fault_page(tracked, fault)
            tags = {**page.tags, PARENT_TAG: parent.info.run_id}
            child = place.runs.get(fault.name) or store.client.create_run(experiment, began, tags, page.name)
            _write(store, child, page, ended)
            store.client.set_terminated(child.info.run_id, "FINISHED", ended)
        _finish(store, parent, "FAILED" if tracked.verdict.verdict == "error" else "FINISHED", ended)
        return str(parent.info.run_id)


def seal_run(run: str, spec: ChaosSpec, state: Path | None, clean: bool) -> None:
    """Seal the record of `run` clean or unclean; a TrackingError when it was never recorded, or as in `record_run`."""
    with open_store(tracking_uri(spec, state), run) as store:
        store.client.set_tag(_recorded(store, spec).info.run_id, SEAL_TAG, "clean" if clean else "unclean")


def recorded_digest(run: str, spec: ChaosSpec, state: Path | None) -> str | None:
    """The digest of the record of `run` in MLflow, None where it holds none; a TrackingError as in `record_run`."""
    with open_store(tracking_uri(spec, state), run) as store:
        parent = _recorded(store, spec)
        names = {file.path for file in store.client.list_artifacts(parent.info.run_id, "conclude")}
        step = "conclude" if f"conclude/{RECORD.file}" in names else "deploy"
        with tempfile.TemporaryDirectory() as folder:
            file = store.client.download_artifacts(parent.info.run_id, f"{step}/{RECORD.file}", folder)
            return str(read_envelope(Path(file), RECORD, Identity(run, None))["digest"])


def fetch_run(run: str, spec: ChaosSpec, state: Path | None, folder: Path) -> None:
    """Every file of `run` that MLflow holds, into `folder`; a TrackingError when it was never recorded."""
    with open_store(tracking_uri(spec, state), run) as store:
        store.client.download_artifacts(_recorded(store, spec).info.run_id, "", str(folder))


def _recorded(store: Store, spec: ChaosSpec) -> Any:
    """The MLflow run that holds the store's run."""
    parent = _locate(store, spec.spec.tracking.experiment).runs.get("")
    if parent is None or parent.data.tags.get(RUN_TAG) != store.run:
        raise TrackingError(
            f"run {store.run} is not in experiment {spec.spec.tracking.experiment!r} of MLflow at "
            f"{without_password(store.uri)}; record it first: chaosgate record {store.run}"
        )
    return parent


@contextmanager
def open_store(uri: str, run: str, then: str = RECORD_IT) -> Iterator[Store]:
    """The store at `uri`; whatever goes wrong while it is open is a TrackingError that names it.

    `then` ends its sentence: what to do with `{run}` once the cause is mended.
    """
    then = then.format(run=run)
    client, entities = _import_mlflow(then)
    check_reachable(uri, then)
    try:
        yield Store(client(uri), entities, uri, run)
    except TrackingError:
        raise
    except Exception as error:
        if cause := _network_cause(error):
            raise TrackingError(unreachable(uri, cause, then)) from error
        said = one_line(hide_password(str(error), uri))
        raise TrackingError(
            f"MLflow at {without_password(uri)} refused what was asked for run {run}: {said}; the run's files are "
            f"whole: mend the cause, then {then}"
        ) from error


def _import_mlflow(then: str) -> tuple[Any, Any]:
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        from mlflow import entities
        from mlflow.tracking import MlflowClient
    except ModuleNotFoundError as error:
        raise TrackingError(INSTALL.format(then=then)) from error
    return MlflowClient, entities


def _network_cause(error: BaseException | None) -> BaseException | None:
    """The failed connection or time-out down the chain of causes; its own text is short and holds no URI."""
    while error is not None:
        if isinstance(error, (ConnectionError, TimeoutError, socket.gaierror)):
            return error
        error = error.__cause__ or error.__context__
    return None


def _locate(store: Store, experiment: str) -> _Place:
    """The run by its tag in its experiment, else the run the environment attaches to, else nothing yet."""
    found = store.client.get_experiment_by_name(experiment)
    if found is not None:
        runs = _runs(store, found.experiment_id)
        if "" in runs or not os.environ.get(ATTACH):
            return _Place(found.experiment_id, runs)
    if attached := os.environ.get(ATTACH):
        parent = store.client.get_run(attached)
        _refuse_foreign(store, parent)
        return _Place(parent.info.experiment_id, {**_runs(store, parent.info.experiment_id), "": parent})
    return _Place(None, {})


def _runs(store: Store, experiment: str) -> dict[str, Any]:
    found = store.client.search_runs([experiment], f"tags.`{RUN_TAG}` = '{store.run}'", max_results=1000)
    return {run.data.tags.get(FAULT_TAG, ""): run for run in found}


def _refuse_foreign(store: Store, parent: Any) -> None:
    holds = parent.data.tags.get(RUN_TAG, store.run)
    if holds != store.run:
        raise TrackingError(
            f"{ATTACH} names the MLflow run {parent.info.run_id}, which holds chaosgate run {holds}, not {store.run}; "
            f"unset {ATTACH} and run: chaosgate record {store.run}"
        )


def _create_experiment(store: Store, name: str) -> str:
    return str(store.client.create_experiment(name, artifact_location=artifact_location(store.uri)))


def _write(store: Store, run: Any, page: Page, stamp: int) -> None:
    """Parameters that are new, all tags, all points: a batch is one call, however many it holds."""
    run_id, log = run.info.run_id, store.client.log_batch
    new = _new_params(run, page.params)
    for params in _batches([store.entities.Param(key, value) for key, value in new.items()], MAX_PARAMS):
        log(run_id, params=params)
    for tags in _batches([store.entities.RunTag(key, value) for key, value in page.tags.items()], MAX_PARAMS):
        log(run_id, tags=tags)
    points = [store.entities.Metric(point.key, point.value, stamp, point.step) for point in page.points]
    for metrics in _batches(points, MAX_METRICS):
        log(run_id, metrics=metrics)


def _new_params(run: Any, params: dict[str, str]) -> dict[str, str]:
    """The parameters the MLflow run does not have; one that it has with another value can never be changed."""
    held = run.data.params
    for key, value in params.items():
        if held.get(key, value) != value:
            raise TrackingError(
                f"MLflow run {run.info.run_id} has parameter {key} = {held[key]!r}, now {value!r}, and MLflow never "
                f"changes a parameter; delete that MLflow run, then run: chaosgate record {run.data.tags[RUN_TAG]}"
            )
    return {key: value for key, value in params.items() if key not in held}


def _finish(store: Store, parent: Any, status: str, ended: int) -> None:
    """Mark the record unsealed unless it has a seal, and end the run unless it belongs to someone else."""
    run_id = parent.info.run_id
    if SEAL_TAG not in parent.data.tags:
        store.client.set_tag(run_id, SEAL_TAG, "unsealed")
    if run_id != os.environ.get(ATTACH):
        store.client.set_terminated(run_id, status, ended)


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _upload(store: Store, parent: Any, files: Mapping[str, Path]) -> None:
    """The files as artifacts under their names in the run, wherever they lie."""
    with tempfile.TemporaryDirectory() as folder:
        for name, file in files.items():
            place = Path(folder) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # MLflow calls an artifact as its file is called.
            place.symlink_to(file.resolve())
            parent_name = Path(name).parent.as_posix()
            store.client.log_artifact(parent.info.run_id, str(place), None if parent_name == "." else parent_name)


def _stamp(moment: str) -> int:
    """Milliseconds since 1970 of an ISO 8601 time."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
