"""gate: answer with the verdict's exit code, so that any pipeline can stop on it."""

from __future__ import annotations

import sys

from chaosgate.artifacts import VERDICT, Identity, read_document
from chaosgate.components.definition import Context
from chaosgate.errors import ArtifactError
from chaosgate.model.result import EXIT_CODES


def run(context: Context) -> int:
    """0 pass or warn, 1 fail, 3 inconclusive or error; a verdict that cannot be read is an error."""
    try:
        verdict = read_document(context.inputs["verdict"], VERDICT, Identity(context.run, None))
    except ArtifactError as error:
        print(f"gate: error: {error}", file=sys.stderr)
        return EXIT_CODES["error"]
    print(f"gate: {verdict.verdict}")
    return verdict.exit_code
