"""`make generate`: write every file that is derived from the code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from chaosgate.model.schema import schema_text

GENERATED: dict[str, Callable[[], str]] = {"schemas/chaos-spec.v1.json": schema_text}


def generate(root: Path) -> list[Path]:
    """Write the generated files below `root` and return those that changed."""
    changed = []
    for name, text in GENERATED.items():
        path = root / name
        if not path.exists() or path.read_text() != text():
            path.write_text(text())
            changed.append(path)
    return changed


if __name__ == "__main__":
    for path in generate(Path.cwd()):
        print(f"wrote {path}")
