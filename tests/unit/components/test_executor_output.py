"""The numbers that Kubeflow Pipelines shows: where they go, that they are strict JSON, and what they are called."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from judged_run import RUN, passing, verdict
from simulated_run import passing_fits

from chaosgate.artifacts import ESTIMATES, FIT, VERDICT, Identity, write_document, write_spec
from chaosgate.components.__main__ import parse
from chaosgate.components.definition import COMPONENTS, Context
from chaosgate.components.executor_output import numbers, shows_numbers, write_executor_output
from chaosgate.errors import UsageError
from chaosgate.strict_json import parse_json
from chaosgate.tracking.pages import run_points

CONCLUDE = COMPONENTS["conclude"]


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """A conclude step that has run, in a pod whose output folder was not made."""
    identity = Identity("r", RUN.spec.digest())
    write_spec(tmp_path / "spec", RUN.spec)
    write_document(tmp_path / "estimates", ESTIMATES, identity, passing())
    write_document(tmp_path / "fit", FIT, identity, passing_fits())
    write_document(tmp_path / "verdict", VERDICT, identity, verdict())
    return Context(
        run="r",
        state=None,
        arguments={},
        inputs={"spec": tmp_path / "spec"},
        outputs={name: tmp_path / name for name in ("estimates", "fit", "verdict")},
        executor_input=json.dumps({"outputs": {"outputFile": str(tmp_path / "kfp_outputs" / "output_metadata.json")}}),
    )


def written(context: Context) -> Path:
    return Path(json.loads(context.executor_input or "")["outputs"]["outputFile"])


def test_the_numbers_are_those_of_the_record_in_mlflow_and_of_the_verdict(context: Context) -> None:
    found = numbers(context)
    expected = {point.key: point.value for point in run_points(RUN.spec, passing(), passing_fits())}
    assert found.items() >= expected.items()
    said = {name: value for name, value in found.items() if name.startswith("verdict/")}
    reasons = verdict().reasons
    assert said == {
        "verdict/exit-code": 0.0,
        "verdict/pass_count": float(len(reasons)),
        **dict.fromkeys([f"verdict/{name}_count" for name in ("warn", "fail", "inconclusive", "error")], 0.0),
    }
    assert {"baseline/ttft-p95_s", "fit/knee_value", "health/schedule-delay-p99_s"} <= found.keys()


def test_the_file_is_strict_json_with_nothing_but_numbers_at_one_artifact(context: Context) -> None:
    write_executor_output(CONCLUDE, context)
    data = parse_json(written(context).read_bytes())
    assert data == {"artifacts": {"metrics": {"artifacts": [{"metadata": numbers(context)}]}}}
    values = data["artifacts"]["metrics"]["artifacts"][0]["metadata"].values()
    assert values
    assert all(isinstance(value, float) for value in values)


def test_a_number_that_is_missing_is_left_out(context: Context, tmp_path: Path) -> None:
    fits = passing_fits()
    open_end = fits.fits[0].model_copy(
        update={"threshold": fits.fits[0].threshold.model_copy(update={"upper": None, "outcome": "bracketed"})}
    )
    identity = Identity("r", RUN.spec.digest())
    write_document(tmp_path / "fit", FIT, identity, fits.model_copy(update={"fits": (open_end,)}))
    assert "fit/knee_upper" not in numbers(context)
    assert "fit/knee_lower" in numbers(context)


def test_a_run_without_estimates_has_the_numbers_of_its_verdict(context: Context, tmp_path: Path) -> None:
    (tmp_path / "estimates").write_bytes(b"")
    (tmp_path / "fit").write_bytes(b"")
    assert all(name.startswith("verdict/") for name in numbers(context))


def test_a_conclusion_without_a_verdict_has_no_numbers(context: Context, tmp_path: Path) -> None:
    (tmp_path / "verdict").write_bytes(b"")
    (tmp_path / "spec").unlink()
    write_executor_output(CONCLUDE, context)
    assert parse_json(written(context).read_bytes())["artifacts"]["metrics"]["artifacts"] == [{"metadata": {}}]


def test_nothing_is_written_elsewhere_than_in_kfp_and_by_no_other_component(context: Context) -> None:
    write_executor_output(CONCLUDE, replace(context, executor_input=None))
    write_executor_output(COMPONENTS["measure"], context)
    assert not written(context).parent.exists()
    assert [name for name, component in COMPONENTS.items() if shows_numbers(component)] == ["conclude"]


def test_an_output_that_cannot_be_written_costs_the_numbers_and_not_the_step(
    context: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kfp_outputs").write_text("in the way")
    write_executor_output(CONCLUDE, context)
    said = capsys.readouterr().err
    assert said.startswith(
        f"conclude: Kubeflow Pipelines will show no numbers: {written(context)}: cannot be written: "
    )


@pytest.mark.parametrize("given", ["", "{}", "[]", '{"outputs": 1}', '{"outputs": {"outputFile": NaN}}', "{{$}}"])
def test_an_executor_input_that_is_none_is_refused(context: Context, given: str) -> None:
    with pytest.raises(UsageError) as refused:
        write_executor_output(CONCLUDE, replace(context, executor_input=given))
    assert str(refused.value) == (
        f"--executor-input: read {given!r}; the executor input of Kubeflow Pipelines is needed, "
        "a JSON object with outputs.outputFile"
    )


def test_the_flag_is_every_components(tmp_path: Path) -> None:
    words = ["--run", "r", "--verdict", str(tmp_path / "v")]
    assert parse(COMPONENTS["gate"], words).executor_input is None
    assert parse(COMPONENTS["gate"], [*words, "--executor-input", "{}"]).executor_input == "{}"
