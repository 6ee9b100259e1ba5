"""Documents that a workflow itself holds: what its steps told as output parameters."""

from __future__ import annotations

import tempfile
from pathlib import Path

from chaosgate.artifacts import Artifact, Identity, read_if_there
from chaosgate.artifacts.contract import Model
from chaosgate.submit.argo.workflow import Workflow


def read_told(workflow: Workflow, step: str, artifact: Artifact[Model]) -> Model | None:
    """The document that `step` told; None where it told none, or one that is cut or another run's."""
    texts = [text for one, name, text in workflow.told() if (one, name) == (step, artifact.name)]
    return next((parse_told(workflow.run, text, artifact) for text in texts), None)


def parse_told(run: str, text: str, artifact: Artifact[Model]) -> Model | None:
    """The document in `text`, checked as a file of the run would be; None where it cannot be trusted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / artifact.file
        file.write_text(text, encoding="utf-8")
        return read_if_there(file, artifact, Identity(run, None))
