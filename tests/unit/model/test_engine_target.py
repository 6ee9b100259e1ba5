"""Which targets a fault inside the engine can be carried into; elsewhere it is refused where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.errors import SpecError
from chaosgate.model.fault import EngineFault
from chaosgate.model.load import parse_spec

BASE = (Path(__file__).parent / "base_spec.yaml").read_text()
WIRE = """\
      kind: wire.latency
      jitter: 5ms
      select: {share: 50 %, path: /v1/chat/completions}
      dose: {parameter: delay, values: [100ms, 200ms]"""
EMBEDDED = "{engine: embedded, model: embedded/tiny}"


def spec(target: str = EMBEDDED) -> str:
    assert WIRE in BASE
    inside = "      kind: kv.token-overwrite\n      dose: {parameter: share, values: [10 %, 50 %]"
    return BASE.replace(WIRE, inside).replace(EMBEDDED, target).replace(">= 100ms", ">= 10 %")


def test_the_embedded_engine_carries_it() -> None:
    (fault,) = parse_spec(spec(), "spec.yaml").spec.faults
    assert isinstance(fault, EngineFault)


@pytest.mark.parametrize(
    "target",
    [
        "{engine: endpoint, model: m, endpoint: http://llm:8000}",
        "{engine: endpoint, model: m, kubernetes: {service: llm, port: 8000}}",
        "{engine: vllm, model: m}",
    ],
)
def test_no_other_engine_does(target: str) -> None:
    engine = target.split(",")[0].removeprefix("{engine: ")
    with pytest.raises(SpecError) as refused:
        parse_spec(spec(target), "spec.yaml")
    (line,) = str(refused.value).split("\n")
    assert line.partition(" ")[2] == (
        f"spec.faults[0].kind: read 'kv.token-overwrite', which acts inside the serving process; spec.target.engine is "
        f"'{engine}', and this version carries such faults in the embedded engine alone: write `engine: embedded`, or "
        "another fault"
    )
