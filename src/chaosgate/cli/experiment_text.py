"""An experiment in plain words, for whoever reviews the change of a spec."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from chaosgate.cli.experiment import Experiment, Hit, Stretch
from chaosgate.cli.kinds import GOES, SURFACES
from chaosgate.cli.outlook import Chance, Outlook
from chaosgate.errors import one_line
from chaosgate.model.uri import without_password
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
    lines = [f"{metadata.name}  {experiment.spec.digest()[:19]}"]
    if "proves" in metadata.annotations:
        lines += _wrapped([f"to show that {metadata.annotations['proves']}"])
    for heading, body in (
        ("What is served", _served(experiment)),
        ("What is hit", _hit(experiment)),
        ("How long, and how many requests", _length(experiment)),
        ("What must hold before anything is injected, and again in the end", _steady(experiment)),
        ("What is judged", _judged(experiment)),
        ("When the data cannot say", _uncertain(experiment)),
        ("What ends it early", _stops(experiment)),
        ("Who cleans up", _cleanup(experiment)),
        ("Where it is recorded", _recorded(experiment)),
    ):
        lines += ["", heading, *body]
    # What a spec says may hold anything, and a reviewer reads it in a terminal.
    return "\n".join(map(one_line, lines))


def _wrapped(sentences: Iterable[str], margin: str = "  ") -> list[str]:
    return [
        line
        for sentence in sentences
        for line in textwrap.wrap(sentence, WIDTH, initial_indent=margin, subsequent_indent=margin)
    ]


def _served(experiment: Experiment) -> list[str]:
    body = experiment.spec.spec
    target, workload = body.target, body.workload
    if target.endpoint is None:
        served = f"{target.model} by the {target.engine} engine, which is started for this run and stopped with it."
    else:
        served = (
            f"{target.model} by the server at {without_password(target.endpoint)}, which runs already: "
            "its other clients share it with the load."
        )
    arrivals = workload.arrivals
    load = (
        f"The load: {format_rate(arrivals.rate)}, {arrivals.process} arrivals that wait for no answer, the prompts of "
        f"{workload.prompts.set} in their order, at most {workload.max_tokens} tokens an answer; a request is given up "
        f"after {format_duration(workload.timeout)}."
    )
    return _wrapped([served, load])


def _hit(experiment: Experiment) -> Iterator[str]:
    for hit in experiment.hits:
        yield from _wrapped([f"{hit.fault} ({hit.kind}). {hit.what}"])
        yield from _wrapped(_radius(hit), "    ")
        yield f"    {hit.parameter:<12} {'windows':>7} {'time':>8} {'requests':>9} {'may be hit':>11}"
        for dose in hit.doses:
            yield (
                f"    {format_value(dose.dose, hit.dimension):<12} {dose.windows:>7} {_clock(dose.seconds):>8} "
                f"{_count(dose.requests):>9} {_count(dose.selected):>11}"
            )
    yield from _wrapped(["Doses come in random order, with controls (dose 0) first, between and last."])


def _radius(hit: Hit) -> Iterator[str]:
    """Who may be hit."""
    where = f" to {hit.path}" if hit.path else ""
    yield f"Acts on {SURFACES[hit.surface]}. May hit {format_share(hit.share)} of the requests{where}."
    if not any(dose.selected for dose in hit.doses):
        yield "No request of the workload goes there: it will touch nothing, and then the run can never pass."


def _length(experiment: Experiment) -> Iterator[str]:
    yield from _wrapped(
        [
            f"{_clock(experiment.load)} of load with about {_count(experiment.requests)} requests, and some seconds to "
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
    planned = f"about {_count(outlook.requests)} requests in {outlook.windows} windows"
    said = f"{head} {outlook.at}, {planned}: {CHANCES[outlook.chance]}; {outlook.why}."
    return textwrap.wrap(said, WIDTH, initial_indent="  - ", subsequent_indent="    ")


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


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _clock(seconds: float) -> str:
    """`1m 54s`, whole seconds from a minute on."""
    if seconds < 60:
        return format_value(seconds, "duration")
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {rest}s"
