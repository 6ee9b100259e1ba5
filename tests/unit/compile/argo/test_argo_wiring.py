"""Every placeholder that is written is read again, and nothing else passes for one."""

from __future__ import annotations

import pytest
from pipeline_cases import SPEC

from chaosgate.compile.argo.wiring import (
    PLACEHOLDER,
    RUN,
    SPEC_SOURCE,
    deadline_of,
    input_path,
    output_path,
    parameter,
    read_input_path,
    read_output_path,
    read_parameter,
    read_task_output,
    task_output,
)
from chaosgate.planner import CLUSTER, make_plan

WRITTEN = (RUN, SPEC_SOURCE, input_path("a-b"), output_path("a"), parameter("_step"), task_output("a-1", "b"))


def test_what_is_written_is_read() -> None:
    assert read_input_path("step=" + input_path("block1-measure-ledger")) == "block1-measure-ledger"
    assert read_output_path(output_path("record")) == "record"
    assert read_parameter(parameter("phase")) == "phase"
    assert read_task_output(task_output("block1-measure", "ledger")) == ("block1-measure", "ledger")


@pytest.mark.parametrize("text", ["", "phase", "x" + parameter("phase"), RUN, "{{inputs.parameters.a b}}"])
def test_other_text_is_no_parameter_and_no_artifact(text: str) -> None:
    assert (read_parameter(text), read_output_path(text), read_task_output(text), read_input_path(text)) == (None,) * 4


@pytest.mark.parametrize("text", WRITTEN)
def test_each_is_a_placeholder_that_argo_may_fill_in(text: str) -> None:
    assert PLACEHOLDER.sub("", text) == ""


@pytest.mark.parametrize("text", ["{{=1+1}}", "{{workflow.status}}", "{{tasks.a.outputs.result}}", "{{item}}"])
def test_nothing_else_is(text: str) -> None:
    assert PLACEHOLDER.sub("", text) == text


def test_a_deadline_is_rounded_up_to_whole_seconds() -> None:
    gate = make_plan(SPEC, CLUSTER).step("gate")
    assert deadline_of(gate) == 300
    assert deadline_of(gate.model_copy(update={"deadline": 300.2})) == 301
