"""The components that are known: built-in ones by name, and those that a stranger registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from chaosgate.components.definition import COMPONENTS, Component, Requests, find_component, ports, register
from chaosgate.errors import RegistryError, UsageError

NOTIFY = Component("acme.notify", "tell a team", "acme.notify:run", ("channel",), ports("verdict"), ports("status"))


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    COMPONENTS.pop(NOTIFY.name, None)


@pytest.mark.parametrize("component", COMPONENTS.values(), ids=COMPONENTS)
def test_every_built_in_component_has_a_function(component: Component) -> None:
    assert callable(component.function())


def test_a_registered_component_is_found() -> None:
    register(NOTIFY)
    register(NOTIFY)
    assert find_component("acme.notify") is NOTIFY


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(RegistryError) as refused:
        register(Component("gate", "mine", "acme.gate:run"))
    assert str(refused.value) == (
        "component 'gate' is registered twice: by chaosgate.components.gate:run and by acme.gate:run; rename one"
    )


def test_a_port_that_is_no_artifact_is_refused() -> None:
    with pytest.raises(RegistryError) as refused:
        register(Component(NOTIFY.name, "mine", "acme.notify:run", inputs=ports("verdikt")))
    assert str(refused.value) == "component 'acme.notify': unknown port 'verdikt'; did you mean 'verdict'?"
    assert NOTIFY.name not in COMPONENTS


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"name": "../../x"}, "names a step, so it must be small letters, digits, dashes and dots, at most 63 of them"),
        ({"arguments": ("{{x}}",)}, "has the argument '{{x}}'; write small letters, digits and dashes, without"),
        ({"arguments": ("executor-input",)}, "has the flag --executor-input twice; every flag needs a name of its own"),
        ({"requests": Requests(cpu="{{x}}", memory="1Gi")}, "asks for cpu '{{x}}'; write a Kubernetes quantity"),
        ({"entry": "nonsense"}, "its entry 'nonsense' leads nowhere; write module:function"),
    ],
)
def test_what_no_carrier_could_run_is_refused(changed: dict[str, Any], sentence: str) -> None:
    component = replace(NOTIFY, **changed)
    with pytest.raises(RegistryError) as refused:
        register(component)
    assert str(refused.value).startswith(f"component {component.name!r}: {sentence}")
    assert component.name not in COMPONENTS


def test_only_a_component_is_registered() -> None:
    with pytest.raises(RegistryError) as refused:
        register("acme.notify")  # type: ignore[arg-type]
    assert str(refused.value) == "read 'acme.notify'; register takes a Component"


def test_an_unknown_component_ends_in_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown component 'gates'; did you mean 'gate'"):
        find_component("gates")
