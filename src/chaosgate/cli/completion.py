"""The command `completion`, and what shells offer where a run, a kind, a field or a spec is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from chaosgate.cli.options import default_state
from chaosgate.errors import ChaosgateError

PROGRAM = "chaosgate"
VARIABLE = "_CHAOSGATE_COMPLETE"
INSTALL = {
    "bash": 'add to ~/.bashrc:  eval "$(chaosgate completion bash)"',
    "zsh": 'add to ~/.zshrc, behind compinit:  eval "$(chaosgate completion zsh)"',
    "fish": "write it once:  chaosgate completion fish > ~/.config/fish/completions/chaosgate.fish",
}
"""How each shell is told, by its name."""

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


@click.command()
@click.argument("shell", type=click.Choice(list(INSTALL)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, runs, kinds and fields in a shell."""
    script = get_completion_class(shell)
    assert script is not None  # a shell of INSTALL is one of click's
    completer = script(context.find_root().command, {}, PROGRAM, VARIABLE)
    # A subclass would ask the shell for its version first, which may not be there; the script is the same.
    text = ShellComplete.source(completer)
    header = f"Completion of {PROGRAM} for {shell}; to have it in every shell, {INSTALL[shell]}"
    # zsh finds the `#compdef` of a completion in its first line.
    lines = text.splitlines() if text.startswith("#compdef") else ["", *text.splitlines()]
    click.echo("\n".join((*filter(None, lines[:1]), f"# {header}", *lines[1:])))


def _offers(find: Callable[[click.Context, str], Iterable[str]]) -> Complete:
    """A completion that offers what `find` gives and begins like the word; a shell is never shown an error."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        try:
            return [CompletionItem(word) for word in find(context, incomplete) if word.startswith(incomplete)]
        except (ChaosgateError, OSError):
            return []

    return complete


def _state(context: click.Context) -> Path:
    given = context.params.get("state")
    return given if isinstance(given, Path) else default_state()


def _runs(context: click.Context, incomplete: str) -> Iterable[str]:
    from chaosgate.components.places import known_runs

    return known_runs(_state(context))


def _steps(context: click.Context, incomplete: str) -> Iterable[str]:
    from chaosgate.components.places import known_runs, run_dir
    from chaosgate.run.logs import log_files, step_names

    state, run = _state(context), context.params.get("run_id")
    if run not in known_runs(state):
        return ()
    folder = run_dir(state.resolve(), str(run))
    return dict.fromkeys((*step_names(folder), *log_files(folder)))


def _kinds(context: click.Context, incomplete: str) -> Iterable[str]:
    from chaosgate.cli.kinds import known_names

    return known_names()


def _fields(context: click.Context, incomplete: str) -> Iterable[str]:
    """Field paths one level below what is written: all of them would fill the screen."""
    from chaosgate.cli.fields import known_paths

    depth = incomplete.count(".")
    return [path for path in known_paths() if path.count(".") <= depth]


complete_runs = _offers(_runs)
complete_steps = _offers(_steps)
complete_kinds = _offers(_kinds)
complete_fields = _offers(_fields)


def complete_what(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """A field's path or, where none begins so, a file."""
    fields = complete_fields(context, parameter, incomplete)
    files = [] if fields and incomplete else [CompletionItem(incomplete, type="file")]
    return [*files, *fields]
