"""Where a run is recorded: the tracking URI, the place of its artifacts, how to look at it. Needs no MLflow."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from chaosgate.errors import TrackingError
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.uri import MASK, has_password, without_password

SQLITE = "sqlite:///"


def tracking_uri(spec: ChaosSpec, state: Path | None) -> str:
    """The spec's own URI, else MLFLOW_TRACKING_URI, else the SQLite file `mlflow.db` in the state directory.

    Without a state directory, as on a cluster, a TrackingError: a file in a pod would go with it.
    """
    own = spec.spec.tracking.uri or os.environ.get("MLFLOW_TRACKING_URI")
    if own:
        return own
    if state is None:
        raise TrackingError(
            "no MLflow server is named: write spec.tracking.uri, or `tracking: {uri: ...}` in the profile"
        )
    return f"{SQLITE}{state.resolve() / 'mlflow.db'}"


def sqlite_file(uri: str) -> Path | None:
    """The database file behind a SQLite URI, None for any other URI."""
    return Path(uri.removeprefix(SQLITE)).resolve() if uri.startswith(SQLITE) else None


def artifact_location(uri: str) -> str | None:
    """`mlartifacts` beside a SQLite database, as MLflow would use the current directory; None leaves it to a server."""
    database = sqlite_file(uri)
    return None if database is None else (database.parent / "mlartifacts").as_uri()


def ui_command(uri: str) -> str:
    """The command that opens the MLflow UI on `uri`; a server's UI needs no command, so its address is returned.

    A password is masked, and the text says so.
    """
    shown = without_password(uri)
    is_server = uri.lower().startswith(("http://", "https://"))
    command = shown if is_server else f"{shlex.quote(_mlflow())} ui --backend-store-uri {shlex.quote(shown)}"
    return f"{command} (put the password in place of {MASK})" if has_password(uri) else command


def _mlflow() -> str:
    """The `mlflow` command as it can be called from here: by name where it is on PATH, else beside this Python."""
    beside = Path(sys.executable).with_name("mlflow")
    if shutil.which("mlflow") or not beside.exists():
        return "mlflow"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)
