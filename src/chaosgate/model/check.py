"""What the form of a spec cannot say: names that must exist, bounds that fit what they bound, sensible doses.

Each check looks at the items that are valid in themselves, so that a broken item is reported once and hides no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from pydantic import BaseModel

from chaosgate.errors import Problem, RegistryError, dotted
from chaosgate.model.answer_checks import unchecked_embeddings
from chaosgate.model.fault import ClusterFault, EngineFault, Fault
from chaosgate.model.fit import BreakResponse, Fit
from chaosgate.model.gauges import why_unknown_gauge
from chaosgate.model.observation import RequestBound
from chaosgate.model.relative import why_wrong_side
from chaosgate.model.safety import PROTECTED
from chaosgate.model.scorer import SCORERS, why_unscored
from chaosgate.model.sli import SLIS, Sli, resolve_sli
from chaosgate.model.source import DataPath
from chaosgate.model.spec import DoseRange, Objective, SteadyObjective
from chaosgate.model.stopping import StopCondition
from chaosgate.model.uri import has_password, why_malformed
from chaosgate.model.validation import value_at
from chaosgate.registry import unknown
from chaosgate.units import HINTS, Bound, Dimension, Margin, format_value

FAULT_LIST: DataPath = ("spec", "faults")
FIT_LIST: DataPath = ("spec", "fits")
BREAKER_LIST: DataPath = ("spec", "breakers")
FILTER_LIST: DataPath = ("spec", "filters")
OBJECTIVE_LIST: DataPath = ("spec", "objectives")
STEADY_LIST: DataPath = ("spec", "steadyState", "objectives")
HISTORY_LIST: DataPath = ("spec", "gate", "history", "bounds")
SLO_LIST: DataPath = ("spec", "slo")
SEMANTIC: DataPath = ("spec", "steadyState", "semantic")
STOP_LIST: DataPath = ("spec", "safety", "stopWhen")
QUERY_LIST: DataPath = ("spec", "metrics", "prometheus", "queries")
PROTECTED_LIST: DataPath = ("spec", "safety", "protectedNamespaces")

ENDPOINT: DataPath = ("spec", "target", "endpoint")
ENGINE: DataPath = ("spec", "target", "engine")
SERVED_ELSEWHERE = ("vllm", "endpoint")
"""Engines into which this version carries no faults."""
KUBERNETES: DataPath = ("spec", "target", "kubernetes")
ADDRESSES: Mapping[DataPath, str] = {
    ENDPOINT: "secrets never stand in a {noun}",
    ("spec", "target", "fallback", "upstream"): "secrets never stand in a {noun}",
    ("spec", "metrics", "prometheus", "url"): "name a header's secret by `headers` or `bearer` instead",
    ("spec", "tracking", "uri"): "set MLFLOW_TRACKING_URI in the environment instead",
}
"""Where a URL may stand, and what to do with one that holds a password."""


@dataclass(frozen=True)
class Draft:
    """A spec that may be broken in places: its data, and those items of its lists that are valid, by their path.

    `whole` says that nothing is broken, so that a list without names is meant to be empty; `noun` is what the data is
    called in messages.
    """

    data: Any
    valid: Mapping[DataPath, BaseModel]
    whole: bool
    noun: str = "spec"

    def names(self, path: DataPath) -> dict[str, DataPath]:
        """The names in the list at `path`, broken items included, each with the item that has it first."""
        found: dict[str, DataPath] = {}
        for index, item in enumerate(_listed(self.data, path)):
            name = value_at(item, ("name",))
            if isinstance(name, str):
                found.setdefault(name, (*path, index))
        return found

    def named(self, path: DataPath, name: str) -> BaseModel | None:
        """The item called `name` in the list at `path`, None when it is broken or does not exist."""
        return self.valid.get(self.names(path).get(name, ()))


def check(draft: Draft) -> list[Problem]:
    """Every semantic problem of `draft`; none for a spec that can be planned and judged."""
    problems = [*_doubles(draft, FAULT_LIST), *_doubles(draft, FIT_LIST), *_doubles(draft, OBJECTIVE_LIST)]
    problems += _addresses(draft)
    problems += _scorer(draft)
    problems += _embeddings(draft)
    problems += _history(draft)
    for path, item in draft.valid.items():
        match item:
            case Fault():
                problems += _fault(draft, path, item)
            case Fit():
                problems += _fit(draft, path, item)
            case Objective():
                problems += _objective(draft, path, item)
            case SteadyObjective():
                problems += _sli_bound(path, item.sli, item.bound)
                problems += _needs_slo(draft, path, item.sli)
            case RequestBound():
                problems += _request_sli(path, item.sli, item.bound, "a bound of `slo`")
            case StopCondition():
                problems += _stop_condition(draft, path, item)
    return problems


def _doubles(draft: Draft, path: DataPath) -> Iterator[Problem]:
    first = draft.names(path)
    for index, item in enumerate(_listed(draft.data, path)):
        name = value_at(item, ("name",))
        if isinstance(name, str) and first[name] != (*path, index):
            yield Problem((*path, index, "name"), f"{name!r} is also the name of {dotted(first[name])}; rename one")


def _addresses(draft: Draft) -> Iterator[Problem]:
    for path, instead in ADDRESSES.items():
        read = value_at(draft.data, path)
        if not isinstance(read, str):
            continue
        if has_password(read):
            yield Problem(path, f"a password stands in the {draft.noun}; {instead.format(noun=draft.noun)}")
        elif cause := why_malformed(read):
            yield Problem(path, f"read {read!r}, which is no URL: {cause}; write one such as http://host:5000")
        elif path == ENDPOINT and read.rstrip("/").endswith("/v1"):
            base = read.rstrip("/").removesuffix("/v1")
            yield Problem(path, f"read {read!r}; write the base URL, without /v1: {base}")


def _fault(draft: Draft, path: DataPath, fault: Fault) -> Iterator[Problem]:
    yield from _doses(draft, (*path, "dose", "values"), fault)
    if isinstance(fault, ClusterFault):
        yield from _pods(draft, path, fault)
    engine = value_at(draft.data, ENGINE)
    if isinstance(fault, EngineFault) and engine in SERVED_ELSEWHERE:
        yield Problem(
            (*path, "kind"),
            f"read {fault.kind!r}, which acts inside the serving process; {dotted(ENGINE)} is {engine!r}, and this "
            "version carries such faults in the embedded engine alone: write `engine: embedded`, or another fault",
        )


def _pods(draft: Draft, path: DataPath, fault: ClusterFault) -> Iterator[Problem]:
    """A fault of the cluster must know whose pods it may hit."""
    if not fault.target.labels and value_at(draft.data, ENDPOINT) is not None:
        yield Problem(
            (*path, "target"),
            f"names no labels, and nothing tells which pods serve a URL; write `target: {{labels: ...}}`, or the "
            f"server's Service as {dotted(KUBERNETES)}",
        )
    if fault.target.namespace is not None and not fault.target.labels:
        message = f"read {fault.target.namespace!r} without labels; write `labels:`, too: not every pod there is meant"
        yield Problem((*path, "target", "namespace"), message)
    protected = sorted({*PROTECTED, *map(str, _listed(draft.data, PROTECTED_LIST))})
    if fault.target.namespace in protected:
        message = f"read {fault.target.namespace!r}; nothing is changed in {', '.join(protected)}: choose another"
        yield Problem((*path, "target", "namespace"), message)


def _doses(draft: Draft, path: DataPath, fault: Fault) -> Iterator[Problem]:
    highest, before = 0.0, "0"
    for index, dose in enumerate(fault.dose.values):
        written = str(value_at(draft.data, (*path, index)))
        if dose <= 0:
            yield Problem((*path, index), f"read {written}; a dose is more than 0: controls at dose 0 are added anyway")
        elif dose > fault.max_dose:
            limit = format_value(fault.max_dose, fault.axis().dimension)
            yield Problem((*path, index), f"read {written}; at most {limit} is allowed for {fault.kind}")
        elif dose <= highest:
            yield Problem((*path, index), f"read {written} after {before}; write the doses in rising order, each once")
        if dose > highest:
            highest, before = dose, written


def _fit(draft: Draft, path: DataPath, fit: Fit) -> Iterator[Problem]:
    yield from _known(draft, FAULT_LIST, "fault", fit.fault, (*path, "fault"))
    where, response = (*path, "response"), fit.response
    if isinstance(response, BreakResponse):
        yield from _request_sli(where, response.sli, response.bound, "a fit")
    elif fit.reads == "amounts":
        yield from _rate_sli(where, response.sli, f"fit {fit.kind!r}")


def _rate_sli(path: DataPath, name: str, what: str) -> Iterator[Problem]:
    """An SLI that `what` reads as a rate."""
    rates = [known for known, kind in SLIS.items() if kind.statistic == "rate"]
    if name not in SLIS:
        yield Problem((*path, "sli"), unknown("SLI", name, rates))
    elif name not in rates:
        yield Problem((*path, "sli"), f"read {name!r}; {what} needs a rate: write one of {', '.join(rates)}")


_OF_MANY: Mapping[str | None, str] = {"rate": "a rate", "set": "a number of many requests together"}
"""Statistics of which one request has no number."""


def _request_sli(path: DataPath, name: str, bound: Bound, what: str) -> Iterator[Problem]:
    """An SLI that `what` judges request by request: its kind, without a percentile, and of one request."""
    statistic = SLIS.get(name).statistic if name in SLIS else None
    if statistic in _OF_MANY:
        message = f"read {name!r}, {_OF_MANY[statistic]}; {what} judges request by request: write an SLI such as ttft"
        yield Problem((*path, "sli"), message)
        return
    if name in SLIS:
        yield from _needed((*path, "sli"), name, SLIS.get(name))
        yield from _dimension((*path, "bound"), bound, SLIS.get(name).dimension, f"SLI {name!r}")
        return
    kind = name.rsplit("-p", 1)[0]
    if kind in SLIS:
        yield Problem((*path, "sli"), f"read {name!r}; {what} judges request by request: write {kind!r}")
    else:
        yield Problem((*path, "sli"), unknown("SLI", name, SLIS.names()))


def _objective(draft: Draft, path: DataPath, objective: Objective) -> Iterator[Problem]:
    if objective.fit is not None:
        yield from _fit_objective(draft, path, objective, objective.fit)
    elif objective.sli is not None and objective.limit is not None:
        yield from _sli_bound(path, objective.sli, objective.limit)
        yield from _needs_slo(draft, path, objective.sli)
        yield from _fault_of(draft, path, objective)


def _fit_objective(draft: Draft, path: DataPath, objective: Objective, name: str) -> Iterator[Problem]:
    yield from _known(draft, FIT_LIST, "fit", name, (*path, "fit"))
    fit = draft.named(FIT_LIST, name)
    fault = draft.named(FAULT_LIST, fit.fault) if isinstance(fit, Fit) else None
    if isinstance(fault, Fault):
        for key, bound in (("lower", objective.lower), ("upper", objective.upper)):
            if bound is not None:
                yield from _dimension((*path, key), bound, fault.axis().dimension, _axis_words(fault))


def _embeddings(draft: Draft) -> Iterator[Problem]:
    """What stands on embeddings alone, once every objective is valid: a broken one might be what is asked for."""
    objectives = {path: item for path, item in draft.valid.items() if isinstance(item, Objective)}
    if len(objectives) == len(_listed(draft.data, OBJECTIVE_LIST)):
        fits = {item.name: item for item in draft.valid.values() if isinstance(item, Fit)}
        yield from unchecked_embeddings(objectives, fits, list(draft.names(FAULT_LIST)))


def _fault_of(draft: Draft, path: DataPath, objective: Objective) -> Iterator[Problem]:
    names = list(draft.names(FAULT_LIST))
    if objective.fault is not None:
        yield from _known(draft, FAULT_LIST, "fault", objective.fault, (*path, "fault"))
        if objective.at == "recovery" and objective.fault in names[:-1]:
            later = names[names.index(objective.fault) + 1]
            message = f"its recovery lies before the sweep of {later!r}; put it last or into a spec of its own"
            yield Problem((*path, "fault"), f"read {objective.fault!r}; {message}")
    if not isinstance(objective.at, DoseRange):
        return
    if objective.fault is None and len(names) > 1:
        yield Problem((*path, "fault"), f"is missing; the spec has several faults: write one of {', '.join(names)}")
        return
    fault = draft.named(FAULT_LIST, objective.fault or "".join(names))
    if isinstance(fault, Fault):
        yield from _dose_range((*path, "at", "dose"), objective.at, fault)


def _dose_range(path: DataPath, at: DoseRange, fault: Fault) -> Iterator[Problem]:
    if not isinstance(at.dose, Bound):
        return
    dimension = fault.axis().dimension
    mismatch = list(_dimension(path, at.dose, dimension, _axis_words(fault)))
    yield from mismatch
    if not mismatch and not any(map(at.dose.holds, fault.dose.values)):
        doses = ", ".join(format_value(dose, dimension) for dose in fault.dose.values)
        yield Problem(path, f"read '{at.dose}', which selects none of the doses {doses}")


def _needs_slo(draft: Draft, path: DataPath, name: str) -> Iterator[Problem]:
    if name in SLIS and SLIS.get(name).reads_slo and not _listed(draft.data, SLO_LIST):
        example = '`slo: [{sli: ttft, bound: "<= 300ms"}]`'
        message = f"read {name!r}, and nothing says which requests are good; add {example} to `spec`"
        yield Problem((*path, "sli"), message)


def _stop_condition(draft: Draft, path: DataPath, condition: StopCondition) -> Iterator[Problem]:
    for index, reading in enumerate(condition.readings):
        where = path if condition.all is None else (*path, "all", index)
        if reading.gauge is not None:
            yield from _gauge(draft, (*where, "gauge"), reading.gauge)
        elif reading.sli is not None:
            yield from _running_sli(where, reading.sli, reading.bound)


def _gauge(draft: Draft, path: DataPath, name: str) -> Iterator[Problem]:
    listed = [value_at(query, ("name",)) for query in _listed(draft.data, QUERY_LIST)]
    # A profile may name the queries of the spec under it, which are not known here.
    queries = [str(query) for query in listed] if listed or draft.whole else None
    message = why_unknown_gauge(name, queries)
    if message is not None:
        yield Problem(path, message)


def _running_sli(path: DataPath, name: str, bound: Bound) -> Iterator[Problem]:
    yield from _sli_bound(path, name, bound)
    if name in SLIS and SLIS.get(name).compares:
        message = f"read {name!r}, which compares with the baseline's answers; a running load has none"
        yield Problem((*path, "sli"), f"{message}: write another SLI, such as error-rate or ttft-p95")
    if name in SLIS and SLIS.get(name).reads_known:
        message = f"read {name!r}, which reads what is known of the prompts; a running load does not tell"
        yield Problem((*path, "sli"), f"{message}: write another SLI, such as answer-accuracy")
    scorer = SLIS.get(name).scorer if name in SLIS else None
    if scorer is not None and not SCORERS.get(scorer).live:
        message = f"read {name!r}, which scorer {scorer!r} scores after the run: it would slow the client down"
        yield Problem((*path, "sli"), f"{message}; write another SLI, such as error-rate or refusal-rate")
    if name in SLIS and SLIS.get(name).reads_slo:
        message = f"read {name!r}; a stop condition does not know the bounds of `slo`"
        yield Problem((*path, "sli"), f"{message}: write one of their SLIs, such as ttft-p95, or request-rate")


def _scorer(draft: Draft) -> Iterator[Problem]:
    name = value_at(draft.data, (*SEMANTIC, "scorer"))
    scorers = [known for known, kind in SLIS.items() if kind.scores]
    if isinstance(name, str) and name not in scorers:
        yield Problem((*SEMANTIC, "scorer"), unknown("scorer", name, scorers))
    elif isinstance(name, str):
        yield from _needed((*SEMANTIC, "scorer"), name, SLIS.get(name))
    bound = value_at(draft.data, (*SEMANTIC, "bound"))
    with suppress(ValueError):
        yield from _dimension((*SEMANTIC, "bound"), Bound.parse(bound), "share", "the mean of scores")


def _history(draft: Draft) -> Iterator[Problem]:
    for index, bound in enumerate(_listed(draft.data, HISTORY_LIST)):
        name = value_at(bound, ("objective",))
        if isinstance(name, str):
            yield from _known(draft, OBJECTIVE_LIST, "objective", name, (*HISTORY_LIST, index, "objective"))
            yield from _history_side(draft, name, value_at(bound, ("pass",)), (*HISTORY_LIST, index, "pass"))


def _history_side(draft: Draft, name: str, read: Any, path: DataPath) -> Iterator[Problem]:
    objective = draft.named(OBJECTIVE_LIST, name)
    if isinstance(objective, Objective) and (message := why_wrong_side(read, name, objective.wanted)):
        yield Problem(path, message)


def _sli_bound(path: DataPath, name: str, bound: Bound) -> Iterator[Problem]:
    """A bound is in the SLI's own unit; a change is so, too, or in per cent."""
    try:
        sli = resolve_sli(name)
    except RegistryError as error:
        yield Problem((*path, "sli"), str(error))
        return
    yield from _needed((*path, "sli"), name, sli.kind)
    if not isinstance(bound, Margin):
        yield from _dimension((*path, "bound"), bound, sli.dimension, f"SLI {name!r}")
    elif bound.dimension != "share":
        yield from _dimension((*path, "change"), bound, sli.dimension, f"a change of SLI {name!r}")


