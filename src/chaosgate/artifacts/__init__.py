"""The files between steps: each kind of artifact has one name, one schema, one model, one way to read and write it."""

from chaosgate.artifacts.contract import ARTIFACTS, Artifact, Identity
from chaosgate.artifacts.documents import read_document, write_document
from chaosgate.artifacts.lines import read_lines, write_lines

__all__ = ["ARTIFACTS", "Artifact", "Identity", "read_document", "read_lines", "write_document", "write_lines"]
