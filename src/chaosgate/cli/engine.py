"""The command `engine`: the embedded engine as a tool of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from chaosgate.engine.options import OneLineErrors, ServerOptions, server_options
from chaosgate.errors import UsageError


class EngineGroup(OneLineErrors, click.Group):
    """Serves by itself; its commands do something else with the engine."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's; a UsageError for an unknown command names the known ones."""
        from chaosgate.registry import unknown

        if args[0] not in self.commands:
            raise UsageError(unknown("command of engine", args[0], self.commands))
        return super().resolve_command(ctx, args)


@click.group(cls=EngineGroup, invoke_without_command=True)
@server_options
@click.pass_context
def engine(context: click.Context, options: ServerOptions) -> None:
    """Serve the embedded model over OpenAI's API, or talk to it in the terminal.

    Ctrl-C ends the server once its open requests are answered; a second one ends it at once.
    """
    if context.invoked_subcommand is not None:
        refuse_server_options(context)
        return
    from chaosgate.cli.engine_card import print_card
    from chaosgate.engine.serving import run

    run(options, print_card)


def refuse_server_options(context: click.Context) -> None:
    """A UsageError for an option of the server in front of a command, which would be without effect."""
    given = [name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if given:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(f"{option}: is for the server; put what `{context.invoked_subcommand}` takes behind its name")


@engine.command(cls=OneLineErrors)
@click.option("--url", metavar="URL", help="A server that runs already.  [default: an engine started for this chat]")
@click.option("--model", metavar="NAME", help="The model to ask.  [default: the first one the server lists]")
@click.option(
    "--temperature", type=click.FloatRange(0, 2), default=0.0, show_default=True, help="0 takes the likeliest token."
)
@click.option("--max-tokens", type=click.IntRange(min=1), default=200, show_default=True, help="Length of an answer.")
def chat(url: str | None, **options: Any) -> None:
    """Talk to a model in the terminal.

    Answers come as they are made, /help shows prompts to try. Any server of OpenAI's API will do: give its --url.
    """
    from chaosgate.cli.engine_chat import chat_with

    if url is not None:
        chat_with(url, **options)
        return
    from chaosgate.engine.runtime.config import EngineConfig
    from chaosgate.engine.serving import in_background

    with in_background(EngineConfig()) as own:
        chat_with(own, **options)


@engine.command("export-hf", cls=OneLineErrors)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def export_hf(folder: Path) -> None:
    """Write the model for transformers and vLLM."""
    from chaosgate.engine.network.hf import export

    export(folder)
    click.echo(f"wrote {folder}; load it with transformers, or serve it: vllm serve {folder}")
