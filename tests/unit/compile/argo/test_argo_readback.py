"""What Argo would run is what was planned: a workflow reads back to its plan."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from argo_cases import FULL, carriers, compiled, data_of, plug_ins
from hypothesis import given, settings
from pipeline_cases import SCENARIOS, SPEC, plan_of, specs

from chaosgate.compile.argo import read_argo
from chaosgate.errors import UsageError
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.model.spec import ChaosSpec


@pytest.fixture(autouse=True, scope="module")
def known_plug_ins() -> Iterator[None]:
    with plug_ins():
        yield


def text_of(data: Any) -> str:
    text: str = yaml.dump(data, Dumper=yaml.CSafeDumper)
    return text


def bare(data: Any) -> Any:
    """The workflow without annotations and labels at any depth; comments fell away when it was read."""
    if isinstance(data, dict):
        return {key: bare(value) for key, value in data.items() if key not in ("annotations", "labels")}
    return [bare(value) for value in data] if isinstance(data, list) else data


@settings(max_examples=30)
@given(spec=specs(), carrier=carriers())
def test_a_workflow_reads_back_to_its_plan_from_tasks_arguments_and_dependencies_alone(
    spec: ChaosSpec, carrier: Carrier
) -> None:
    text = compiled(spec, carrier)
    assert compiled(spec, carrier) == text
    plan = plan_of(spec, carrier)
    assert read_argo(text_of(bare(data_of(text)))) == plan


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_every_scenario_reads_back(file: Path) -> None:
    spec = load_spec(file)
    assert read_argo(compiled(spec)) == plan_of(spec, Carrier())


@pytest.mark.thorough
@pytest.mark.slow
def test_the_bytes_are_the_same_in_every_process() -> None:
    script = "from argo_cases import *\nwith plug_ins(): print(compiled(SPEC, FULL), end='')"
    texts = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "4711")
    ]
    assert texts == [compiled(SPEC, FULL)] * 2


def test_another_order_of_arguments_in_a_template_is_another_plan() -> None:
    data = data_of(compiled())
    words = next(one for one in data["spec"]["templates"] if one["name"] == "inject")["container"]["args"]
    ledger, timeline = words.index("--ledger"), words.index("--timeline")
    words[ledger], words[timeline] = words[timeline], words[ledger]
    assert read_argo(text_of(data)) != plan_of(SPEC, Carrier())


def test_a_task_that_waits_for_more_than_it_reads_is_refused() -> None:
    data = data_of(compiled())
    tasks = data["spec"]["templates"][0]["dag"]["tasks"]
    tasks[-1]["dependencies"].append("deploy")
    with pytest.raises(UsageError) as refused:
        read_argo(text_of(data))
    assert str(refused.value) == (
        "task 'gate' waits for ['conclude', 'deploy'] and reads from ['conclude']; compile the spec again"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2]", "it has no `kind: Workflow`"),
        ("kind: Pod", "it has no `kind: Workflow`"),
        ("kind: Workflow", "KeyError 'onExit'"),
        ("a: b: c", 'mapping values are not allowed in this context\n  in "<unicode string>", line 1, column 5'),
    ],
)
def test_another_file_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_argo(text)
    assert str(refused.value) == (
        f"this is no workflow that `chaosgate compile --to argo` wrote: {why}; compile the spec again"
    )
