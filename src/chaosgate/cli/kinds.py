"""What there is to say of each registered kind and component, read off its class: for the terminal and for docs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from chaosgate.cli.coverage import BUILT_IN, REGISTRIES
from chaosgate.cli.example import example_data
from chaosgate.cli.fields import Form, find_field
from chaosgate.components.definition import COMPONENTS, Component, Port
from chaosgate.errors import ChaosgateError, UsageError, one_line
from chaosgate.model.fault import FAULTS, Fault, Goes, Surface
from chaosgate.model.filter import FILTERS, Filter
from chaosgate.model.fit import FITS
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.model.source import Source, parse_source, read_source
from chaosgate.model.template import first_spec
from chaosgate.model.validation import validate, value_at
from chaosgate.prompts.prompt import Prompt
from chaosgate.prompts.sets import maker, prompt_sets
from chaosgate.registry import load_kinds, nearest, unknown
from chaosgate.units import HINTS, Dimension, format_value

COMPONENT = "component"
PROMPT_SET = "prompt-set"
_SHOWN = 60
"""Characters of a prompt that are shown."""
ATOMS = Path("chaos-specs/atoms")
"""The smallest spec of each fault kind, `<kind>.yaml`, in a checkout of chaosgate."""
SURFACES: dict[Surface, str] = {
    "wire": "the run's own requests and answers, in its gateway; no other client of the server is touched",
    "engine": "inside the serving process, for the run's own requests: each of them takes the fault there",
    "cluster": "Kubernetes objects",
    "process": "processes of this machine",
    "retrieval": "what a retrieval step finds",
}
GOES: dict[Goes, str] = {
    "expires": "expires: the gateway ends it 5 s after its injector last renewed it, whoever else is gone",
    "undone": "undone: something must revert it; cleanup does, and the sweeper where nobody else can",
    "healed": "healed: nothing reverts it, the target itself must recover",
}
STATISTICS: dict[Statistic, str] = {
    "quantile": "a distribution: name a percentile, such as {named}",
    "share": "a share of requests",
    "rate": "a sum over a window's requests, a second",
    "mean": "a mean over requests",
    "set": "a number of all requests of a window together; the mean over windows",
}
BOUNDS: dict[Dimension, str] = {
    "duration": "<= 1s",
    "share": "<= 5 %",
    "rate": ">= 10/s",
    "count": "<= 10",
    "number": "<= 10",
}
"""A bound of each dimension, for the example of an SLI of which no better one is known."""


@dataclass(frozen=True)
class Parameter:
    """A key that a kind has besides those of every kind of its sort."""

    name: str
    type: str
    needed: bool
    default: Any
    allowed: tuple[str, ...]
    description: str


@dataclass(frozen=True)
class KindPage:
    """One kind in depth."""

    sort: str
    name: str
    about: str
    """Where it acts or what it is measured in: a fault's surface, an SLI's dimension."""
    summary: str
    description: str
    status: Literal["built-in", "plug-in"]
    facts: tuple[tuple[str, str], ...]
    """Label and text, in the order in which they are read."""
    parameters: tuple[Parameter, ...]
    example: Any
    """What is pasted into a spec; None where nothing general can be written."""
    place: str
    """Where the example belongs, such as `spec.faults`."""
    module: str

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        return {**asdict(self), "facts": [{"label": label, "text": text} for label, text in self.facts]}


def all_kinds() -> dict[str, list[str]]:
    """The names of every kind by its sort, components last."""
    load_kinds()
    kinds = {sort: registry.names() for sort, registry in REGISTRIES.items()}
    return {**kinds, PROMPT_SET: prompt_sets(), COMPONENT: list(COMPONENTS)}


def known_names() -> list[str]:
    """Every name that `find_page` knows."""
    return [name for names in all_kinds().values() for name in names]


def find_page(word: str, atoms: Path = ATOMS) -> KindPage:
    """The kind called `word`, or `sort/name` where two sorts share a name; a UsageError names the nearest one.

    The example of a fault comes from its file in `atoms` where there is one.
    """
    kinds = all_kinds()
    wanted, _, name = word.rpartition("/")
    found = [sort for sort, names in kinds.items() if name in names and wanted in ("", sort)]
    if not found:
        near = nearest(word, known_names())
        raise UsageError(unknown("kind", word, [near] if near else known_names()))
    if len(found) > 1:
        raise UsageError(f"{name!r} is the name of several; write one of {', '.join(f'{s}/{name}' for s in found)}")
    return page_of(found[0], name, atoms)


def page_of(sort: str, name: str, atoms: Path = ATOMS) -> KindPage:
    """The page of a kind that is known."""
    if sort == COMPONENT:
        return _component(COMPONENTS[name])
    if sort == PROMPT_SET:
        return _prompt_set(name)
    kind = REGISTRIES[sort].get(name)
    summary, description = _doc(kind)
    about: dict[str, Any] = {"summary": summary, "description": description, "status": _status(kind.__module__)}
    match sort:
        case "fault":
            about |= _fault(name, FAULTS.get(name), atoms)
        case "sli":
            about |= _sli(name, SLIS.get(name))
        case "filter":
            about |= _filter(name, FILTERS.get(name))
        case _:
            about |= _part(sort, name)
    return KindPage(sort=sort, name=name, module=kind.__module__, **about)


def _status(module: str) -> Literal["built-in", "plug-in"]:
    return "built-in" if module.startswith(BUILT_IN) else "plug-in"


def _doc(kind: object) -> tuple[str, str]:
    """The first paragraph of a docstring, and the whole of it, lines joined."""
    paragraphs = [" ".join(part.split()) for part in (kind.__doc__ or "").split("\n\n") if part.strip()]
    return (paragraphs[0] if paragraphs else ""), "\n\n".join(paragraphs)


def _fault(name: str, kind: type[Fault], atoms: Path) -> dict[str, Any]:
    axis = kind.axis()
    example = _fault_example(name, kind, atoms)
    facts = [
        ("acts on", SURFACES[kind.surface]),
        (
            "dose",
            f"`{axis.parameter}`: {HINTS[axis.dimension]}; more than 0, at most "
            f"{format_value(kind.max_dose, axis.dimension)}",
        ),
        ("goes", GOES[kind.goes]),
        ("witness", _witness(kind, example)),
    ]
    common = ("name", "kind", "select", "shape", "driver", "target", "dose")
    return {
        "about": kind.surface,
        "facts": tuple(facts),
        "parameters": _parameters(f"spec.faults[{name}]", common),
        "example": example,
        "place": "spec.faults",
    }


def _witness(kind: type[Fault], example: Any) -> str:
    """What its witness says of itself, and the number that is read for the example."""
    said = " ".join((kind.witness.__doc__ or "").split())
    if example is None:
        return said
    fault, _ = validate(kind, example)
    assert fault is not None  # the example was taken because it is valid
    return f"{fault.witness(max(fault.dose.values)).what}. {said}"


def _fault_example(name: str, kind: type[Fault], atoms: Path) -> Any:
    """The fault of its atom, else of the spec that `init` would write; None where that needs more than it can know.

    A file of that name may be anybody's and hold anything.
    """
    file = atoms / f"{name}.yaml"
    sources: tuple[Callable[[], Source], ...] = (partial(read_source, file), partial(_first_spec, name))
    for read in sources:
        try:
            listed = value_at(read().data, ("spec", "faults"))
        except ChaosgateError:
            continue
        for fault in listed if isinstance(listed, list) else ():
            if validate(kind, fault)[0] is not None:
                return fault
    return None


def _first_spec(name: str) -> Source:
    return parse_source(first_spec("example", "embedded", "embedded/tiny", None, name), name)


def _sli(name: str, kind: type[Sli]) -> dict[str, Any]:
    quantile = kind.statistic == "quantile"
    named = f"{name}-p95" if quantile else name
    facts = [
        ("unit", HINTS[kind.dimension]),
        ("statistic", STATISTICS[kind.statistic].format(named=named)),
        _of_what(kind),
    ]
    if quantile:
        facts.append(("if it failed", "it counts as infinitely slow"))
    if kind.reads_slo:
        facts.append(("good is", "what keeps every bound of `spec.slo`"))
    if kind.compares:
        facts.append(("compares with", "the prompt's first answer in the baseline"))
    if kind.reads_known:
        facts.append(("reads", "what is known of the prompts"))
    if kind.reads_text:
        facts.append(("keeps", "the texts of the answers, in observations.jsonl"))
    return {
        "about": kind.dimension,
        "facts": tuple(facts),
        "parameters": (),
        "example": _sli_example(named, kind.dimension),
        "place": "spec.objectives",
    }


def _of_what(kind: type[Sli]) -> tuple[str, str]:
    what, described = ("of a window", kind.of) if kind.statistic == "set" else ("of a request", kind.value)
    return what, " ".join((described.__doc__ or "").split())


def _sli_example(name: str, dimension: Dimension) -> Mapping[str, Any]:
    objectives = example_data("ChaosSpec")["spec"]["objectives"]
    known: dict[str, Any] = next((one for one in objectives if one.get("sli") == name), {})
    # Whose doses are meant has to be said only where a spec has several faults.
    return {key: value for key, value in known.items() if key != "fault"} or {
        "name": f"{name}-holds",
        "sli": name,
        "bound": BOUNDS[dimension],
        "at": {"dose": "all"},
    }


def _filter(name: str, kind: type[Filter]) -> dict[str, Any]:
    checks, judges = kind.check is not Filter.check, kind.judge is not Filter.judge
    facts = []
    if checks:
        facts.append(("of a request", _doc(kind.check)[0]))
    if judges:
        facts += [("whose answers", _doc(kind.holds)[0]), ("of an answer", _doc(kind.judge)[0])]
    return {
        "about": " and ".join(what for what, acts in (("requests", checks), ("answers", judges)) if acts),
        "facts": tuple(facts),
        "parameters": _parameters(f"spec.filters[{name}]", ("kind",)),
        "example": next((one for one in example_data("ChaosSpec")["spec"]["filters"] if one["kind"] == name), None),
        "place": "spec.filters",
    }


def _part(sort: str, name: str) -> dict[str, Any]:
    """A fit or a breaker."""
    place = f"spec.{'fits' if sort == 'fit' else 'breakers'}"
    known = next((one for one in example_data("ChaosSpec")["spec"][place[5:]] if one["kind"] == name), None)
    common = ("name", "kind", "fault", "response") if sort == "fit" else ("name", "kind")
    answer = _doc(FITS.get(name).fit)[0] if sort == "fit" else ""
    return {
        "about": "dose response" if sort == "fit" else "wire",
        "facts": (("answers", answer),) if answer else (),
        "parameters": _parameters(f"{place}[{name}]", common),
        "example": known,
        "place": place,
    }


def _parameters(item: str, common: tuple[str, ...]) -> tuple[Parameter, ...]:
    (form,) = find_field(item).forms
    return tuple(
        _parameter(key.name, *find_field(f"{item}.{key.name}").forms) for key in form.keys if key.name not in common
    )


def _parameter(name: str, form: Form) -> Parameter:
    return Parameter(name, form.type, form.needed, form.default, form.allowed, form.description)


def _component(component: Component) -> KindPage:
    requests = component.requests
    facts = [
        ("arguments", ", ".join(component.arguments) or "none"),
        ("reads", ", ".join(map(_port, component.inputs)) or "nothing"),
        ("writes", ", ".join(map(_port, component.outputs)) or "nothing but its exit code"),
        (
            "on a cluster",
            f"asks for {requests.cpu} CPU and {requests.memory} of memory, unless a profile says otherwise",
        ),
    ]
    words = component.argv(
        ("--run", "RUN", "--state", "DIR"),
        {name: name.upper() for name in component.arguments},
        [(port.name, "STEP", port.file) for port in component.inputs],
        {port.name: port.file for port in component.outputs},
    )
    sentence = f"{component.summary[:1].upper()}{component.summary[1:]}."
    return KindPage(
        sort=COMPONENT,
        name=component.name,
        about="step",
        summary=sentence,
        description=sentence,
        status=_status(component.entry),
        facts=tuple(facts),
        parameters=(),
        example=" ".join(("python", *words)),
        place="a command line",
        module=component.entry.partition(":")[0],
    )


def _port(port: Port) -> str:
    return f"{port.name} ({port.file}{' of each step' if port.many else ''})"


def _prompt_set(name: str) -> KindPage:
    make = maker(name)
    summary, description = _doc(make)
    prompts = make()
    return KindPage(
        sort=PROMPT_SET,
        name=name,
        about=f"{len(prompts)} prompts",
        summary=summary,
        description=description,
        status=_status(make.__module__),
        facts=tuple(_prompt_facts(prompts)),
        parameters=(),
        example={"set": name},
        place="spec.workload.prompts",
        module=make.__module__,
    )


def _prompt_facts(prompts: Sequence[Prompt]) -> Iterator[tuple[str, str]]:
    yield "prompts", f"{len(prompts)}, asked in their order and then again"
    # Of a conversation the last turns show what its requests carry.
    shown = prompts[-1]
    turns = (f"{turn['role']}: `{_shortened(turn['content'])}`" for turn in shown.messages())
    yield "the last of them", "; ".join(turns)
    if shown.answer is not None:
        compared = "the same JSON value in any order of its keys" if shown.form == "json" else "exactly that"
        yield "its right answer", f"`{shown.answer}`, {compared}"
        longest = max(len(prompt.answer or "") for prompt in prompts)
        yield (
            "longest answer",
            f"{longest} character{'s' if longest > 1 else ''}, for which `maxTokens` must leave room",
        )
    if shown.tenant is not None:
        yield "its model", f"the target's with the adapter: `MODEL:{shown.tenant}`"


def _shortened(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN // 2]} ... {line[-_SHOWN // 2 :]}"
