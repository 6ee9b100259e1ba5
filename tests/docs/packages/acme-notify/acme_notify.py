"""acme.notify: post the verdict of a run, and why, to a webhook such as a chat's."""

from __future__ import annotations

import json
import os
import urllib.request
from http.client import HTTPException

from chaosgate.artifacts import VERDICT, Identity, read_document
from chaosgate.components.definition import Component, Context, ports, register
from chaosgate.errors import ChaosgateError, UsageError
from chaosgate.model.result import Verdict

WEBHOOK = "ACME_WEBHOOK"
"""The environment variable that holds the webhook's URL: whoever knows the URL may post, so it stands in no file."""
PATIENCE = 10.0
"""Seconds the webhook has to answer."""

NOTIFY = Component(
    name="acme.notify",
    summary="post the verdict of a run to a webhook",
    entry="acme_notify:run",
    arguments=("mention", "when"),
    inputs=ports("verdict"),
)
register(NOTIFY)


class WebhookError(ChaosgateError):
    """The webhook cannot be reached, or refused the message."""


def run(context: Context) -> int:
    """0 once the message is delivered, or where there is nothing to tell."""
    when = context.arguments["when"]
    if when not in ("always", "trouble"):
        raise UsageError(f"when: read {when!r}; write always or trouble")
    verdict = read_document(context.inputs["verdict"], VERDICT, Identity(context.run, None))
    if when == "always" or verdict.verdict != "pass":
        post(webhook(), {"text": text(context, verdict)})
    return 0


def webhook() -> str:
    """The URL to post to; a UsageError says how to give one."""
    url = os.environ.get(WEBHOOK, "")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{WEBHOOK} names no webhook; set it to the webhook's URL")
    return url


def text(context: Context, verdict: Verdict) -> str:
    """The verdict in one line, whom it concerns, and each reason below."""
    reasons = [f"- {reason.verdict}: {reason.text}" for reason in verdict.reasons]
    return "\n".join([f"{context.arguments['mention']} {context.run}: {verdict.verdict}", *reasons])


def post(url: str, message: dict[str, str]) -> None:
    """Deliver `message` as JSON; a WebhookError when that fails, which names the cause and not the URL."""
    body = json.dumps(message).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=PATIENCE).close()
    except (OSError, HTTPException) as error:
        raise WebhookError(f"{WEBHOOK}: the message was not delivered: {error}") from error
