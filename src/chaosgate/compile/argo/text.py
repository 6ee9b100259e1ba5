"""A workflow as text: YAML that Argo reads as it was meant, and a spec into which Argo fills nothing."""

from __future__ import annotations

import re
from typing import Any

import yaml

from chaosgate.artifacts import SPEC, document_text, spec_identity
from chaosgate.model.spec import ChaosSpec

WIDTH = 4096
"""Characters after which a line is folded: never, so that no placeholder is broken in two."""
_AMBIGUOUS = re.compile(r"[-+.]?[0-9]|.$")
"""Text that YAML 1.1 may take for a number or, as `y` and `n`, for a truth value; PyYAML quotes only some of it."""
_OPENING = re.compile(r"\{(?=\{)")
_NOT_ASCII = re.compile(r"[^\n -~]")


class _Dumper(yaml.CSafeDumper):
    """Puts names first, writes text of several lines as a block, and quotes what may look like another type.

    Plain data is turned into nodes without PyYAML's search for aliases, which takes half of the time and finds none.
    """

    def represent_data(self, data: Any) -> yaml.Node:
        """The node of `data`."""
        if isinstance(data, str):
            style = "|" if "\n" in data else "'" if _AMBIGUOUS.match(data) else None
            return yaml.ScalarNode("tag:yaml.org,2002:str", data, style=style)
        if isinstance(data, dict):
            items = sorted(data.items(), key=lambda item: item[0] != "name")
            pairs = [(self.represent_data(key), self.represent_data(value)) for key, value in items]
            return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=False)
        if isinstance(data, list):
            values = [self.represent_data(value) for value in data]
            return yaml.SequenceNode("tag:yaml.org,2002:seq", values, flow_style=False)
        node: yaml.Node = super().represent_data(data)
        return node


def workflow_text(comment: str, workflow: dict[str, Any]) -> str:
    """The YAML of `workflow` below a line of comment; the same bytes each time."""
    body: str = yaml.dump(workflow, Dumper=_Dumper, allow_unicode=True, width=WIDTH)
    return f"# {comment}\n{body}"


def spec_text(spec: ChaosSpec) -> str:
    """The file of `spec` as a raw artifact carries it: as JSON equal to what `write_spec` writes.

    Argo fills in whatever stands between `{{` and `}}` anywhere in a workflow, and YAML knows line ends and control
    characters that JSON does not: both are written as JSON's escapes.
    """
    text = document_text(SPEC, spec_identity(spec), spec)
    return _NOT_ASCII.sub(_printable, _OPENING.sub(r"\\u007b", text))


def _printable(found: re.Match[str]) -> str:
    """The character, as an escape of JSON where it cannot be printed."""
    if found[0].isprintable():
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
