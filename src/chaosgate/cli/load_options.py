"""From the options of `chaosgate load` to the load itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from chaosgate.cli.load_slo import Slo, name_and_bound, parse_slo
from chaosgate.errors import UsageError
from chaosgate.loadgen.saturation import Sweep
from chaosgate.model.enclosed import OF_LOAD, enclose
from chaosgate.model.observation import RequestBound
from chaosgate.model.presets import presets
from chaosgate.model.safety import StopCondition
from chaosgate.model.sli import SLIS, Sli, resolve_sli
from chaosgate.model.validation import validate
from chaosgate.model.workload import Workload
from chaosgate.prompts.sources import prompts_of
from chaosgate.registry import unknown
from chaosgate.units import parse_duration, parse_rate, parse_share

DEFAULT_RATE = "10/s"
DEFAULT_LENGTH = 30.0
"""Seconds."""
DEFAULT_PROMPTS = "recall-24"
WITHOUT_END = 24 * 3600.0
"""Seconds after which a load of so many requests ends all the same."""
PHASE = "load"
"""The only phase of a load that no run sends; it stands in every request's name."""
Read = TypeVar("Read")


@dataclass(frozen=True)
class LoadOptions:
    """What the command was given."""

    url: str
    model: str | None = None
    api_key_env: str | None = None
    check: bool = True
    rate: str | None = None
    concurrency: int | None = None
    sweep: str | None = None
    staircase: str | None = None
    trace: Path | None = None
    preset: str | None = None
    process: str | None = None
    burstiness: float | None = None
    speed: float = 1.0
    length: str | None = None
    requests: int | None = None
    hold: str = "10s"
    warmup: str = "0s"
    prompts: str | None = None
    max_tokens: int | None = None
    timeout: str = "60s"
    cancel: str | None = None
    seed: int = 1
    workers: int = 1
    slos: tuple[str, ...] = ()
    good: str = "95 %"
    stops: tuple[str, ...] = ()
    export: str | None = None
    file: Path | None = None
    save: Path | None = None
    live: bool = True
    output: str = "text"


@dataclass(frozen=True)
class LoadPlan:
    """What is sent and how it is judged. Times are in seconds."""

    workload: Workload
    seconds: float
    warmup: float
    requests: int | None
    sweep: Sweep | None
    slos: tuple[Slo, ...]
    good: float
    stops: tuple[StopCondition, ...] = field(default=())

    @property
    def bounds(self) -> tuple[RequestBound, ...]:
        """What each request must keep to be good."""
        return tuple(slo.bound for slo in self.slos if isinstance(slo.bound, RequestBound))

    @property
    def kinds(self) -> list[type[Sli]]:
        """The SLI kinds by which it is judged or stopped."""
        judged = [SLIS.get(b.sli) if isinstance(b, RequestBound) else b.ref.kind for b in (s.bound for s in self.slos)]
        readings = (reading for stop in self.stops for reading in stop.readings)
        return judged + [resolve_sli(reading.sli).kind for reading in readings if reading.sli is not None]


def load_plan(options: LoadOptions) -> LoadPlan:
    """The load that the options describe; a UsageError names the option that is wrong and what it may be."""
    _refuse_pairs(options)
    _refuse_places(options)
    warmup = _read("--warmup", options.warmup, parse_duration)
    sweep = None if options.sweep is None else _sweep(options.sweep, _read("--hold", options.hold, parse_duration))
    seconds = _seconds(options)
    if sweep is None and warmup >= seconds:
        raise UsageError(f"--warmup {options.warmup}: leaves nothing of {seconds:g} s to count; write a longer --for")
    return LoadPlan(
        workload=_workload(options),
        seconds=seconds,
        warmup=warmup,
        requests=options.requests,
        sweep=sweep,
        slos=tuple(_read("--slo", text, parse_slo) for text in options.slos),
        good=_read("--good", options.good, parse_share),
        stops=tuple(_read("--stop", text, _stop) for text in options.stops),
    )


def _refuse_pairs(options: LoadOptions) -> None:
    """Refuse what excludes each other, and an export without its file."""
    ways = ("rate", "concurrency", "sweep", "staircase", "trace", "preset")
    given = [way for way in ways if getattr(options, way) is not None]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]}: write one of the two, each says when requests are sent")
    if options.length is not None and options.requests is not None:
        raise UsageError("--for and --requests: write one of the two, each says when the load ends")
    if options.sweep is not None and (options.length or options.requests):
        raise UsageError("--sweep: --for and --requests do not go with it; --hold says how long each step is")
    if options.process is not None and given and given[0] in ("concurrency", "trace", "preset", "sweep"):
        raise UsageError(f"--process: goes with --rate or --staircase; --{given[0]} has its own times")
    if options.trace is None and options.speed != 1.0:
        raise UsageError(f"--speed {options.speed:g}: is that of a --trace; name one, or leave it out")
    if options.export is not None and options.file is None:
        raise UsageError(f"--export {options.export}: needs -O FILE, where it is written")
    if options.export is not None and options.sweep is not None:
        raise UsageError("--export: is of one load; run the rate that you want to keep with --rate")


def _refuse_places(options: LoadOptions) -> None:
    """Refuse places where nothing can be written, before a load is sent whose numbers would be lost."""
    if options.file is not None and not options.file.resolve().parent.is_dir():
        raise UsageError(f"-O {options.file}: there is no folder {options.file.parent}; make it first")
    if options.save is not None and options.save.exists() and not options.save.is_dir():
        raise UsageError(f"--save {options.save}: is no folder; choose another")


