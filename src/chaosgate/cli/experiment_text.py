"""An experiment in plain words, for whoever reviews the change of a spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chaosgate.cli.experiment import Experiment, Hit, Stretch
from chaosgate.cli.kinds import GOES, SURFACES
from chaosgate.cli.outlook import Chance, Outlook, shown_at
from chaosgate.cli.width import fold
from chaosgate.errors import one_line
from chaosgate.model.fault import Fault, GaugeWitness
from chaosgate.model.spec import ChaosSpec, Target
from chaosgate.model.uri import without_password
from chaosgate.model.workload import FilePrompts, LoadStream, MadePrompts, Prompts, SetPrompts
from chaosgate.units import format_duration, format_rate, format_share, format_value

WIDTH = 110
CHANCES: dict[Chance, str] = {
    "enough": "enough",
    "tight": "tight",
    "luck": "ONLY WITH LUCK",
    "never": "NEVER",
    "depends": "depends",
}
UNCERTAIN = {
    "inconclusive": "the verdict inconclusive, exit code 3",
    "fail": "the verdict fail, exit code 1",
    "warn": "the verdict warn, exit code 0",
}


def experiment_text(experiment: Experiment) -> str:
    """The whole explanation."""
    metadata = experiment.spec.metadata
    held_back, guards = _held_back(experiment), _guards(experiment.spec)
    lines = [f"{metadata.name}  {experiment.spec.digest()[:19]}"]
    if "proves" in metadata.annotations:
        lines += _wrapped([f"to show that {metadata.annotations['proves']}"])
    for heading, body in (
        ("What is served", _served(experiment)),
        ("What is hit", _hit(experiment)),
        *([("What guards it", guards)] if guards else []),
        ("How long, and how many requests", _length(experiment)),
        ("What must hold before anything is injected, and again in the end", _steady(experiment)),
        ("What is judged", _judged(experiment)),
        ("When the data cannot say", _uncertain(experiment)),
        ("What ends it early", _stops(experiment)),
        *([("What holds it back", held_back)] if held_back else []),
        ("Who cleans up", _cleanup(experiment)),
        ("Where it is recorded", _recorded(experiment)),
    ):
        lines += ["", heading, *body]
    # What a spec says may hold anything, and a reviewer reads it in a terminal.
    return "\n".join(map(one_line, lines))


def _wrapped(sentences: Iterable[str], margin: str = "  ") -> list[str]:
    return [line for sentence in sentences for line in fold(sentence, WIDTH, margin)]


def _served(experiment: Experiment) -> list[str]:
    body = experiment.spec.spec
    target, workload = body.target, body.workload
    where = _running_server(target)
    if where is None:
        served = f"{target.model} by the {target.engine} engine, which is started for this run and stopped with it."
    else:
        served = f"{target.model} by {where}, which runs already: its other clients share it with the load."
    load = (
        f"The load: {'; '.join(map(_stream, workload.streams()))}, at most {workload.max_tokens} tokens an answer; a "
        f"request is given up after {format_duration(workload.timeout)}."
    )
    return _wrapped([served, load])


def _stream(stream: LoadStream) -> str:
    """When a stream of the load sends what."""
    who = "" if stream.tenant is None else f"{stream.tenant} with "
    added = ""
    if stream.spikes is not None:
        rate, width, every = stream.spikes.rate, stream.spikes.width, stream.spikes.every
        added = f", {format_rate(rate)} more for {format_duration(width)} every {format_duration(every)}"
    return f"{who}{stream.arrivals.describe()}{added}, {_prompts(stream.prompts)}"


def _prompts(prompts: Prompts) -> str:
    match prompts:
        case SetPrompts(set=name):
            return f"the prompts of {name} in their order"
        case FilePrompts(file=file):
            return f"the prompts of {file} in their order"
        case MadePrompts(lengths="trace"):
            return "prompts as long as the trace tells"
        case _:
            return f"{prompts.count} made prompts in turn"


def _running_server(target: Target) -> str | None:
    """Where a server is that nobody starts for the run."""
    on_cluster = target.kubernetes
    if on_cluster is None:
        return None if target.endpoint is None else f"the server at {without_password(target.endpoint)}"
    if on_cluster.service is None:
        return f"port {on_cluster.port} of the Deployment {on_cluster.deployment} in the run's namespace"
    place = f"namespace {on_cluster.namespace}" if on_cluster.namespace else "the run's namespace"
    return f"port {on_cluster.port} of the Service {on_cluster.service} in {place}"


def _hit(experiment: Experiment) -> Iterator[str]:
    for hit in experiment.hits:
        yield from _wrapped([f"{hit.fault} ({hit.kind}). {hit.what}"])
        yield from _wrapped(_radius(hit), "    ")
        yield _dose_line(hit.parameter, "windows", "time", "requests", "" if hit.share is None else "may be hit")
        for dose in hit.doses:
            selected = "" if dose.selected is None else _count(dose.selected)
            said = format_value(dose.dose, hit.dimension)
            yield _dose_line(said, str(dose.windows), _clock(dose.seconds), _count(dose.requests), selected)
    yield from _wrapped(["Doses come in random order, with controls (dose 0) first, between and last."])


def _dose_line(dose: str, windows: str, time: str, requests: str, hit: str) -> str:
    return f"    {dose:<12} {windows:>7} {time:>8} {requests:>9} {hit:>11}".rstrip()


def _radius(hit: Hit) -> Iterator[str]:
    """Who may be hit."""
    if hit.share is None:
        yield f"Acts on {SURFACES[hit.surface]}{': ' + hit.pods if hit.pods else ''}."
        return
    whom = f" {hit.whom}" if hit.whom else ""
    yield f"Acts on {SURFACES[hit.surface]}. May hit {format_share(hit.share)} of the requests{whom}."
    if all(dose.selected is None for dose in hit.doses):
        yield "How many of the workload's requests these are is not known before the run."
    elif not any(dose.selected for dose in hit.doses):
        yield "No request of the workload goes there: it will touch nothing, and then the run can never pass."


def _guards(spec: ChaosSpec) -> list[str]:
    """The filters, and what tells whether a fault bites behind them."""
    body = spec.spec
    if not body.filters:
        return []
    kinds = f"{', then '.join(one.kind for one in body.filters)}: between the faults and the model."
    if not body.unguarded:
        return _wrapped([kinds, "A fault whose whole effect they keep away is seen by nobody (see spec.unguarded)."])
    arms = (
        f"{format_share(body.unguarded)} of the requests pass unguarded: whether a fault bites is read from them, all "
        "else from the others."
    )
    by_client = [one for one in body.faults if not isinstance(one.witness(max(one.dose.values)), GaugeWitness)]
    return _wrapped([kinds, arms]) + [line for fault in by_client for line in _shown(spec, fault)]


def _shown(spec: ChaosSpec, fault: Fault) -> list[str]:
    place = shown_at(spec, fault)
    unguarded = None if place.per_window is None else place.requests
    planned = f"{_about(unguarded, 'unguarded requests')} in {place.windows} windows"
    chance = CHANCES["enough" if place.filled else "luck"]
    return fold(f"{fault.name} has to be seen {place.at}, {planned}: {chance}.", WIDTH, "  - ")


def _length(experiment: Experiment) -> Iterator[str]:
    yield from _wrapped(
        [
            f"{_clock(experiment.load)} of load with {_about(experiment.requests, 'requests')}, and some seconds to "
            f"start and to judge; its deadlines end it after {_clock(experiment.longest)}."
        ]
    )
    for stretch in experiment.stretches:
        if stretch.seconds:
            yield f"    {stretch.phase:<10} {_stretch(stretch)}"
    if experiment.extra_steps:
        yield from _wrapped([f"Then the profile's own steps: {', '.join(experiment.extra_steps)}."])


def _stretch(stretch: Stretch) -> str:
    note = {"warm-up": "never judged", "wash-outs": "never judged", "controls": "compared with each other: drift"}
    said = f"{stretch.what:<10} {_clock(stretch.seconds):>8} {_count(stretch.requests):>9} requests"
    return f"{said}  {note[stretch.what]}" if stretch.what in note else said


def _steady(experiment: Experiment) -> Iterator[str]:
    for outlook in experiment.outlooks:
        if outlook.objective is None:
            yield from _outlook(f"{outlook.what} {outlook.bound}", outlook)
    yield from _wrapped(["Where it does not hold before, nothing is injected and the run is inconclusive."])


def _judged(experiment: Experiment) -> Iterator[str]:
    for outlook in experiment.outlooks:
        if outlook.objective is not None:
            yield from _outlook(f"{outlook.severity} {outlook.objective}: {outlook.what} {outlook.bound}", outlook)
    yield from _wrapped(["A gate objective passes when its whole 95 % interval keeps its bound."])


def _outlook(head: str, outlook: Outlook) -> list[str]:
    planned = f"{_about(outlook.requests, 'requests')} in {outlook.windows} windows"
    said = f"{head} {outlook.at}, {planned}: {CHANCES[outlook.chance]}; {outlook.why}."
    return fold(said, WIDTH, "  - ")


def _uncertain(experiment: Experiment) -> list[str]:
    word = experiment.spec.spec.gate.on_uncertain
    return _wrapped(
        [
            f"An interval across its bound makes {UNCERTAIN[word]} (gate.onUncertain: {word}). Missing data, too few "
            "requests, a fault the client did not see come and go, drift of the controls or a late load generator are "
            "never a pass."
        ]
    )


def _stops(experiment: Experiment) -> list[str]:
    conditions = [
        f"{stop.sli} {stop.bound} in {stop.consecutive} one-second samples in a row"
        for stop in experiment.spec.spec.safety.stop_when
    ]
    own = f"{'; or '.join(conditions)}." if conditions else "No condition of its own (safety.stopWhen)."
    return _wrapped([own, "By hand: `chaosgate abort RUN`, or Ctrl-C where it runs. Every fault goes off at once."])


def _held_back(experiment: Experiment) -> list[str]:
    """What a fault of the cluster must leave alone, and which of these rules do not hold."""
    safety = experiment.spec.spec.safety
    hits_cluster = any(hit.surface == "cluster" for hit in experiment.hits)
    rules = [
        f"At once it hits at most {safety.max_pods} of a target's pods (or of the nodes) and "
        f"{format_share(safety.max_share)} of them; at least {safety.min_healthy} that is ready is left alone. Only "
        f"what allows it by its labels is hit, and nothing in {', '.join(sorted(safety.protected))}.",
        f"Only {'; '.join(map(str, safety.allowed))}." if safety.allowed else "At any time of the week.",
    ]
    overridden = [f"The rule {one.rule} does not hold: {one.reason}" for one in safety.overrides]
    return _wrapped([*(rules if hits_cluster else ()), *overridden])


def _cleanup(experiment: Experiment) -> list[str]:
    goes = dict.fromkeys(GOES[hit.goes] for hit in experiment.hits)
    return _wrapped(
        [
            *(f"Each fault {text}." for text in goes),
            "The step cleanup runs however the run ends, proves that nothing is left and seals the run. Where its "
            "runner is killed the sweeper does so within seconds.",
            f"At the latest everything is gone {_clock(experiment.swept)} after the start (its deadlines, then "
            f"safety.sweepAfter: {format_duration(experiment.spec.spec.safety.sweep_after)}).",
        ]
    )


def _recorded(experiment: Experiment) -> list[str]:
    tracking = experiment.spec.spec.tracking
    unsaid = "$MLFLOW_TRACKING_URI, else mlflow.db in the state directory"
    where = without_password(tracking.uri) if tracking.uri else unsaid
    said = f"MLflow experiment {tracking.experiment} at {where}; every file of a run stays in the state directory."
    return _wrapped([said])


def _count(number: float | None) -> str:
    return "unknown" if number is None else f"{number:,.0f}"


def _about(number: float | None, what: str) -> str:
    return f"as many {what} as the target answers" if number is None else f"about {_count(number)} {what}"


def _clock(seconds: float) -> str:
    """`1m 54s`, whole seconds from a minute on."""
    if seconds < 60:
        return format_value(seconds, "duration")
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {rest}s"
