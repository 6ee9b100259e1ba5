"""The configuration of a gateway that belongs to no run, from flags, from a file, or from both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosgate.errors import Problem, RegistryError, SpecError, UsageError, dotted
from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.fault_flags import check_carried, free_name, read_faults
from chaosgate.model.fault import Fault
from chaosgate.model.filter import FILTERS
from chaosgate.model.kinds import validate_kind
from chaosgate.model.source import DataPath, Form, Source, read_source, yaml_type
from chaosgate.model.standing import standing_fault
from chaosgate.model.validation import validate
from chaosgate.registry import unknown

NO_RUN = "no-run"
NO_SPEC = "no-spec"
"""What a gateway that belongs to no run says of run and spec, where one of a run names its id and a digest."""
DEFAULT_SEED = 1

FILE = Form(
    noun="gateway file",
    holds="what a gateway is to do",
    empty="write `upstream: http://127.0.0.1:8000`, and below it `faults: [wire.latency=200ms]`",
    shape="a gateway file is a mapping with `upstream:` and `faults:`",
)
_OF_A_RUN = ("run", "spec", "phases", "unnamed", "unguarded")
"""Fields of a gateway's configuration that say of a run what a gateway alone has no need of."""


def standing_config(
    flags: Sequence[str] = (), *, upstream: str | None = None, seed: int | None = None, file: Path | None = None
) -> GatewayConfig:
    """The configuration of a gateway whose faults may touch every request.

    `file` says what `upstream` and `seed` do not; the faults of `flags` follow its own. A SpecError places what is
    wrong in the file, a UsageError quotes a wrong flag.
    """
    source = None if file is None else read_source(file, FILE)
    settings = {} if source is None else _settings(source)
    faults = () if source is None else _faults(source)
    given = {key: value for key, value in (("upstream", upstream), ("seed", seed)) if value is not None}
    settings = {"seed": DEFAULT_SEED, **settings, **given}
    if "upstream" not in settings:
        raise UsageError("--upstream: is missing; name the server behind the gateway, such as http://127.0.0.1:8000")
    config, problems = _config(settings, (*faults, *read_faults(flags, faults)))
    if source is not None:
        _refuse(source, [problem for problem in problems if problem.path[:1] not in {(key,) for key in given}])
    if config is None:
        raise UsageError("; ".join(f"--{dotted(problem.path)}: {problem.message}" for problem in problems))
    return config


def _settings(source: Source) -> dict[str, Any]:
    """What the file says beside its faults."""
    if source.problems:
        raise SpecError(source.file, [source.place(problem) for problem in source.problems])
    known = [field.alias or name for name, field in GatewayConfig.model_fields.items() if name not in _OF_A_RUN]
    strays = [key for key in source.data if key not in known]
    _refuse(source, [Problem((key,), unknown("key", key, known), at_key=True) for key in strays])
    return {key: value for key, value in source.data.items() if key != "faults"}


def _faults(source: Source) -> tuple[Fault, ...]:
    """The faults of the file, each written as a flag or as a mapping with its `kind` and one `dose`."""
    listed = source.data.get("faults", [])
    if not isinstance(listed, list):
        raise _refusal(source, ("faults",), f"read {yaml_type(listed)}; write a list, such as [wire.latency=200ms]")
    faults: list[Fault] = []
    for index, item in enumerate(listed):
        try:
            faults.append(_fault(item, faults))
        except (UsageError, RegistryError, ValueError) as error:
            raise _refusal(source, ("faults", index), str(error)) from error
    return tuple(faults)


def _fault(item: Any, taken: Sequence[Fault]) -> Fault:
    if isinstance(item, str):
        return read_faults([item], taken)[0]
    lacking = [key for key in ("kind", "dose") if not isinstance(item, dict) or key not in item]
    if lacking:
        raise ValueError(f"lacks {', '.join(lacking)}; write {{kind: wire.latency, dose: 200ms}}")
    kind = str(item["kind"])
    check_carried(kind)
    rest = {key: value for key, value in item.items() if key not in ("kind", "name", "dose")}
    name = item.get("name", free_name(kind, [fault.name for fault in taken]))
    return standing_fault(kind, name, item["dose"], rest)


def _config(settings: Mapping[str, Any], faults: Sequence[Fault]) -> tuple[GatewayConfig | None, list[Problem]]:
    filters, problems = _filters(settings.get("filters", ()))
    told = {**settings, "faults": faults, "filters": filters, "unnamed": [fault.name for fault in faults]}
    config, refused = validate(GatewayConfig, {**told, "run": NO_RUN, "spec": NO_SPEC, "phases": {}})
    return None if problems else config, [*problems, *refused]


def _filters(listed: Any) -> tuple[Any, list[Problem]]:
    """The filters that are valid, and what is wrong with the others; what is no list as it is."""
    if not isinstance(listed, list):
        return listed, []
    found = [validate_kind(FILTERS, item, ("filters", index)) for index, item in enumerate(listed)]
    return [valid for valid, _ in found if valid is not None], [one for _, problems in found for one in problems]


def _refuse(source: Source, problems: Sequence[Problem]) -> None:
    if problems:
        raise SpecError(source.file, [source.place(problem) for problem in problems])


def _refusal(source: Source, path: DataPath, message: str) -> SpecError:
    return SpecError(source.file, [source.place(Problem(path, message))])
