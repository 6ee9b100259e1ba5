"""What a component owes: known ports, words a command line can hold, and an answer to inputs that are broken."""

from __future__ import annotations

import contextlib
import inspect
import io
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chaosgate.artifacts import ARTIFACTS, STATUS, Identity, read_document
from chaosgate.components.__main__ import main, parse
from chaosgate.components.definition import COMPONENTS, Component, Context, Port, check_definition
from chaosgate.conformance.common import ConformanceError
from chaosgate.errors import RegistryError
from chaosgate.model.base import Frozen
from chaosgate.registry import load_kinds

RUN = "conformance"
STEP = "some-step"
"""The step that every input of a port that takes many comes from."""

BROKEN: dict[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "cut short": b'{"schema": "chaosgate/verdict/v1", "run": "conf',
    "of another program": b'{"schema": "another/file/v9", "content": {}}\n',
    "no text at all": bytes(range(256)),
}
"""What stands where an input should be, by its name; None where nothing stands."""
ABSENT = ("missing", "empty")
"""What every component can notice: a page for people has no form that a reader could check."""


def check_component(component: Component, arguments: Mapping[str, str] | None = None) -> None:
    """Check a registered component; a ConformanceError says what is owed.

    `arguments` has a value for each argument of the component, such as a spec or a profile would give. The component is
    run in this process, in a folder of its own, with inputs that are missing, empty or broken: it must refuse them and
    write nothing but its outputs.
    """
    given = arguments or {}
    _check_registered(component)
    _check_entry(component)
    _check_help(component)
    _check_arguments(component, given)
    _check_command_line(component, given)
    for case in BROKEN if component.inputs else ABSENT[:1]:
        _check_broken_inputs(component, given, case)


def _require(holds: bool, component: Component, sentence: str) -> None:
    if not holds:
        raise _broken(component, sentence)


def _broken(component: Component, sentence: str) -> ConformanceError:
    return ConformanceError(f"component {component.name!r}: {sentence}")


def _check_registered(component: Component) -> None:
    load_kinds()
    _require(COMPONENTS.get(component.name) == component, component, "is not registered; hand it to register")
    try:
        check_definition(component)
    except RegistryError as error:
        raise ConformanceError(str(error)) from error


def _check_entry(component: Component) -> None:
    try:
        function: Callable[[Context], object] = component.function()
    except (ImportError, AttributeError, ValueError) as error:
        raise _broken(
            component, f"its entry {component.entry!r} leads nowhere: {error}; write module:function"
        ) from error
    _require(callable(function), component, f"its entry {component.entry!r} is no function")
    documented = bool(inspect.getdoc(function))
    _require(documented, component, f"{component.entry} has no docstring; say what the caller gets")


def _check_help(component: Component) -> None:
    said = io.StringIO()
    code: object = None
    with contextlib.redirect_stdout(said):
        try:
            parse(component, ["--help"])
        except SystemExit as end:
            code = end.code
    # The help folds long lines, so the words are compared, not the line.
    told = component.summary.split()[0] in said.getvalue()
    _require(code == 0 and told, component, f"--help ended with {code} and said {said.getvalue()!r}")


def _check_arguments(component: Component, given: Mapping[str, str]) -> None:
    wanted = set(component.arguments)
    _require(
        given.keys() == wanted,
        component,
        f"was checked with values for {', '.join(sorted(given)) or 'no argument'}; "
        f"give one for each of {', '.join(component.arguments) or 'none'}",
    )


@dataclass(frozen=True)
class _Room:
    """A folder with a place for each file of a component."""

    component: Component
    folder: Path

    def input(self, port: Port) -> Path:
        return self.folder / "in" / port.name / port.file

    def output(self, port: Port) -> Path:
        return self.folder / "out" / port.file

    def outputs(self) -> dict[str, Path]:
        return {port.name: self.output(port) for port in self.component.outputs}

    def words(self, arguments: Mapping[str, str]) -> list[str]:
        """The command line, from the component's name on."""
        inputs = [(port.name, STEP, str(self.input(port))) for port in self.component.inputs]
        carrier = ("--run", RUN, "--state", str(self.folder / "state"))
        outputs = {port: str(path) for port, path in self.outputs().items()}
        return self.component.argv(carrier, arguments, inputs, outputs)[2:]

    def fill(self, data: bytes | None) -> None:
        """Let `data` stand where each input is looked for."""
        for port in self.component.inputs:
            if data is not None:
                self.input(port).parent.mkdir(parents=True)
                self.input(port).write_bytes(data)

    def files(self) -> dict[Path, bytes]:
        """Everything in the folder."""
        return {path: path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file()}


@contextlib.contextmanager
def _room(component: Component) -> Iterator[_Room]:
    """A fresh folder, which is the working directory as well: whatever is written beside the outputs is seen."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield _Room(component, Path(folder))


def _check_command_line(component: Component, arguments: Mapping[str, str]) -> None:
    with _room(component) as room:
        context = parse(component, room.words(arguments)[1:])
        _require(
            context.arguments == dict(arguments) and context.outputs == room.outputs(),
            component,
            f"its command line {room.words(arguments)} reads back as {context}",
        )


def _check_broken_inputs(component: Component, arguments: Mapping[str, str], case: str) -> None:
    with _room(component) as room:
        room.fill(BROKEN[case])
        before = room.files()
        code = _exit_code(component, room.words(arguments), case)
        _check_refused(component, room, code, case)
        _check_written(component, room, before)


def _exit_code(component: Component, words: Sequence[str], case: str) -> int:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return main(words)
        except SystemExit as end:
            raise _broken(
                component, f"left the process with {end.code} when its inputs were {case}; return, or raise an error"
            ) from end
        except Exception as error:
            raise _broken(
                component,
                f"raised {type(error).__name__}: {error} when its inputs were {case}; raise a ChaosgateError that says "
                "what was read and what to do",
            ) from error


def _check_refused(component: Component, room: _Room, code: int, case: str) -> None:
    """Broken inputs end in a status that is not ok, or in an exit code that is not 0."""
    if not _can_notice(component, case):
        return
    if "status" not in room.outputs():
        _require(
            0 < code < 256,
            component,
            f"ended with exit code {code} when its inputs were {case}; one from 1 to 255 is owed",
        )
        return
    status = read_document(room.outputs()["status"], STATUS, Identity(RUN, None))
    _require(
        code == 0 and status.status != "ok",
        component,
        f"was {status.status} with exit code {code} when its inputs were {case}; fail or decline, and end with 0",
    )


def _can_notice(component: Component, case: str) -> bool:
    """Whether it reads anything that shows when it is broken like that."""
    pages_only = all(ARTIFACTS[port.artifact].model is Frozen for port in component.inputs)
    return bool(component.inputs) and (case in ABSENT or not pages_only)


def _check_written(component: Component, room: _Room, before: Mapping[Path, bytes]) -> None:
    after = room.files()
    allowed = {*before, *room.outputs().values()}
    strange = [str(path.relative_to(room.folder)) for path in after if path not in allowed]
    _require(not strange, component, f"wrote {', '.join(strange)}; only its outputs may be written")
    changed = [str(path.relative_to(room.folder)) for path, data in before.items() if after.get(path) != data]
    _require(not changed, component, f"changed {', '.join(changed)}; inputs are read only")
