"""Where kinds (faults, SLIs, fits, breakers, filters, scorers) are found by name, each once; near names are suggested.

Built-in kinds are the modules of the family packages below; strangers add theirs through the entry-point group
`chaosgate.plugins`, whose entries name modules that register their kinds when they are imported.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from chaosgate.errors import RegistryError, one_line

PLUGIN_GROUP = "chaosgate.plugins"
BUILT_IN_PACKAGES = (
    "chaosgate.faults",
    "chaosgate.slis",
    "chaosgate.fits",
    "chaosgate.breakers",
    "chaosgate.filters",
    "chaosgate.scorers",
)

KIND_NAME = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
"""A family and a kind, such as `wire.latency`, or one word: what is written in a spec and becomes a file's name."""

Kind = TypeVar("Kind")


class Registry(Generic[Kind]):
    """The kinds of one sort, by name. Looking anything up loads the built-in kinds and the plug-ins once."""

    def __init__(self, noun: str, base: type = object) -> None:
        self.noun, self.base = noun, base
        self._kinds: dict[str, type[Kind]] = {}

    def register(self, name: str) -> Callable[[type[Kind]], type[Kind]]:
        """A class decorator that files the class under `name`.

        A `RegistryError` for a name that is taken, a name that nobody could write, and a class that is no `base`.
        """
        if not isinstance(name, str) or not KIND_NAME.fullmatch(name):
            raise RegistryError(f"{self.noun}: read the name {name!r}; write small letters, digits, dots and dashes")

        def add(kind: type[Kind]) -> type[Kind]:
            if not (isinstance(kind, type) and issubclass(kind, self.base)):
                raise RegistryError(f"{self.noun} {name!r}: read {kind!r}; derive its class from {_origin(self.base)}")
            taken = self._kinds.get(name)
            if taken is not None and _origin(taken) != _origin(kind):
                raise RegistryError(
                    f"{self.noun} {name!r} is registered twice: by {_origin(taken)} and by {_origin(kind)}; rename one"
                )
            self._kinds[name] = kind
            return kind

        return add

    def get(self, name: str) -> type[Kind]:
        """The kind called `name`, or a `RegistryError` that lists the nearest known names."""
        load_kinds()
        if name not in self._kinds:
            raise RegistryError(unknown(self.noun, name, self._kinds))
        return self._kinds[name]

    def names(self) -> list[str]:
        """All names, sorted."""
        load_kinds()
        return sorted(self._kinds)

    def items(self) -> Iterator[tuple[str, type[Kind]]]:
        """Name and class of every kind, sorted by name."""
        return iter([(name, self._kinds[name]) for name in self.names()])

    def __contains__(self, name: object) -> bool:
        load_kinds()
        return name in self._kinds


def _origin(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that is not known: what was read, the nearest known name, or all of them."""
    known = sorted(known)
    if near := nearest(name, known):
        return f"unknown {noun} {name!r}; did you mean {near!r}?"
    return f"unknown {noun} {name!r}; known: {', '.join(known) or 'none'}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` most likely stands for, if any comes near."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)), None)


_loaded = False


def load_kinds() -> None:
    """Import every built-in kind and every plug-in, once a process. A plug-in that fails to import is named."""
    global _loaded
    if _loaded:
        return
    # Set first, for a module that looks up a kind while it is imported; taken back, so that a failure shows every time.
    _loaded = True
    try:
        _load_all()
    except BaseException:
        _loaded = False
        raise


def _load_all() -> None:
    for package in BUILT_IN_PACKAGES:
        _import_below(package)
    for entry in entry_points(group=PLUGIN_GROUP):
        try:
            # Standard output holds a document that another program reads.
            with contextlib.redirect_stdout(sys.stderr):
                entry.load()
        except RegistryError:
            raise
        # A module that exits while it is imported would end the command with an exit code that reads as an answer.
        except (Exception, SystemExit) as error:
            said = (
                (one_line(str(error)) or type(error).__name__)
                if isinstance(error, Exception)
                else f"it exits with {error.code!r}"
            )
            raise RegistryError(
                f"plug-in {entry.name!r} ({entry.value}) failed to load: {said}; repair or uninstall it"
            ) from error


def _import_below(package: str) -> None:
    root = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, prefix=package + "."):
        importlib.import_module(module.name)
