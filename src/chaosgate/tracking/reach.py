"""Whether a tracking database can be opened at all, asked before MLflow would retry it for minutes."""

from __future__ import annotations

import socket
import sqlite3
from contextlib import closing
from urllib.parse import urlsplit

from chaosgate.errors import TrackingError, one_line
from chaosgate.model.uri import hide_password, why_malformed, without_password
from chaosgate.tracking.location import sqlite_file

SECONDS = 5.0
"""How long a database may take to answer its first question."""
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}


def check_reachable(uri: str, then: str) -> None:
    """Nothing when the database behind `uri` answers, else a TrackingError. Servers over HTTP are left to MLflow.

    MLflow retries a database ten times with growing pauses, about 100 s in all; a run cannot wait for that.
    """
    if cause := why_malformed(uri):
        raise TrackingError(unreachable(uri, ValueError(f"it is no URI: {cause}"), then))
    try:
        if sqlite_file(uri) is not None:
            _open_sqlite(uri)
        elif port := _PORTS.get(urlsplit(uri).scheme.partition("+")[0]):
            address = urlsplit(uri)
            socket.create_connection((address.hostname or "localhost", address.port or port), SECONDS).close()
    except (OSError, ValueError, sqlite3.Error) as error:
        raise TrackingError(unreachable(uri, error, then)) from error


def unreachable(uri: str, error: BaseException, then: str) -> str:
    """The sentence for a tracking server that does not answer: where, why, and what to do, `then` at last."""
    place, said = one_line(without_password(uri)), one_line(hide_password(str(error), uri))
    return (
        f"MLflow at {place} cannot be reached: {said}; set MLFLOW_TRACKING_URI or spec.tracking.uri "
        f"to one that answers, then {then}"
    )


def _open_sqlite(uri: str) -> None:
    database = sqlite_file(uri)
    assert database is not None
    database.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(database, timeout=SECONDS)) as connection:
        connection.execute("PRAGMA schema_version")
