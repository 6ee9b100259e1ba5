"""The command `chaosgate`. Each command imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import os
import signal
import traceback
from typing import Any

import click

from chaosgate import __version__
from chaosgate.cli.catalogue import catalogue
from chaosgate.cli.compile import compile_
from chaosgate.cli.completion import completion
from chaosgate.cli.engine import engine
from chaosgate.cli.explain import explain
from chaosgate.cli.gateway import gateway
from chaosgate.cli.history import gate, history
from chaosgate.cli.load import load
from chaosgate.cli.rbac import rbac
from chaosgate.cli.reports import compare, report
from chaosgate.cli.running import abort, logs, status
from chaosgate.cli.runs import attach, cleanup, record, run
from chaosgate.cli.schedule import schedule
from chaosgate.cli.specs import init, plan, validate
from chaosgate.errors import ChaosgateError
from chaosgate.registry import unknown

EPILOG = (
    "Exit codes: 0 pass or warn, 1 the gate says no, 2 bad spec or usage, 3 inconclusive or error, "
    "4 a revert failed or is unproved, 128 + the signal when interrupted."
)


SENTENCE = 200
"""Characters: more than the first sentence of any command has."""


class Gate(click.Group):
    """Commands in the order a person meets them; a user's mistake ends in a sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands as they were added."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command with its whole first sentence: click would cut it off at the end of the line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(SENTENCE)) for name, one in self.commands.items()])

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
            click.echo(os_error_text(error), err=True)
            ctx.exit(ChaosgateError.exit_code)


def os_error_text(error: OSError) -> str:
    """The file that the system refused, and why."""
    return f"{error.filename or 'chaosgate'}: {error.strerror or error}"


@click.group(cls=Gate, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chaosgate")
def chaosgate() -> None:
    """Chaos-as-Code for LLM serving: a versioned spec goes in, a deployment verdict comes out."""


COMMANDS = (
    *(init, validate, explain, catalogue, plan, compile_, rbac),
    *(run, attach, status, logs, abort, schedule),
    *(report, compare, gate, history, record, cleanup, engine, gateway, load, completion),
)

for command in COMMANDS:
    chaosgate.add_command(command)


def open_standard_files() -> None:
    """Put /dev/null where stdin, stdout or stderr is closed.

    The next file or socket would take the number, be taken for it, and libuv aborts the process when it closes it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def main() -> None:
    """The console script. A crash ends in exit code 3: Python's own for one, 1, is the gate's no."""
    open_standard_files()
    try:
        chaosgate(prog_name="chaosgate", windows_expand_args=False)
    except OSError as error:
        click.echo(os_error_text(error), err=True)
        raise SystemExit(ChaosgateError.exit_code) from None
    except Exception as error:
        traceback.print_exc()
        raise SystemExit(ChaosgateError.exit_code) from error


if __name__ == "__main__":
    main()
