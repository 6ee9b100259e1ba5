"""The command `explain`: an experiment in plain words, or what a field of a spec means."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from chaosgate.cli.completion import complete_what
from chaosgate.cli.options import SpecOptions, output_option, spec_options
from chaosgate.errors import UsageError

SUFFIXES = (".yaml", ".yml", ".json")


@click.command()
@click.argument("what", metavar="WHAT", shell_complete=complete_what)
@spec_options
@output_option
def explain(what: str, options: SpecOptions, output: str) -> None:
    """Explain a spec in plain words, or a field of specs.

    WHAT is a spec's file, or the path of a field such as spec.workload.arrivals or spec.faults[].dose.
    """
    if _is_file(what):
        _explain_spec(Path(what), options, output)
    elif options != SpecOptions():
        raise UsageError(f"{what}: is no file; --set, --values and --profile go with a spec's file")
    else:
        _explain_field(what, output)


def _is_file(what: str) -> bool:
    """Whether a file is meant: one that is there, or a word that looks like a file's name and like no field's."""
    return os.path.isfile(what) or os.sep in what or what.endswith(SUFFIXES)


def _explain_spec(path: Path, options: SpecOptions, output: str) -> None:
    from chaosgate.cli.experiment import experiment_of
    from chaosgate.cli.experiment_text import experiment_text
    from chaosgate.cli.loading import load

    found = load(path, options)
    experiment = experiment_of(found.spec, found.carrier)
    click.echo(json.dumps(experiment.to_json(), indent=2) if output == "json" else experiment_text(experiment))


def _explain_field(what: str, output: str) -> None:
    from chaosgate.cli.field_text import field_text
    from chaosgate.cli.fields import find_field

    field = find_field(what)
    click.echo(json.dumps(field.to_json(), indent=2) if output == "json" else field_text(field))
