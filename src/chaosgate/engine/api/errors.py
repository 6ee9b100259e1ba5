"""Refusals in OpenAI's form."""

from __future__ import annotations

import traceback
from typing import Any

from chaosgate.engine.api.log import LOG
from chaosgate.errors import ChaosgateError, one_line
from chaosgate.model.openai_error import openai_error


class ApiError(ChaosgateError):
    """A request that is answered with an error: HTTP `status` and OpenAI's `type`, `param` and `code`."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        """The body of the answer."""
        return openai_error(str(self), self.kind, self.code, self.param)


def unexpected(error: Exception, asked: str) -> ApiError:
    """The answer in place of one that failed for no reason of the client's; the log gets one line.

    `asked` is the method and the path.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    LOG.error("chaosgate engine: %s", one_line(f"{asked[:80]}: {type(error).__name__}{place}: {error}")[:500])
    return ApiError(
        "the engine failed at this request, and its log says at what; the others go on",
        status=500,
        kind="server_error",
        code="internal_error",
    )
