"""What each field of a spec or a profile means, read off the models from which their JSON Schemas are generated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from chaosgate.cli.example import example_data
from chaosgate.cli.field_words import allowed_words, model_of, short_type, type_words
from chaosgate.errors import UsageError
from chaosgate.model.annotations import branches, dimension_of, either, keys_of, of_field, strip, tag_of
from chaosgate.model.base import Frozen
from chaosgate.model.breaker import BREAKERS, Breaker
from chaosgate.model.fault import FAULTS, Fault
from chaosgate.model.filter import FILTERS, Filter
from chaosgate.model.fit import FITS, Fit
from chaosgate.model.profile import ChaosProfile
from chaosgate.model.spec import ChaosSpec
from chaosgate.registry import Registry, nearest
from chaosgate.units import format_value

ITEM = "[]"
NAME = "NAME"
"""Stands for any key of a mapping whose keys are names."""
MISSING = object()
_TOKEN = re.compile(r"\[[^\[\]]*\]|[^.\[\]]+")
_PATH = re.compile(r"[^.\[\]]+(\[[^\[\]]*\]|\.[^.\[\]]+)*")
_KINDS: dict[type[BaseModel], Registry[Any]] = {Fault: FAULTS, Fit: FITS, Breaker: BREAKERS, Filter: FILTERS}


@dataclass(frozen=True)
class Key:
    """One key of a mapping."""

    name: str
    needed: bool
    type: str
    description: str


@dataclass(frozen=True)
class Form:
    """What a field means, for all or, where kinds differ, for `kinds`."""

    kinds: tuple[str, ...]
    type: str
    needed: bool
    default: Any
    """As it is written in a spec; None where there is none."""
    allowed: tuple[str, ...]
    """The words that may be written, or the limits of a number."""
    description: str
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True)
class Field:
    """A field of a document, with an example where there is one."""

    path: str
    document: Literal["ChaosSpec", "ChaosProfile"]
    forms: tuple[Form, ...]
    example: Any = None

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        return asdict(self)


@dataclass(frozen=True)
class _Node:
    """A place in a document: what may stand there, and the field that says so; for an `item` of it or one of its
    values, too."""

    annotation: Any
    field: FieldInfo | None = None
    owner: type[BaseModel] | None = None
    kind: str | None = None
    item: bool = False

    @property
    def needed(self) -> bool:
        """Whether its key must be given."""
        return self.field is not None and not self.item and self.field.is_required()


_ROOTS: dict[Literal["ChaosSpec", "ChaosProfile"], type[BaseModel]] = {
    "ChaosSpec": ChaosSpec,
    "ChaosProfile": ChaosProfile,
}


def find_field(path: str) -> Field:
    """The field at `path`, such as `spec.faults[].dose` or `spec.faults[wire.error].status`.

    A UsageError names the nearest path there is.
    """
    tokens = _TOKEN.findall(path) if _PATH.fullmatch(path) else []
    for document, root in _ROOTS.items():
        nodes = _walk([_Node(root)], tokens) if tokens else []
        if nodes:
            example = _example(example_data(document), tokens)
            return Field(path, document, tuple(_forms(nodes)), None if example is MISSING else example)
    raise UsageError(_unknown(path, tokens))


@cache
def known_paths() -> tuple[str, ...]:
    """Every path of a spec, in the order of its form, then those that only a profile has."""
    return tuple(dict.fromkeys(path for root in _ROOTS.values() for path in _paths([_Node(root)], "")))


def _paths(nodes: Sequence[_Node], prefix: str) -> Iterator[str]:
    for token in dict.fromkeys(token for node in nodes for token in _children(node)):
        below = _step(nodes, token)
        path = prefix + token if token == ITEM else f"{prefix}.{token}".lstrip(".")
        # A list of kinds of which none is registered has no items.
        if below:
            yield path
            yield from _paths(below, path)


def _walk(nodes: Sequence[_Node], tokens: Sequence[str]) -> Sequence[_Node]:
    for token in tokens:
        nodes = _step(nodes, token)
    return nodes


def _step(nodes: Sequence[_Node], token: str) -> list[_Node]:
    """Where `token` leads from any of `nodes`. `[3]` is any item, `[wire.error]` one of that kind."""
    inside = token[1:-1] if token.startswith("[") else None
    wanted = ITEM if inside is not None else token
    items = [kind for node in nodes for child in _child(node, wanted) for kind in _of_kinds(child)]
    return [item for item in items if item.kind == inside] if inside and not inside.isdigit() else items


def _child(node: _Node, token: str) -> Sequence[_Node]:
    children = _children(node)
    return children.get(token, children.get(NAME, ()) if token != ITEM else ())


def _children(node: _Node) -> dict[str, list[_Node]]:
    """The places below `node` by what leads to them: keys, `NAME` or `[]`; of a union one for each form that has it."""
    found: dict[str, list[_Node]] = {}
    for branch in map(strip, branches(strip(node.annotation))):
        if (model := model_of(branch)) is not None:
            for key, field in keys_of(model).items():
                found.setdefault(key, []).append(_Node(of_field(field), field, model, node.kind))
        elif get_origin(branch) in (dict, tuple):
            token, inner = (NAME, get_args(branch)[1]) if get_origin(branch) is dict else (ITEM, get_args(branch)[0])
            if inner is Any:
                # Of a document in another language, such as a JSON Schema, nothing is known below.
                continue
            # A mapping says of itself what it is; of a plain value what it stands in does.
            told = node.field if model_of(strip(inner)) is None else None
            found.setdefault(token, []).append(replace(node, annotation=inner, field=told, item=True))
    return found


def _of_kinds(node: _Node) -> list[_Node]:
    """The node, or one for each kind of what stands there."""
    bare = strip(node.annotation)
    registry = _KINDS.get(bare) if isinstance(bare, type) else None
    if registry is None:
        return [node]
    return [replace(node, annotation=kind, kind=name) for name, kind in registry.items()]


def _forms(nodes: Sequence[_Node]) -> list[Form]:
    """One form for all nodes that say the same; choices of different kinds are one field with several words."""
    if len(nodes) > 1 and all(node.field is None for node in nodes):
        return [_any_kind(nodes)]
    forms: list[Form] = []
    for node in nodes:
        form = _form(node)
        at = next((index for index, known in enumerate(forms) if _same(known, form)), None)
        if at is None:
            forms.append(form)
        else:
            words = tuple(dict.fromkeys((*forms[at].allowed, *form.allowed)))
            forms[at] = replace(forms[at], kinds=forms[at].kinds + form.kinds, allowed=words)
    return forms if len(forms) > 1 else [replace(forms[0], kinds=())]


def _same(one: Form, other: Form) -> bool:
    """Whether two forms differ in nothing but whose they are and, for choices, in the words."""
    plain = [replace(form, kinds=(), allowed=() if form.type == "choice" else form.allowed) for form in (one, other)]
    return plain[0] == plain[1]


def _any_kind(nodes: Sequence[_Node]) -> Form:
    """An item that may be of several kinds: the keys that all of them have."""
    keys = [_form(node).keys for node in nodes]
    common = tuple(key for key in keys[0] if all(key.name in {other.name for other in more} for more in keys))
    kinds = tuple(str(node.kind) for node in nodes)
    more = f"One of these kinds, each with keys of its own: put it into the brackets, such as [{kinds[0]}]."
    return Form((), "mapping", False, None, kinds, more, common)


def _form(node: _Node) -> Form:
    return Form(
        kinds=(node.kind,) if node.kind else (),
        type=type_words(node.annotation),
        needed=node.needed,
        default=_default(node),
        allowed=tuple(allowed_words(node.annotation)),
        description=_description(node),
        keys=tuple(_key(name, found, node) for name, found in _children(node).items() if name not in (ITEM, NAME)),
    )


def _key(name: str, found: Sequence[_Node], parent: _Node) -> Key:
    """A key of `parent`; where that has several forms, told apart by a word, it says which of them have it."""
    told = _description(found[0]).split("\n\n")[0]
    union = strip(parent.annotation)
    tag = tag_of(union)
    if tag == name:
        told = " ".join(f"`{'`, `'.join(allowed_words(node.annotation))}`: {_doc_of(node)}" for node in found)
    elif tag is not None and len(found) < len(branches(union)):
        words = [word for node in found if node.owner for word in _words(node.owner, tag)]
        told = f"{told} With {either(words)}."
    needed = all(node.needed for node in found)
    return Key(name, needed, short_type(found[0].annotation).removeprefix("a "), told)


def _words(model: type[BaseModel], tag: str) -> Sequence[str]:
    return tuple(allowed_words(of_field(keys_of(model)[tag])))


def _doc_of(node: _Node) -> str:
    return _doc(node.owner).split("\n\n")[0] if node.owner else ""


def _default(node: _Node) -> Any:
    if node.field is None or node.item or node.field.is_required():
        return None
    value = node.field.get_default(call_default_factory=True)
    dimension = dimension_of(node.annotation)
    if dimension is not None and isinstance(value, float):
        return format_value(value, dimension)
    return _Default(value=value).model_dump(mode="json")["value"]


class _Default(BaseModel):
    """Writes a default as it is written in a spec."""

    value: Any


def _description(node: _Node) -> str:
    """What the field says of itself, and what the mapping that stands there says."""
    said = _own_description(node)
    model = model_of(strip(node.annotation))
    about = _doc(model) if model is not None else ""
    if about.startswith(said.rstrip(".")):
        return about
    return f"{said}\n\n{about}" if about else said


def _own_description(node: _Node) -> str:
    """The field's docstring; a kind that only narrows a field of its base need not repeat it."""
    if node.field is None or node.owner is None:
        return ""
    name = next(name for name, field in node.owner.model_fields.items() if field is node.field)
    owners = (base for base in node.owner.__mro__ if issubclass(base, BaseModel) and name in base.model_fields)
    return next((text for owner in owners if (text := owner.model_fields[name].description)), "")


