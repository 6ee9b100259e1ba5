"""`make generate`: write every file that is derived from the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from chaosgate.model.schema import schema_text

Provider = Callable[[Path], Mapping[str, str]]


def schemas(root: Path) -> dict[str, str]:
    """The JSON Schemas, for editors and for whoever reads our files."""
    return {"schemas/chaos-spec.v1.json": schema_text()}


PROVIDERS: tuple[Provider, ...] = (schemas,)
"""Each takes the repository's root and returns file to text."""


def generated(root: Path) -> dict[str, str]:
    """Every generated file, by its path below `root`."""
    return {name: text for provider in PROVIDERS for name, text in provider(root).items()}


def generate(root: Path) -> list[Path]:
    """Write the generated files below `root` and return those that changed."""
    changed = []
    for name, text in generated(root).items():
        path = root / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            changed.append(path)
    return changed


if __name__ == "__main__":
    for path in generate(Path.cwd()):
        print(f"wrote {path}")
