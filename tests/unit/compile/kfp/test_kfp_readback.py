"""What Kubeflow Pipelines would run is what was planned: a package reads back to its plan."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from kfp_cases import FULL, Data, carriers, compiled, documents_of, executors, plug_ins, settings_of, tasks, text_of
from pipeline_cases import SCENARIOS, SPEC, plan_of, specs

from chaosgate.compile.kfp import kfp_problems, read_kfp
from chaosgate.errors import UsageError
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.model.spec import ChaosSpec


@pytest.fixture(autouse=True, scope="module")
def known_plug_ins() -> Iterator[None]:
    with plug_ins():
        yield


def bare(documents: list[Data]) -> list[Data]:
    """The package without labels and resources, which say nothing of the plan; comments fell away when it was read."""
    for label, executor in executors(documents).items():
        if "container" in executor:
            del executor["container"]["resources"]
            del settings_of(documents, label)["podMetadata"]
    return documents


@settings(max_examples=20)
@given(spec=specs(), carrier=carriers())
def test_a_package_reads_back_to_its_plan_from_tasks_arguments_and_dependencies_alone(
    spec: ChaosSpec, carrier: Carrier
) -> None:
    text = compiled(spec, carrier)
    assert compiled(spec, carrier) == text
    assert kfp_problems(documents_of(text)) == []
    assert read_kfp(text_of(bare(documents_of(text)))) == plan_of(spec, carrier)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_every_scenario_reads_back(file: Path) -> None:
    spec = load_spec(file)
    assert read_kfp(compiled(spec)) == plan_of(spec, Carrier())


@pytest.mark.thorough
@pytest.mark.slow
def test_the_bytes_are_the_same_in_every_process() -> None:
    script = "from kfp_cases import *\nwith plug_ins(): print(compiled(SPEC, FULL), end='')"
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


@pytest.mark.parametrize("name", ["digest", "seconds"])
def test_another_argument_is_another_plan(name: str) -> None:
    documents = documents_of(compiled())
    tasks(documents)["deploy"]["inputs"]["parameters"][name]["runtimeValue"]["constant"] = "other"
    read = read_kfp(text_of(documents))
    assert read != plan_of(SPEC, Carrier())
    assert read.step("deploy").arguments[name] == "other"


def test_another_source_is_another_plan() -> None:
    documents = documents_of(compiled())
    status = tasks(documents)["block1-inject"]["inputs"]["artifacts"]["status_in"]
    status["taskOutputArtifact"]["producerTask"] = "deploy"
    assert read_kfp(text_of(documents)) != plan_of(SPEC, Carrier())


def test_another_deadline_is_another_plan() -> None:
    documents = documents_of(compiled())
    settings_of(documents, "exec-gate")["activeDeadlineSeconds"] = "7"
    assert read_kfp(text_of(documents)).step("gate").deadline == 7


def foreign_source(documents: list[Data]) -> None:
    source = tasks(documents)["gate"]["inputs"]["artifacts"]["verdict"]["taskOutputArtifact"]
    source["outputArtifactKey"] = "opinion"


def swapped_steps(documents: list[Data]) -> None:
    """The words say one step, the task another."""
    artifacts = tasks(documents)["conclude"]["inputs"]["artifacts"]
    source = artifacts["baseline_measure_ledger"]["taskOutputArtifact"]
    source["producerTask"] = "block1-measure"


def other_program(documents: list[Data]) -> None:
    executors(documents)["exec-gate"]["container"]["args"][1] = "somebody.else"


def fixed_word(documents: list[Data]) -> None:
    executors(documents)["exec-gate"]["container"]["args"][-1] = "/tmp/verdict.json"


def unknown_argument(documents: list[Data]) -> None:
    del tasks(documents)["deploy"]["inputs"]["parameters"]["digest"]


def no_exit_task(documents: list[Data]) -> None:
    del tasks(documents)["cleanup"]["triggerPolicy"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            foreign_source,
            "task gate reads {{$.inputs.artifacts['verdict'].path}} from 'opinion' of conclude",
        ),
        (
            swapped_steps,
            "task conclude reads baseline-measure={{$.inputs.artifacts['baseline_measure_ledger'].path}} from 'ledger' "
            "of block1-measure",
        ),
        (other_program, "task gate runs 'python -m somebody.else gate'"),
        (fixed_word, "task gate has --verdict /tmp/verdict.json in its command line"),
        (unknown_argument, "task deploy has no constant text as its parameter digest"),
        (no_exit_task, "it has 0 exit tasks, not one"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_chaosgate_never_writes_is_refused(change: Callable[[list[Data]], None], why: str) -> None:
    documents = documents_of(compiled())
    change(documents)
    with pytest.raises(UsageError) as refused:
        read_kfp(text_of(documents))
    assert str(refused.value) == (
        f"this is no package that `chaosgate compile --to kfp` wrote: {why}; compile the spec again"
    )


@pytest.mark.parametrize("text", ["a: 1", "[1]\n---\n[2]", "a: [", ""])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="this is no package that `chaosgate compile --to kfp` wrote: "):
        read_kfp(text)