def _doc(model: type[BaseModel]) -> str:
    """The docstring of the model, or of the one that it only narrows."""
    written = (base.__dict__.get("__doc__") for base in model.__mro__ if base not in (Frozen, BaseModel, object))
    text = next(filter(None, written), "")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _example(data: Any, tokens: Sequence[str]) -> Any:
    """What stands at the path in the example: of a list, in the first item that has it. MISSING where nothing does."""
    if not tokens:
        return data
    token, *rest = tokens
    if token.startswith("["):
        kind = token[1:-1]
        items = [item for item in data if _is_kind(item, kind)] if isinstance(data, list) else []
        return next((found for item in items if (found := _example(item, rest)) is not MISSING), MISSING)
    if not isinstance(data, dict):
        return MISSING
    key = next(iter(data), None) if token == NAME else token
    return _example(data[key], rest) if key in data else MISSING


def _is_kind(item: Any, kind: str) -> bool:
    return not kind or kind.isdigit() or (isinstance(item, dict) and item.get("kind") == kind)


def _unknown(path: str, tokens: Sequence[str]) -> str:
    """The sentence for a path that leads nowhere: the nearest key where it goes wrong, else the nearest path."""
    known = known_paths()
    mended = filter(None, (_mended(root, tokens) for root in _ROOTS.values()))
    near = _elsewhere(path) or nearest(path, mended) or _ending_like(path, known) or nearest(path, known)
    if near is None:
        return f"unknown field {path!r}, and no spec's file; fields begin with {', '.join(keys_of(ChaosSpec))}"
    return f"unknown field {path!r}; did you mean {near!r}?"


