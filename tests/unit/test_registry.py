"""A registry finds kinds by name, refuses doubles, suggests near names and names a plug-in that does not load."""

from __future__ import annotations

from typing import Any

import pytest

from chaosgate import registry
from chaosgate.errors import RegistryError
from chaosgate.registry import Registry, unknown


@pytest.fixture
def kinds() -> Registry[object]:
    found: Registry[object] = Registry("fault kind")
    found.register("wire.latency")(int)
    found.register("wire.error")(str)
    return found


def test_a_kind_is_found_by_its_name(kinds: Registry[object]) -> None:
    assert kinds.get("wire.latency") is int
    assert kinds.names() == ["wire.error", "wire.latency"]
    assert dict(kinds.items()) == {"wire.error": str, "wire.latency": int}
    assert "wire.latency" in kinds
    assert "wire.loss" not in kinds


def test_a_name_that_is_taken_is_refused(kinds: Registry[object]) -> None:
    with pytest.raises(RegistryError) as refused:
        kinds.register("wire.latency")(float)
    assert str(refused.value) == (
        "fault kind 'wire.latency' is registered twice: by builtins.int and by builtins.float; rename one"
    )
    assert kinds.get("wire.latency") is int


def test_the_same_class_may_come_again(kinds: Registry[object]) -> None:
    kinds.register("wire.latency")(int)
    assert kinds.get("wire.latency") is int


@pytest.mark.parametrize("name", ["", "Wire.latency", "wire latency", "wire.", "../x", "{{x}}", "a\n", 7])
def test_a_name_that_nobody_could_write_is_refused(kinds: Registry[object], name: str) -> None:
    with pytest.raises(RegistryError) as refused:
        kinds.register(name)(int)
    assert str(refused.value) == (f"fault kind: read the name {name!r}; write small letters, digits, dots and dashes")


@pytest.mark.parametrize("kind", [str, "no class at all"])
def test_a_class_of_another_sort_is_refused(kind: Any) -> None:
    numbers: Registry[int] = Registry("number", int)
    with pytest.raises(RegistryError) as refused:
        numbers.register("one")(kind)
    assert str(refused.value) == f"number 'one': read {kind!r}; derive its class from builtins.int"
    numbers.register("one")(bool)
    assert numbers.get("one") is bool


def test_an_unknown_name_gets_the_nearest_one(kinds: Registry[object]) -> None:
    with pytest.raises(RegistryError) as refused:
        kinds.get("wire.latencie")
    assert str(refused.value) == "unknown fault kind 'wire.latencie'; did you mean 'wire.latency'?"


def test_where_nothing_is_near_everything_known_is_listed() -> None:
    assert unknown("SLI", "zzz", ["ttft", "e2e"]) == "unknown SLI 'zzz'; known: e2e, ttft"
    assert unknown("SLI", "zzz", []) == "unknown SLI 'zzz'; known: none"


class Entry:
    """A plug-in's entry point that fails in the way it is told."""

    name = "acme"
    value = "acme.faults"

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    def load(self) -> None:
        raise self.failure


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(registry, "_loaded", False)
    return monkeypatch


def test_a_broken_plug_in_is_named_every_time(unloaded: pytest.MonkeyPatch, kinds: Registry[object]) -> None:
    unloaded.setattr(registry, "entry_points", lambda group: [Entry(ImportError("no module named acme_core"))])
    for _ in range(2):
        with pytest.raises(RegistryError) as refused:
            kinds.names()
        assert str(refused.value) == (
            "plug-in 'acme' (acme.faults) failed to load: no module named acme_core; repair or uninstall it"
        )


def test_a_plug_in_that_exits_is_no_answer(unloaded: pytest.MonkeyPatch, kinds: Registry[object]) -> None:
    unloaded.setattr(registry, "entry_points", lambda group: [Entry(SystemExit(0))])
    with pytest.raises(RegistryError) as refused:
        kinds.names()
    assert str(refused.value) == (
        "plug-in 'acme' (acme.faults) failed to load: it exits with 0; repair or uninstall it"
    )


def test_what_a_plug_in_says_of_its_failure_stays_one_line(
    unloaded: pytest.MonkeyPatch, kinds: Registry[object]
) -> None:
    unloaded.setattr(registry, "entry_points", lambda group: [Entry(ImportError("no\nmodule \x1b[31m"))])
    with pytest.raises(RegistryError) as refused:
        kinds.names()
    assert str(refused.value) == (
        "plug-in 'acme' (acme.faults) failed to load: no module \ufffd[31m; repair or uninstall it"
    )


def test_what_a_plug_in_prints_does_not_reach_standard_output(
    unloaded: pytest.MonkeyPatch, kinds: Registry[object], capsys: pytest.CaptureFixture[str]
) -> None:
    class Talkative(Entry):
        def load(self) -> None:
            print("hello")

    unloaded.setattr(registry, "entry_points", lambda group: [Talkative(ImportError())])
    assert kinds.names() == ["wire.error", "wire.latency"]
    assert capsys.readouterr() == ("", "hello\n")


def test_a_plug_in_that_takes_a_name_says_so_in_its_own_words(
    unloaded: pytest.MonkeyPatch, kinds: Registry[object]
) -> None:
    unloaded.setattr(registry, "entry_points", lambda group: [Entry(RegistryError("registered twice"))])
    with pytest.raises(RegistryError, match=r"^registered twice$"):
        kinds.names()


def test_built_in_kinds_are_loaded_on_first_use() -> None:
    from chaosgate.model.fault import FAULTS
    from chaosgate.model.sli import SLIS

    assert {"stream.cut", "wire.error", "wire.latency"} <= set(FAULTS.names())
    assert "ttft" in SLIS
