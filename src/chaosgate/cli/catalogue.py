"""The command `catalogue`: which kinds there are, and how much of the catalogue's promises is kept."""

from __future__ import annotations

import json
from pathlib import Path

import click

from chaosgate.cli.options import output_option


@click.command()
@click.option("--coverage", "show_coverage", is_flag=True, help="Promises kept and open; exit code 1 if a row lies.")
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), default="catalogue.yaml", help="The rows.")
@output_option
def catalogue(show_coverage: bool, file: Path, output: str) -> None:
    """List the registered kinds of faults, SLIs, fits and breakers."""
    if show_coverage:
        from chaosgate.cli.coverage import print_coverage

        print_coverage(file, output)
    else:
        rows = kinds()
        click.echo(json.dumps(rows, indent=2) if output == "json" else kinds_text(rows))


def kinds() -> list[dict[str, str]]:
    """Every registered kind: its sort, name and the first sentence of its docstring."""
    from chaosgate.cli.coverage import REGISTRIES

    return [
        {"sort": sort, "name": name, "what": (kind.__doc__ or "").strip().splitlines()[0]}
        for sort, registry in REGISTRIES.items()
        for name, kind in registry.items()
    ]


def kinds_text(rows: list[dict[str, str]]) -> str:
    """One line a kind."""
    return "\n".join(f"{row['sort']:<8} {row['name']:<14} {row['what']}" for row in rows)
