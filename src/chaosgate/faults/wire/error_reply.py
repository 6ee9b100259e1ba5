"""An answer at the gateway in the form that OpenAI's API gives its errors."""

from __future__ import annotations

from collections.abc import Mapping

from chaosgate.model.fault import Reply
from chaosgate.model.openai_error import openai_error


def error_reply(fault: str, status: int, headers: Mapping[str, str] | None = None) -> Reply:
    """The HTTP error `status` that the fault called `fault` answers with, and says so."""
    return Reply(status, headers or {}, openai_error(f"injected by {fault}", "chaos", status))
