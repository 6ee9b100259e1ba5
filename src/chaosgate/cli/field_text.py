"""A field's documentation as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from chaosgate.cli.fields import Field, Form, Key
from chaosgate.cli.width import fold, text_width
from chaosgate.cli.yaml_lines import entry_lines, flow, yaml_lines

WIDTH = 100
MARGIN = 2
"""Columns before an example."""


def field_text(field: Field) -> str:
    """The field with its type, default and limits, what it means, its keys and an example."""
    of_profile = field.document == "ChaosProfile"
    lines = [field.path + ("  (of a ChaosProfile)" if of_profile else ""), ""]
    for form in field.forms:
        if form.kinds:
            lines += [f"for {', '.join(form.kinds)}", ""]
        lines += [*_form_lines(form), ""]
    if field.example is not None:
        lines += ["EXAMPLE", *(f"  {line}" for line in _example_lines(field)), ""]
    return "\n".join(lines).rstrip()


def _form_lines(form: Form) -> Iterator[str]:
    yield f"  type     {form.type}{', needed' if form.needed else ''}"
    if form.default is not None:
        yield f"  default  {flow(form.default)}"
    if form.allowed:
        words = ", ".join(form.allowed)
        yield from fold(words, WIDTH, "  allowed  ")
    for paragraph in filter(None, form.description.split("\n\n")):
        yield ""
        yield from fold(paragraph, WIDTH, "  ")
    if form.keys:
        yield ""
        yield "  keys (* is needed)"
        width = max(len(key.name) for key in form.keys) + 1
        for key in form.keys:
            yield from _key_lines(key, width)


def _key_lines(key: Key, width: int) -> list[str]:
    name = f"    {key.name + ('*' if key.needed else ''):<{width}}  "
    said = f"{key.type}: {key.description}" if key.description else key.type
    return fold(said, WIDTH + 10, name)


def _example_lines(field: Field) -> list[str]:
    """The value with its key before it, or as the item of a list."""
    last = field.path.rpartition(".")[2]
    width = text_width(WIDTH + 10) - MARGIN
    if last.endswith("]"):
        first, *rest = yaml_lines(field.example, 2, width)
        return [f"- {first.strip()}", *rest]
    return entry_lines(last, field.example, width)