def _seconds(options: LoadOptions) -> float:
    if options.length is not None:
        return _read("--for", options.length, parse_duration)
    if options.requests is not None:
        return WITHOUT_END
    if options.staircase is not None:
        return len(options.staircase.split(",")) * _read("--hold", options.hold, parse_duration)
    return DEFAULT_LENGTH


def _workload(options: LoadOptions) -> Workload:
    """The workload as a spec would have it, with what its files hold."""
    given: dict[str, Any] = {
        "timeout": options.timeout,
        "warmup": "0s",
        "seed": options.seed,
        "workers": options.workers,
        **(_preset(options.preset) if options.preset else {"prompts": {"set": DEFAULT_PROMPTS}}),
        **({} if options.preset else {"arrivals": _arrivals(options)}),
        **({} if options.prompts is None else {"prompts": _prompts(options.prompts)}),
        **({} if options.max_tokens is None else {"maxTokens": options.max_tokens}),
        **({} if options.cancel is None else {"cancel": _cancel(options.cancel)}),
    }
    found = enclose({"spec": {"workload": given}}, Path.cwd(), OF_LOAD)
    if found.problems:
        raise UsageError(f"{_option_of(found.problems[0].path)}: {found.problems[0].message}")
    workload, problems = validate(Workload, found.data["spec"]["workload"])
    if workload is None:
        raise UsageError(f"{_option_of(problems[0].path)}: {problems[0].message}")
    try:
        for stream in workload.streams():
            prompts_of(stream, workload.seed)
    except UsageError as error:
        named = f"--preset {options.preset}" if options.prompts is None else f"--prompts {options.prompts}"
        raise UsageError(f"{named}: {error}") from error
    return workload


_OPTIONS: Mapping[str, str] = {
    "maxTokens": "--max-tokens",
    "timeout": "--timeout",
    "seed": "--seed",
    "workers": "--workers",
    "preset": "--preset",
    "cancel": "--cancel",
    "prompts": "--prompts",
    "concurrency": "--concurrency",
    "burstiness": "--burstiness",
    "steps": "--staircase",
    "file": "--trace",
    "speed": "--speed",
    "rate": "--rate",
}


def _option_of(place: tuple[str | int, ...]) -> str:
    """The option behind a key of the workload."""
    words = [str(part) for part in place]
    if "prompts" in words:
        return "--prompts"
    return next((_OPTIONS[word] for word in reversed(words) if word in _OPTIONS), "--rate")


def _arrivals(options: LoadOptions) -> dict[str, Any]:
    if options.concurrency is not None:
        return {"process": "closed", "concurrency": options.concurrency}
    if options.trace is not None:
        return {"process": "trace", "file": str(options.trace), "speed": options.speed}
    if options.staircase is not None:
        steps = [step.strip() for step in options.staircase.split(",")]
        return {"process": "staircase", "steps": steps, "hold": options.hold, "gaps": options.process or "poisson"}
    rate = options.rate
    if rate is None:
        rate = DEFAULT_RATE if options.sweep is None else options.sweep.partition("..")[0]
    if options.burstiness is not None or options.process == "gamma":
        if options.process not in (None, "gamma"):
            raise UsageError(f"--burstiness: goes with --process gamma, not with {options.process}")
        shape = 1.0 if options.burstiness is None else options.burstiness
        return {"process": "gamma", "rate": rate, "burstiness": shape}
    return {"process": options.process or "poisson", "rate": rate}


def _preset(name: str) -> dict[str, Any]:
    known = presets()
    if name not in known:
        raise UsageError(f"--preset {name}: {unknown('preset', name, known)}")
    return dict(known[name].workload)


def _prompts(given: str) -> dict[str, str]:
    """A file where one has this name or it looks like one, else a set."""
    looks = given.endswith((".jsonl", ".csv", ".json")) or "/" in given
    return {"file": given} if looks or Path(given).is_file() else {"set": given}


def _cancel(given: str) -> dict[str, str]:
    share, at, after = given.partition("@")
    if not at:
        raise UsageError(f"--cancel {given}: write a share and a time, such as 10%@500ms")
    return {"share": share, "after": after}


def _sweep(given: str, hold: float) -> Sweep:
    """The steps of `5/s..80/s`, which doubles, or `5/s..80/s+5/s`."""
    start, dots, rest = given.partition("..")
    top, plus, step = rest.partition("+")
    if not dots:
        raise UsageError(f"--sweep {given}: write the first and the last rate, such as 5/s..80/s or 5/s..80/s+5/s")
    first, last = (_read("--sweep", rate, parse_rate) for rate in (start, top))
    if first <= 0 or last < first:
        raise UsageError(f"--sweep {given}: the first rate must be above 0 and not above the last one")
    by = _read("--sweep", step, parse_rate) if plus else None
    sweep = Sweep(first, factor=None if plus else 2.0, step=by, hold=hold, most=1_000_000)
    most = sum(1 for rate in sweep.rates() if rate <= last * (1 + 1e-9))
    return Sweep(first, factor=sweep.factor, step=by, hold=hold, most=most)


def _stop(given: str) -> StopCondition:
    name, bound = name_and_bound(given, "'error-rate > 50 %'")
    return StopCondition(sli=name, bound=bound)


def _read(option: str, text: str, read: Callable[[str], Read]) -> Read:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{option} {text}: {error}") from error
