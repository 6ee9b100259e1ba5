from __future__ import annotations

import json

import pytest

from chaosgate.cluster.command import failure


def ended(code: int) -> str:
    causes = [{"reason": "ExitCode", "message": str(code)}]
    said = f"command terminated with exit code {code}"
    return json.dumps({"status": "Failure", "message": said, "details": {"causes": causes}})


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ('{"metadata": {}, "status": "Success"}', None),
        ("", None),
        (ended(137), None),
        (ended(1), "command terminated with exit code 1"),
        ('{"status": "Failure", "message": "exec: \\"sh\\": not found"}', 'exec: "sh": not found'),
        ('{"status": "Failure", "details": null}', "it gave no reason"),
    ],
    ids=["ended well", "broke off", "was killed with its container", "failed", "no such command", "no reason"],
)
def test_why_a_command_failed(status: str, why: str | None) -> None:
    assert failure(status) == why
