"""The tallies of the harness as a file, so that one study can be simulated again without the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coverage_study import Study, Tally, TrialPlan

FILE = Path(__file__).with_name("coverage.json")


@dataclass(frozen=True)
class Kept:
    """The tally of a study, when it was made and from how many trials under which seed."""

    study: str
    date: str
    plan: TrialPlan
    tally: Tally

    @classmethod
    def made_now(cls, study: Study, plan: TrialPlan, tally: Tally) -> Kept:
        """With the date of today."""
        return cls(study.id, f"{datetime.now(UTC):%Y-%m-%d}", plan, tally)


def read(file: Path = FILE) -> dict[str, Kept]:
    """What is kept, by study; nothing where there is no file."""
    rows = json.loads(file.read_text()) if file.exists() else []
    return {row["study"]: _kept(row) for row in rows}


def _kept(row: Mapping[str, Any]) -> Kept:
    counted = {**row["tally"], "refusals": tuple((reason, n) for reason, n in row["tally"]["refusals"])}
    return Kept(row["study"], row["date"], TrialPlan(**row["plan"]), Tally(**counted))


def write(kept: Mapping[str, Kept], studies: Sequence[Study], file: Path = FILE) -> None:
    """Keep what belongs to `studies`, in their order, one a line; what belongs to none of them is dropped."""
    lines = [json.dumps(asdict(kept[study.id]), allow_nan=False) for study in studies if study.id in kept]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def settings_digest(studies: Sequence[Study], plan: TrialPlan) -> str:
    """What the page's figures depend on, as far as it can be named: the studies' designs, their number and the seed."""
    settings = [[study.id, study.right] for study in studies], asdict(plan)
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:16]