def _needed(path: DataPath, name: str, kind: type[Sli]) -> Iterator[Problem]:
    """What the SLI needs and is not there: better said now than after a run."""
    if kind.needs is not None and find_spec(kind.needs) is None:
        install = "install it: pip install 'chaosgate[quality]'"
        yield Problem(path, f"read {name!r}, which needs {kind.needs}, and that is not installed; {install}")
    if unscored := why_unscored(kind.scorer):
        yield Problem(path, f"read {name!r}: {unscored}")


def _dimension(path: DataPath, bound: Bound, wanted: Dimension, what: str) -> Iterator[Problem]:
    same = {bound.dimension, wanted} <= {"count", "number"}
    if bound.dimension != wanted and not same:
        yield Problem(path, f"read '{bound}'; {what} needs {HINTS[wanted]}")


def _axis_words(fault: Fault) -> str:
    return f"{fault.axis().parameter!r} of fault {fault.name!r}"


def _known(draft: Draft, path: DataPath, noun: str, name: str, where: DataPath) -> Iterator[Problem]:
    known = draft.names(path)
    if name not in known and (known or draft.whole):
        yield Problem(where, unknown(noun, name, known))


def _listed(data: Any, path: DataPath) -> list[Any]:
    items = value_at(data, path)
    return list(items) if isinstance(items, (list, tuple)) else []
