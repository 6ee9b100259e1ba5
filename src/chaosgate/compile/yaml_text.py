"""Plain data as YAML that every reader takes as it was meant: Python's, Go's and those of YAML 1.2."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

WIDTH = 1 << 16
"""Characters after which a line is folded: never, so that no placeholder is broken in two."""
_AMBIGUOUS = re.compile(r"[-+]?[._]*[0-9][^.]*(\.[^.]*)?$|[yYnN]$")
"""Text that one of the readers takes for a number or, as `y` and `n`, for a truth value; PyYAML quotes only some of it.

From resolve.go of https://github.com/yaml/go-yaml (v2), with which Argo and Kubeflow Pipelines read YAML.
"""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes text of several lines as a block, and quotes what may look like another type.

    Plain data is turned into nodes without PyYAML's search for aliases, which takes half of the time and finds none.
    """

    def represent_data(self, data: Any) -> yaml.Node:
        """The node of `data`."""
        match data:
            case str():
                style = "|" if "\n" in data else "'" if _AMBIGUOUS.match(data) else None
                return yaml.ScalarNode("tag:yaml.org,2002:str", data, style=style)
            case dict():
                pairs = [(self.represent_data(key), self.represent_data(value)) for key, value in data.items()]
                return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=False)
            case list():
                items = [self.represent_data(item) for item in data]
                return yaml.SequenceNode("tag:yaml.org,2002:seq", items, flow_style=False)
            case _:
                node: yaml.Node = super().represent_data(data)
                return node


def yaml_text(comments: Iterable[str], documents: Iterable[Any]) -> str:
    """The documents below lines of comment, keys in their order; the same bytes for the same content."""
    body: str = yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return "".join(f"# {line}\n" for line in comments) + body
