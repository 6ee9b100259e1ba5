"""The command `catalogue`: which kinds there are, one of them in depth, and how much of the promises is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosgate.cli.completion import complete_kinds
from chaosgate.cli.options import output_option
from chaosgate.cli.width import fold, text_width
from chaosgate.errors import UsageError

if TYPE_CHECKING:
    from chaosgate.cli.kinds import KindPage

WIDTH = 100


@click.command()
@click.argument("kind", metavar="[KIND]", required=False, shell_complete=complete_kinds)
@click.option("--coverage", "show_coverage", is_flag=True, help="Promises kept and open; exit code 1 if a row lies.")
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), default="catalogue.yaml", help="The rows.")
@output_option
def catalogue(kind: str | None, show_coverage: bool, file: Path, output: str) -> None:
    """List faults, filters, SLIs, fits, breakers, prompt sets and components, or tell all of one KIND: wire.latency."""
    if show_coverage and kind is not None:
        raise UsageError("--coverage looks at all kinds; leave KIND out")
    if show_coverage:
        from chaosgate.cli.coverage import print_coverage

        print_coverage(file, output)
    elif kind is not None:
        from chaosgate.cli.kinds import find_page

        page = find_page(kind)
        test = test_of(page, file)
        click.echo(
            json.dumps({**page.to_json(), "test": test}, indent=2) if output == "json" else page_text(page, test)
        )
    elif output == "json":
        click.echo(json.dumps(kinds(), indent=2))
    else:
        print_kinds(kinds())


def kinds() -> list[dict[str, str]]:
    """Every kind in short: its sort, name, what it acts on or is measured in, its first sentence and its origin."""
    from chaosgate.cli.kinds import all_kinds, page_of

    pages = (page_of(sort, name) for sort, names in all_kinds().items() for name in names)
    return [
        {"sort": page.sort, "name": page.name, "about": page.about, "summary": page.summary, "status": page.status}
        for page in pages
    ]


def print_kinds(rows: list[dict[str, str]]) -> None:
    """The table of kinds."""
    from rich.table import Table
    from rich.text import Text

    from chaosgate.cli.console import make_console

    table = Table("sort", "kind", "on or in", "what", "status", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(row[key]) for key in ("sort", "name", "about", "summary", "status")))
    make_console().print(table)
    click.echo("\none in depth: chaosgate catalogue KIND")


def test_of(page: KindPage, file: Path) -> str | None:
    """The test that shows the kind, by the rows of the catalogue; None where they are not at hand."""
    from chaosgate.cli.coverage import read_catalogue

    try:
        rows = read_catalogue(file)
    except UsageError:
        # There is none, or it is another project's.
        return None
    return next((row.test for row in rows if (row.kind, row.name) == (page.sort, page.name)), None)


def page_text(page: KindPage, test: str | None) -> str:
    """A kind in depth for a terminal."""
    lines = [f"{page.name}  ({page.sort}, {page.status})", ""]
    for paragraph in page.description.split("\n\n"):
        lines += [*fold(paragraph, WIDTH), ""]
    lines += [*_facts(page), *_parameters(page), *_example(page)]
    lines.append(f"tested by  {test}" if test else f"defined in {page.module}")
    return "\n".join(lines)


def _facts(page: KindPage) -> Iterator[str]:
    width = max((len(label) for label, _ in page.facts), default=0)
    for label, text in page.facts:
        yield from fold(text, WIDTH + 10, f"{label:<{width}}  ")
    yield ""


def _parameters(page: KindPage) -> Iterator[str]:
    if not page.parameters:
        return
    from chaosgate.cli.yaml_lines import flow

    yield "parameters (* is needed)"
    for one in page.parameters:
        default = "" if one.default is None else f", default {flow(one.default)}"
        allowed = f" ({', '.join(one.allowed)})" if one.allowed else ""
        yield from fold(
            f"{one.name}{'*' if one.needed else ''}: {one.type}{allowed}{default}", WIDTH + 10, "  ", "    "
        )
        yield from fold(one.description, WIDTH, "    ")
    yield ""


def _example(page: KindPage) -> Iterator[str]:
    yield f"example ({page.place})"
    lines = example_lines(page.example, text_width(WIDTH + 10) - 2)
    if isinstance(page.example, str):
        # As a shell takes it: what is folded goes on behind a backslash.
        *folded, last = fold(page.example, WIDTH + 8, further="  ")
        lines = [*(f"{line} \\" for line in folded), last]
    yield from (f"  {line}" for line in lines)
    yield ""


def example_lines(example: Any, width: int = WIDTH + 10) -> list[str]:
    """The example as it is pasted: an item of a list, a key of a mapping, or a command line."""
    from chaosgate.cli.yaml_lines import yaml_lines

    if example is None:
        return ["nothing general can be written: it needs parameters of its own"]
    if isinstance(example, str):
        return [example]
    # Every item of a list of a spec has a name or a kind.
    if not {"name", "kind"} & set(example):
        return yaml_lines(example, 0, width)
    first, *rest = yaml_lines(example, 2, width)
    return [f"- {first.strip()}", *rest]
