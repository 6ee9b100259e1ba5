"""The server's log: what fails inside it, and nothing of what clients send amiss."""

from __future__ import annotations

import logging

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

LOG = logging.getLogger("chaosgate.engine")
"""The HTTP framework's log, too."""


def tells_of_the_server(record: logging.LogRecord) -> bool:
    """False for what the framework says, with a traceback, of bytes that are no HTTP: any client could fill a disk."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | web.RequestPayloadError)


LOG.addFilter(tells_of_the_server)
