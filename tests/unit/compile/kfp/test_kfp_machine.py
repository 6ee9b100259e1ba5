"""The scaffolding that runs packages fails where Kubeflow Pipelines would: what runs there is no accident."""

# Annotations are left as they are: KFP reads those of a pipeline, and would not know a type by its name.
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf.json_format import MessageToDict, ParseError
from kfp import dsl, kubernetes
from kfp_machine import FAILED, OMITTED, STORE, SUCCEEDED, KfpMachine, Result, TaskError

SAY = "import sys; open(sys.argv[2], 'w').write(sys.argv[1])"
"""Writes its first argument to the file that its second names."""
INPUT_FILE = "import json, sys; print(json.loads(sys.argv[1])['outputs']['outputFile'], end='')"


@dsl.container_component
def say(text: str, out: dsl.Output[dsl.Artifact]) -> dsl.ContainerSpec:
    return dsl.ContainerSpec(image="i:1", command=["python"], args=["-c", SAY, text, out.path])


@dsl.container_component
def say_inline(out: dsl.Output[dsl.Artifact]) -> dsl.ContainerSpec:
    return dsl.ContainerSpec(
        image="i:1",
        command=["python"],
        args=["-c", SAY, "run {{$.pipeline_job_uuid}} {{$.outputs.output_file}}", out.path],
    )


@dsl.container_component
def copy(read: dsl.Input[dsl.Artifact], out: dsl.Output[dsl.Artifact]) -> dsl.ContainerSpec:
    script = "import shutil, sys; shutil.copy(*sys.argv[1:])"
    return dsl.ContainerSpec(image="i:1", command=["python"], args=["-c", script, read.path, out.path])


@dsl.container_component
def run(script: str) -> dsl.ContainerSpec:
    return dsl.ContainerSpec(image="i:1", command=["python"], args=["-c", script])


@dsl.container_component
def silent(out: dsl.Output[dsl.Artifact]) -> dsl.ContainerSpec:
    return dsl.ContainerSpec(image="i:1", command=["python"], args=["-c", "pass"])


@dsl.container_component
def measured(said: str, metrics: dsl.Output[dsl.Metrics]) -> dsl.ContainerSpec:
    script = (
        "import json, os, sys; file = json.loads(sys.argv[1])['outputs']['outputFile'];"
        "os.makedirs(os.path.dirname(file)); open(file, 'w').write(sys.argv[2])"
    )
    return dsl.ContainerSpec(
        image="i:1",
        command=["python"],
        args=["-c", script, dsl.PIPELINE_TASK_EXECUTOR_INPUT_PLACEHOLDER, said],
    )


def carried(pipeline: Any, folder: Path, secrets: dict[str, dict[str, str]] | None = None, **given: str) -> Result:
    documents = [MessageToDict(pipeline.pipeline_spec), MessageToDict(pipeline.platform_spec)]
    return KfpMachine(yaml.safe_dump_all(documents), folder, dict(os.environ), secrets).run(given)


def test_a_constant_placeholder_is_filled_as_a_whole_and_nowhere_else(tmp_path: Path) -> None:
    @dsl.pipeline(name="constants")
    def pipeline() -> None:
        say(text=dsl.PIPELINE_JOB_ID_PLACEHOLDER)
        say(text=f"run {dsl.PIPELINE_JOB_ID_PLACEHOLDER}")
        say_inline()

    result = carried(pipeline, tmp_path)
    run_id = result.artifacts["say"]["out"].uri.split("/")[6]
    assert result.file("say", "out").read_text() == run_id
    assert result.file("say-2", "out").read_text() == "run {{$.pipeline_job_uuid}}"
    assert result.file("say-inline", "out").read_text() == "run {{$.pipeline_job_uuid}} {{$.outputs.output_file}}"


def test_artifacts_go_through_the_store_under_the_names_of_task_and_output(tmp_path: Path) -> None:
    @dsl.pipeline(name="chain")
    def pipeline() -> None:
        copy(read=say(text="hello").outputs["out"])

    result = carried(pipeline, tmp_path)
    assert result.file("copy", "out").read_text() == "hello"
    uri = result.artifacts["copy"]["out"].uri
    assert uri.startswith(f"{STORE}mlpipeline/v2/artifacts/chain/")
    assert uri.split("/")[-3::2] == ["copy", "out"]


