"""`python -m chaosgate.engine`: serves the embedded engine until SIGTERM, SIGINT or the end of its lifetime."""

from __future__ import annotations

import sys

import click

from chaosgate.engine.options import OneLineErrors, ServerOptions, server_options
from chaosgate.engine.serving import announce_line, run, say
from chaosgate.errors import UsageError


@click.command("engine", cls=OneLineErrors)
@server_options
def command(options: ServerOptions) -> None:
    """Serve the embedded model over OpenAI's API."""
    run(options, announce_line)


def main(arguments: list[str] | None = None) -> int:
    """Runs the server; the exit code is 0 once it was ended, 2 for a wrong argument or an address that is taken."""
    try:
        return command.main(arguments, prog_name="chaosgate engine", standalone_mode=False) or 0
    except UsageError as error:
        say(str(error))
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
