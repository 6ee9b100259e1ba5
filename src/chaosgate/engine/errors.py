"""Refusals in OpenAI's form."""

from __future__ import annotations

from typing import Any

from chaosgate.errors import ChaosgateError


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
        """`{"error": {"message", "type", "param", "code"}}`."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.code}}
