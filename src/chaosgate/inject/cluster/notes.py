"""The note that a fault leaves on what it changes: whose it is, what was there, and what it put in its place.

The note is written with the change or before it, so that whoever cleans up finds by the run id alone what to restore,
and can tell what somebody else has changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError

from chaosgate.cluster.names import HIT_LABEL, UNDO_ANNOTATION
from chaosgate.errors import ClusterError
from chaosgate.model.base import Frozen, first_refusal

Json = dict[str, Any]

UNMARKED: Json = {"labels": {HIT_LABEL: None}, "annotations": {UNDO_ANNOTATION: None}}
"""The part of a merge patch that takes a note away."""


class Note(Frozen):
    """What a fault did to an object. `before` and `put` have the same keys."""

    run: str
    fault: str
    change: Literal["limit", "scale", "cordon", "taint", "block"]
    before: dict[str, Any] = {}
    put: dict[str, Any] = {}

    def marked(self) -> Json:
        """The part of a merge patch that leaves this note on an object."""
        return {"labels": {HIT_LABEL: self.run}, "annotations": {UNDO_ANNOTATION: self.model_dump_json()}}


def note_on(thing: Mapping[str, Any]) -> Note | None:
    """The note on an object, None where there is none; a ClusterError for one that cannot be read."""
    metadata = thing["metadata"]
    text = metadata.get("annotations", {}).get(UNDO_ANNOTATION)
    if text is None:
        return None
    try:
        return Note.model_validate_json(text)
    except ValidationError as error:
        raise ClusterError(
            f"{thing['kind']} {metadata['name']}: its annotation {UNDO_ANNOTATION} cannot be read: "
            f"{first_refusal(error)}; restore it by hand and remove annotation and label {HIT_LABEL}"
        ) from error


def version_of(thing: Mapping[str, Any]) -> Json:
    """The part of a patch that has it refused where the object is another than the one that was read."""
    return {"resourceVersion": thing["metadata"]["resourceVersion"]}
