"""The bounds of `spec.slo`: how they are written, and that a spec without them is the spec it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chaosgate.errors import SpecError
from chaosgate.model.load import load_spec
from chaosgate.model.observation import RequestBound
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import Bound

BASE = Path(__file__).with_name("base_spec.yaml")


def written(path: Path, **spec: Any) -> Path:
    data = yaml.safe_load(BASE.read_text())
    data["spec"] |= spec
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


def loaded(path: Path, **spec: Any) -> ChaosSpec:
    return load_spec(written(path, **spec))


def test_bounds_are_read_with_their_units(tmp_path: Path) -> None:
    spec = loaded(tmp_path / "spec.yaml", slo=[{"sli": "ttft", "bound": "<= 300ms"}, {"sli": "itl", "bound": "< 50ms"}])
    assert spec.spec.slo == (
        RequestBound(sli="ttft", bound=Bound("<=", 0.3, "duration")),
        RequestBound(sli="itl", bound=Bound("<", 0.05, "duration")),
    )


def test_they_enter_the_digest_only_where_there_are_any(tmp_path: Path) -> None:
    bare = loaded(tmp_path / "bare.yaml")
    bound = loaded(tmp_path / "bound.yaml", slo=[{"sli": "ttft", "bound": "<= 300ms"}])
    assert "slo" not in bare.digested()
    assert bare.digest() != bound.digest()


@pytest.mark.parametrize(
    ("slo", "says"),
    [
        (
            {"sli": "ttft-p95", "bound": "<= 300ms"},
            "read 'ttft-p95'; a bound of `slo` judges request by request: write 'ttft'",
        ),
        ({"sli": "ttft", "bound": "<= 5 %"}, "spec.slo[0].bound: read '<= 5 %'; SLI 'ttft' needs a duration"),
        ({"sli": "goodput", "bound": ">= 5/s"}, "read 'goodput', a rate; a bound of `slo` judges request by request"),
        ({"sli": "latency", "bound": "<= 1s"}, "spec.slo[0].sli: unknown SLI 'latency'"),
    ],
)
def test_what_no_request_can_keep_is_refused(slo: dict[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        loaded(tmp_path / "spec.yaml", slo=[slo])
    assert says in str(refused.value)