def _elsewhere(path: str) -> str | None:
    """The path with the `spec.` that it lacks, or without one that is too many."""
    for other in (f"spec.{path}", path.removeprefix("spec.")):
        tokens = _TOKEN.findall(other) if _PATH.fullmatch(other) else []
        if tokens and _walk([_Node(ChaosSpec)], tokens):
            return other
    return None


def _ending_like(path: str, known: Sequence[str]) -> str | None:
    """The path that ends in the same key: of several the one of the fewest keys, then the first."""
    last = path.rpartition(".")[2]
    return min((one for one in known if one.rpartition(".")[2] == last), key=lambda one: one.count("."), default=None)


def _mended(root: type[BaseModel], tokens: Sequence[str]) -> str | None:
    """The path with its first wrong key replaced by the nearest one, cut off where it is still wrong."""
    nodes: Sequence[_Node] = [_Node(root)]
    for index, token in enumerate(tokens):
        following = _step(nodes, token)
        if following:
            nodes = following
            continue
        keys = dict.fromkeys(key for node in nodes for key in _children(node))
        if not token.startswith("[") and _step(nodes, ITEM):
            return _mended(root, [*tokens[:index], ITEM, *tokens[index:]])
        near = nearest(token, keys)
        if near is None or near in (NAME, ITEM):
            return None
        whole = [*tokens[:index], near, *tokens[index + 1 :]]
        return _joined(whole if _walk([_Node(root)], whole) else whole[: index + 1])
    return _joined(tokens)


def _joined(tokens: Sequence[str]) -> str:
    return "".join(token if token.startswith("[") else f".{token}" for token in tokens).lstrip(".")
