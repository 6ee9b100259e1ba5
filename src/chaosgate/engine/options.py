"""The command line of the server, shared by `python -m chaosgate.engine` and `chaosgate engine`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from chaosgate.engine.runtime.config import ANSWER_FIELDS, EngineConfig
from chaosgate.errors import UsageError
from chaosgate.servers import lifetime_argument

GRACE_SECONDS = 3.0
"""Less than a run's cleanup gives a process between SIGTERM and SIGKILL."""

ENGINE_OPTIONS: Final = {
    "model": "Name to serve under.",
    "seed": "Untrained weights of this seed in place of the trained ones.",
    "num_blocks": "Blocks of the KV cache.",
    "block_size": "Tokens that a block holds: 8, 16, 32, 64 or 128.",
    "max_num_seqs": "Requests that are computed together.",
    "max_waiting": "Requests that may wait beside them.",
    "max_num_batched_tokens": "Tokens that one step computes.",
    "enable_prefix_caching": "Whether prompts with the same beginning share its blocks.",
    "response_cache": f"Keep answers, and find them again by these fields, commas between: {', '.join(ANSWER_FIELDS)}.",
}
"""What an engine is started with, each with its help; the names are those of EngineConfig, and vLLM's where it has
them."""


@dataclass(frozen=True)
class ServerOptions:
    """What a server is started with. `grace` is how many seconds open requests get to finish once it is to end.

    `faults` is the file of the faults that it may carry.
    """

    host: str
    port: int
    config: EngineConfig
    grace: float
    faults: Path | None
    ready_file: Path | None
    lifetime: float | None


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a server; the command gets them as one ServerOptions, `options`."""

    @wraps(command)
    def called(**given: Any) -> Any:
        config = EngineConfig(**{name: given.pop(name) for name in ENGINE_OPTIONS})
        own = {field.name: given.pop(field.name) for field in fields(ServerOptions) if field.name != "config"}
        return command(options=ServerOptions(config=config, **own), **given)

    for option in reversed([*_server(), *_engine()]):
        called = option(called)
    return called


def _server() -> Iterator[Callable[..., Any]]:
    file = click.Path(path_type=Path)
    yield click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
    yield click.option("--port", type=int, default=8000, show_default=True, help="Port, 0 for any free one.")
    yield click.option(
        "--grace",
        type=click.FloatRange(min=0),
        default=GRACE_SECONDS,
        show_default=True,
        help="Seconds that open requests get to finish when it is to end.",
    )
    yield click.option("--faults", type=file, metavar="FILE", help="Faults that it may carry, for a run's gateway.")
    yield from ending_options()


def ending_options() -> Iterator[Callable[..., Any]]:
    """`--ready-file` and `--lifetime` of any server."""
    file = click.Path(path_type=Path)
    yield click.option("--ready-file", type=file, metavar="FILE", help="File to write {url, pid} to, once it answers.")
    yield click.option(
        "--lifetime", metavar="SECONDS", callback=_lifetime, help="Seconds after which it ends by itself."
    )


def _lifetime(context: click.Context, parameter: click.Parameter, given: str | None) -> float | None:
    try:
        return None if given is None else lifetime_argument(given)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise click.BadParameter(str(error)) from error


def _engine() -> Iterator[Callable[..., Any]]:
    for field in fields(EngineConfig):
        name, text = "--" + field.name.replace("_", "-"), ENGINE_OPTIONS[field.name]
        if field.default == ():
            yield click.option(name, metavar="FIELDS", callback=_names, help=text)
        elif isinstance(field.default, bool):
            yield click.option(f"{name}/--no-{name[2:]}", default=field.default, help=text)
        elif field.default is None:
            yield click.option(name, type=click.IntRange(min=0), help=text)
        else:
            yield click.option(name, default=field.default, show_default=True, help=text)


def _names(context: click.Context, parameter: click.Parameter, given: str | None) -> tuple[str, ...]:
    """The names; whether there are such fields, EngineConfig says."""
    return tuple(name.strip() for name in given.split(",")) if given else ()


class OneLineErrors(click.Command):
    """A wrong command line is one sentence, a UsageError, in place of click's several lines."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """As click's."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else info_name
            raise UsageError(f"{error.format_message().rstrip('.')}; see {path} --help") from error
