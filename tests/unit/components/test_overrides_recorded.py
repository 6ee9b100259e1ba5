"""Rules of safety that a spec overrides stand in the record, from its opening to its end."""

from __future__ import annotations

from pathlib import Path

from cluster_drills import LOST, drill

from chaosgate.components.conclude import close_record
from chaosgate.components.definition import Context
from chaosgate.components.deploy import open_record
from chaosgate.model.result import Record, Verdict
from chaosgate.model.safety import Override

WHY = "there is but one copy to hit"
SPEC = drill(LOST, safety=f"{{overrides: [{{rule: min-healthy, reason: {WHY}}}]}}")
OVERRIDES = (Override(rule="min-healthy", reason=WHY),)
ERROR = Verdict(verdict="error", reasons=())


def closed(opened: Record | None, state: Path) -> Record:
    return close_record(Context("r1", state, {}, {}, {}), SPEC, opened, ERROR)


def test_a_record_has_them_when_it_is_opened_and_when_it_is_closed(tmp_path: Path) -> None:
    opened = open_record(SPEC, tmp_path)

    assert opened.overrides == OVERRIDES
    assert closed(opened, tmp_path).overrides == closed(None, tmp_path).overrides == OVERRIDES
    assert open_record(drill(LOST), tmp_path).overrides == ()


def test_a_record_of_before_can_be_read(tmp_path: Path) -> None:
    old = open_record(SPEC, tmp_path).to_json()
    del old["overrides"]

    assert Record.model_validate(old).overrides == ()