def test_an_importer_hands_over_whatever_address_it_is_given(tmp_path: Path) -> None:
    @dsl.pipeline(name="imported")
    def pipeline(uri: str) -> None:
        copy(read=dsl.importer(artifact_uri=uri, artifact_class=dsl.Artifact, reimport=True).output)

    there = tmp_path / "store" / "minio" / "b" / "there"
    there.parent.mkdir(parents=True)
    there.write_text("hello")
    assert carried(pipeline, tmp_path, uri=f"{STORE}b/there").file("copy", "out").read_text() == "hello"
    missing = carried(pipeline, tmp_path / "again", uri=f"{STORE}b/missing")
    assert missing.states == {"importer": SUCCEEDED, "copy": FAILED}
    with pytest.raises(TaskError, match="neither value nor default value provided for uri"):
        carried(pipeline, tmp_path)


def test_a_failure_skips_what_follows_and_whatever_has_not_started_and_the_exit_task_runs(tmp_path: Path) -> None:
    @dsl.pipeline(name="fails")
    def pipeline() -> None:
        with dsl.ExitHandler(say(text="bye")):
            bad = run(script="raise SystemExit(3)")
            slow = run(script="import time; time.sleep(0.5)")
            run(script="pass").after(bad)
            run(script="pass").after(slow)

    result = carried(pipeline, tmp_path)
    assert result.states == {
        "run": FAILED,
        "run-2": SUCCEEDED,
        "run-3": OMITTED,
        "run-4": OMITTED,
        "exit-handler-1": FAILED,
        "say": SUCCEEDED,
    }
    assert (result.exit_codes["run"], result.reasons["run"]) == (3, "exit status 3")
    assert not result.succeeded


def test_a_container_past_its_deadline_is_ended(tmp_path: Path) -> None:
    @dsl.pipeline(name="late")
    def pipeline() -> None:
        kubernetes.set_timeout(run(script="import time; time.sleep(60)"), 1)

    assert carried(pipeline, tmp_path).reasons == {"run": "DeadlineExceeded"}


def test_a_secret_becomes_a_variable_and_a_missing_one_keeps_the_container_from_starting(tmp_path: Path) -> None:
    @dsl.pipeline(name="secret")
    def pipeline() -> None:
        task = run(script="import os; raise SystemExit(os.environ['WORD'] != 'sesame')")
        kubernetes.use_secret_as_env(task, "door", {"key": "WORD"})

    assert carried(pipeline, tmp_path, {"door": {"key": "sesame"}}).succeeded
    result = carried(pipeline, tmp_path / "again")
    assert result.reasons == {"run": "CreateContainerConfigError: no Secret or key door/key"}


def test_an_output_that_is_not_written_fails_the_task(tmp_path: Path) -> None:
    @dsl.pipeline(name="silent")
    def pipeline() -> None:
        silent()

    assert carried(pipeline, tmp_path).reasons == {"silent": "unable to stat the output out"}


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ('{"artifacts": {"metrics": {"artifacts": [{"metadata": {"a": 1.5}}]}}}', [SUCCEEDED, None]),
        ('{"artifacts": {"metrics": {"artifacts": [{"metadata": {"a": "b"}}]}}}', [FAILED, "metric value 'a' must be"]),
        ('{"artifacts": {"metrics": {"artifacts": [{"metadata": {"a": NaN}}]}}}', [FAILED, "failed to unmarshal"]),
        ('{"artifacts": {"metrics": {"artifacts": [{"meta": {}}]}}}', [FAILED, "failed to unmarshal"]),
        ("", [FAILED, "failed to unmarshal"]),
    ],
)
def test_the_executor_output_is_read_strictly(tmp_path: Path, said: str, outcome: Sequence[str | None]) -> None:
    @dsl.pipeline(name="measured")
    def pipeline() -> None:
        measured(said=said)

    result = carried(pipeline, tmp_path)
    assert result.states["measured"] == outcome[0]
    if outcome[1] is None:
        assert result.metadata("measured", "metrics") == {"a": 1.5}
    else:
        assert result.reasons["measured"].startswith(outcome[1])


def test_a_field_that_kfp_does_not_know_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match='no field named "colour"'):
        KfpMachine("colour: red\ndeploymentSpec: {}\n", tmp_path, {})
