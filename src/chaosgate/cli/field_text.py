"""A field's documentation as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from chaosgate.cli.fields import Field, Form, Key
from chaosgate.cli.yaml_lines import entry_lines, flow, yaml_lines

WIDTH = 100


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
        yield from textwrap.wrap(words, WIDTH, initial_indent="  allowed  ", subsequent_indent=" " * 11)
    for paragraph in filter(None, form.description.split("\n\n")):
        yield ""
        yield from textwrap.wrap(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  ")
    if form.keys:
        yield ""
        yield "  keys (* is needed)"
        width = max(len(key.name) for key in form.keys) + 1
        for key in form.keys:
            yield from _key_lines(key, width)


def _key_lines(key: Key, width: int) -> list[str]:
    name = f"    {key.name + ('*' if key.needed else ''):<{width}}  "
    said = f"{key.type}: {key.description}" if key.description else key.type
    return textwrap.wrap(said, WIDTH + 10, initial_indent=name, subsequent_indent=" " * len(name))


def _example_lines(field: Field) -> list[str]:
    """The value with its key before it, or as the item of a list."""
    last = field.path.rpartition(".")[2]
    if last.endswith("]"):
        first, *rest = yaml_lines(field.example, 2)
        return [f"- {first.strip()}", *rest]
    return entry_lines(last, field.example)
