"""Every component keeps the contract, and every way to break it is refused by a broken twin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chaosgate.artifacts import VERDICT, Identity, read_document
from chaosgate.components.__main__ import main
from chaosgate.components.definition import BUILT_IN, COMPONENTS, Component, Context, Port, Requests, ports
from chaosgate.conformance import ConformanceError, check_component
from chaosgate.model.result import Status

ARGUMENTS: dict[str, dict[str, str]] = {
    "deploy": {"digest": "sha256:0", "seconds": "60"},
    "measure": {"phase": "block1", "seconds": "5"},
    "inject": {"phase": "block1", "start": "30"},
}


@pytest.fixture(autouse=True)
def _components_as_they_were() -> Iterator[None]:
    before = dict(COMPONENTS)
    yield
    COMPONENTS.clear()
    COMPONENTS.update(before)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_built_in_component_keeps_the_contract(name: str) -> None:
    check_component(COMPONENTS[name], ARGUMENTS.get(name, {}))


def test_cleanup_of_a_run_that_is_not_there_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--run", "r", "--state", str(tmp_path), "--cleanup-out", str(tmp_path / "cleanup.json")]
    assert main(["cleanup", *words]) == 2
    assert capsys.readouterr().err == (
        f"cleanup: {tmp_path}/runs/r: no run is there; name one with --run, and its state directory with --state\n"
    )
    assert list(tmp_path.iterdir()) == []


def tell(context: Context) -> int:
    """0 once the verdict is read."""
    read_document(context.inputs["verdict"], VERDICT, Identity(context.run, None))
    return 0


TELL = Component("twin.tell", "tell the verdict", f"{__name__}:tell", ("to-whom",), ports("verdict"))
"""A component that keeps the contract; the twins below break one thing each."""


def judge(context: Context) -> Status:
    """Ok once the verdict is read."""
    tell(context)
    return Status(status="ok")


JUDGE = replace(TELL, name="twin.judge", entry=f"{__name__}:judge", outputs=ports("record", "status"))


def check(component: Component) -> None:
    """Check it as a registered one, also where `register` would refuse it."""
    COMPONENTS[component.name] = component
    check_component(component, dict.fromkeys(component.arguments, "somebody"))


@pytest.mark.parametrize("sound", [TELL, JUDGE], ids=lambda sound: sound.name)
def test_a_sound_twin_passes(sound: Component) -> None:
    check(sound)


def test_a_component_of_pages_alone_may_take_any_page() -> None:
    check(replace(TELL, inputs=ports("report"), entry=f"{__name__}:publish"))


def publish(context: Context) -> int:
    """0 when there is a page."""
    return 0 if "report" in context.inputs and _there(context.inputs["report"]) else 1


def _there(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


DECLARED: list[tuple[dict[str, Any], str]] = [
    ({"name": "Twin_Tell"}, "names a step, so it must be small letters, digits, dashes and dots, at most 63"),
    ({"summary": ""}, "has the summary ''; say in one line what it does"),
    ({"summary": "two\nlines"}, "say in one line what it does"),
    ({"inputs": (Port("verdikt"),)}, "unknown port 'verdikt'; did you mean 'verdict'"),
    ({"arguments": ("--to-whom",)}, "has the argument '--to-whom'; write small letters, .* without the leading --"),
    ({"arguments": ("class",)}, "has the argument 'class', a word of Python, which Kubeflow Pipelines cannot carry"),
    ({"arguments": ("run",)}, "has the flag --run twice; every flag needs a name of its own"),
    ({"arguments": ("verdict",)}, "has the flag --verdict twice"),
    ({"arguments": ("record-out",), "outputs": ports("record")}, "has the flag --record-out twice"),
    ({"requests": Requests(cpu="a bit", memory="1Gi")}, "asks for cpu 'a bit'; write a Kubernetes quantity"),
    ({"entry": "no_such_module:run"}, r"'no_such_module:run' leads nowhere: No module named .*; write module:function"),
    ({"entry": f"{__name__}:nothing"}, "leads nowhere: .* has no attribute 'nothing'"),
    ({"entry": ""}, "leads nowhere"),
    ({"entry": f"{__name__}:TELL"}, "is no function"),
    ({"entry": f"{__name__}:undocumented"}, "undocumented has no docstring; say what the caller gets"),
]


def undocumented(context: Context) -> int:
    return 1


@pytest.mark.parametrize(("changed", "sentence"), DECLARED, ids=[sentence[:40] for _, sentence in DECLARED])
def test_a_twin_that_is_declared_wrongly_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check(replace(TELL, **changed))


def crash(context: Context) -> int:
    """A traceback for a file that is missing."""
    return len(context.inputs["verdict"].read_bytes())


def leave(context: Context) -> int:
    """Ends the process by itself."""
    sys.exit(1)


def believe(context: Context) -> int:
    """Takes anything for a verdict."""
    return 0


def answer_nothing(context: Context) -> None:
    """Forgets its exit code."""


def answer_much(context: Context) -> int:
    """An exit code that no process can have."""
    return 256


def litter(context: Context) -> int:
    """Writes beside its outputs."""
    Path("notes.txt").write_text("told them")
    return 1


def tamper(context: Context) -> int:
    """Repairs its input."""
    context.inputs["verdict"].parent.mkdir(parents=True, exist_ok=True)
    context.inputs["verdict"].write_text("pass")
    return 1


def believe_all(context: Context) -> Status:
    """Takes anything for a verdict."""
    return Status(status="ok")


RUNNING: list[tuple[Component, Callable[[Context], object], str]] = [
    (TELL, crash, "raised FileNotFoundError: .* when its inputs were missing; raise a ChaosgateError that says"),
    (TELL, leave, "left the process with 1 when its inputs were missing; return, or raise an error"),
    (TELL, believe, "ended with exit code 0 when its inputs were missing; one from 1 to 255 is owed"),
    (TELL, answer_nothing, "raised TypeError: .* when its inputs were missing"),
    (TELL, answer_much, "ended with exit code 256 when its inputs were missing"),
    (TELL, litter, r"wrote notes\.txt; only its outputs may be written"),
    (TELL, tamper, r"wrote in/verdict/verdict\.json; only its outputs may be written"),
    (JUDGE, crash, "raised FileNotFoundError: .* when its inputs were missing"),
    (JUDGE, believe_all, "was ok with exit code 0 when its inputs were missing; fail or decline, and end with 0"),
]


@pytest.mark.parametrize(("sound", "function", "sentence"), RUNNING, ids=[sentence[:40] for *_, sentence in RUNNING])
def test_a_twin_that_behaves_wrongly_is_refused(
    sound: Component, function: Callable[[Context], object], sentence: str
) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check(replace(sound, entry=f"{__name__}:{function.__name__}"))


def only_missing(context: Context) -> int:
    """Looks whether its input is there, and not at what it holds."""
    return 0 if context.inputs["verdict"].exists() else 1


def only_empty(context: Context) -> int:
    """Looks whether its input holds anything."""
    return 0 if _there(context.inputs["verdict"]) else 1


def grow(context: Context) -> int:
    """Adds to its input."""
    if context.inputs["verdict"].exists():
        with context.inputs["verdict"].open("a") as file:
            file.write("seen")
    return 1


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (only_missing, "ended with exit code 0 when its inputs were empty"),
        (only_empty, "ended with exit code 0 when its inputs were cut short"),
        (grow, r"changed in/verdict/verdict\.json; inputs are read only"),
    ],
)
def test_each_way_an_input_can_be_broken_is_tried(function: Callable[[Context], int], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check(replace(TELL, entry=f"{__name__}:{function.__name__}"))


def test_a_component_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConformanceError, match=r"component 'twin\.tell': is not registered; hand it to register"):
        check_component(TELL, {"to-whom": "somebody"})


def test_values_are_needed_for_all_arguments() -> None:
    COMPONENTS[TELL.name] = TELL
    with pytest.raises(ConformanceError, match="was checked with values for no argument; give one for each of to-whom"):
        check_component(TELL)
