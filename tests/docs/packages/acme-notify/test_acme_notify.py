import pytest
from acme_notify import NOTIFY

from chaosgate.conformance import check_component


def test_notify_keeps_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_WEBHOOK", "http://127.0.0.1:9/hook")
    check_component(NOTIFY, {"mention": "@serving-oncall", "when": "always"})
