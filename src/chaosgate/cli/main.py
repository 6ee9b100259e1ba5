"""The command `chaosgate`. Each command imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import signal
from typing import Any

import click

from chaosgate import __version__
from chaosgate.cli.catalogue import catalogue
from chaosgate.cli.compile import compile_
from chaosgate.cli.completion import completion
from chaosgate.cli.explain import explain
from chaosgate.cli.reports import compare, report
from chaosgate.cli.running import abort, logs, status
from chaosgate.cli.runs import cleanup, record, run
from chaosgate.cli.specs import init, plan, validate
from chaosgate.errors import ChaosgateError
from chaosgate.registry import unknown

EPILOG = (
    "Exit codes: 0 pass or warn, 1 the gate says no, 2 bad spec or usage, 3 inconclusive or error, "
    "4 a revert failed or is unproved, 128 + the signal when interrupted."
)


class Gate(click.Group):
    """Commands in the order a person meets them; a user's mistake ends in a sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands as they were added."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command; an unknown one ends in the nearest known name."""
        known = cmd_name in self.commands or cmd_name.startswith("-")
        # A shell that completes a mistyped line is shown nothing.
        if not known and not ctx.resilient_parsing:
            ctx.fail(unknown("command", cmd_name, self.commands))
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command and turn an error a user can mend into its text."""
        try:
            return super().invoke(ctx)
        except ChaosgateError as error:
            click.echo(str(error), err=True)
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            from chaosgate.cli.console import silence_stdout

            silence_stdout()
            ctx.exit(128 + signal.SIGPIPE)
        except KeyboardInterrupt:
            ctx.exit(128 + signal.SIGINT)
        except OSError as error:
            click.echo(f"{error.filename or 'chaosgate'}: {error.strerror or error}", err=True)
            ctx.exit(ChaosgateError.exit_code)


@click.group(cls=Gate, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chaosgate")
def chaosgate() -> None:
    """Chaos-as-Code for LLM serving: a versioned spec goes in, a deployment verdict comes out."""


COMMANDS = (
    *(init, validate, explain, catalogue, plan, compile_),
    *(run, status, logs, abort),
    *(report, compare, record, cleanup, completion),
)

for command in COMMANDS:
    chaosgate.add_command(command)


def main() -> None:
    """The console script."""
    chaosgate(prog_name="chaosgate", windows_expand_args=False)


if __name__ == "__main__":
    main()
