"""What the gateway's HTTP servers log: that something went wrong, never what a client sent."""

from __future__ import annotations

import logging

from aiohttp.http_exceptions import HttpProcessingError

_NAME = "chaosgate.gateway.http"


def quiet_logger() -> logging.Logger:
    """The servers' logger. aiohttp logs a request that it cannot parse with the line it stumbled over, which may be an
    API key or a prompt; here only the kind of error is left."""
    logger = logging.getLogger(_NAME)
    if _without_content not in logger.filters:
        logger.addFilter(_without_content)
    return logger


def _without_content(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.msg, record.args = "a request was refused: %s", (type(error).__name__,)
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.INFO, "INFO"
    return logging.getLogger(_NAME).isEnabledFor(record.levelno)
