"""Each promise of a compiled workflow is kept, and its guard refuses a workflow that breaks it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from argo_cases import FULL, compiled, data_of, plug_ins
from pipeline_cases import SPEC

from chaosgate.compile.argo import argo_problems
from chaosgate.compile.argo.guards import GUARDS
from chaosgate.compile.argo.wiring import TOKEN_FOLDER

Data = dict[str, Any]


@pytest.fixture(scope="module")
def good() -> Iterator[Data]:
    with plug_ins():
        yield data_of(compiled(SPEC, FULL))


def template(workflow: Data, name: str) -> Data:
    found: Data = next(one for one in workflow["spec"]["templates"] if one["name"] == name)
    return found


def container(workflow: Data, name: str) -> Data:
    found: Data = template(workflow, name)["container"]
    return found


def task(workflow: Data, name: str) -> Data:
    tasks = template(workflow, "plan")["dag"]["tasks"]
    found: Data = next(one for one in tasks if one["name"] == name)
    return found


def artifact(workflow: Data, step: str, slot: str) -> Data:
    found: Data = next(one for one in task(workflow, step)["arguments"]["artifacts"] if one["name"] == slot)
    return found


def no_deadline(workflow: Data) -> None:
    del template(workflow, "cleanup")["activeDeadlineSeconds"]


def no_time_for_a_task(workflow: Data) -> None:
    given = task(workflow, "gate")["arguments"]["parameters"]
    next(one for one in given if one["name"] == "_deadline")["value"] = "0"


def too_short_a_whole(workflow: Data) -> None:
    workflow["spec"]["activeDeadlineSeconds"] = 60


def no_exit_handler(workflow: Data) -> None:
    del workflow["spec"]["onExit"]


def graph_as_exit_handler(workflow: Data) -> None:
    workflow["spec"]["onExit"] = "plan"


def exit_handler_with_inputs(workflow: Data) -> None:
    template(workflow, "cleanup")["inputs"] = {"parameters": [{"name": "status"}]}


def no_command(workflow: Data) -> None:
    del container(workflow, "measure")["command"]


def no_memory(workflow: Data) -> None:
    del container(workflow, "measure")["resources"]["requests"]["memory"]


def memoized(workflow: Data) -> None:
    template(workflow, "measure")["memoize"] = {"key": "a", "cache": {"configMap": {"name": "b"}}}


def retried(workflow: Data) -> None:
    template(workflow, "gate")["retryStrategy"] = {"limit": "3"}


def retried_by_default(workflow: Data) -> None:
    workflow["spec"]["templateDefaults"] = {"retryStrategy": {"limit": "3"}}


def no_account(workflow: Data) -> None:
    del workflow["spec"]["serviceAccountName"]


def literal_secret(workflow: Data) -> None:
    container(workflow, "conclude")["env"][0] = {"name": "MLFLOW_TRACKING_PASSWORD", "value": "hunter2"}


def no_run(workflow: Data) -> None:
    words = container(workflow, "cleanup")["args"]
    words[words.index("{{workflow.name}}")] = "some-run"


def latest(workflow: Data) -> None:
    container(workflow, "inject")["image"] = "registry.example.com:5000/chaosgate:latest"


def untagged(workflow: Data) -> None:
    container(workflow, "inject")["image"] = "registry.example.com:5000/chaosgate"


def spec_twice(workflow: Data) -> None:
    raw = workflow["spec"]["arguments"]["artifacts"][0]["raw"]
    template(workflow, "plan")["inputs"]["artifacts"][0]["raw"] = copy.deepcopy(raw)


def spec_that_argo_fills_in(workflow: Data) -> None:
    text = json.dumps({"name": "{{workflow.name}}"})
    workflow["spec"]["arguments"]["artifacts"][0]["raw"]["data"] = text


def spec_cut_short(workflow: Data) -> None:
    raw = workflow["spec"]["arguments"]["artifacts"][0]["raw"]
    raw["data"] = raw["data"][:100]


def pods_without_run(workflow: Data) -> None:
    del workflow["spec"]["podMetadata"]["labels"]["chaosgate/run"]


def workflow_without_run(workflow: Data) -> None:
    del workflow["spec"]["workflowMetadata"]


def pods_without_step(workflow: Data) -> None:
    del template(workflow, "measure")["metadata"]["labels"]["chaosgate/step"]


def output_nobody_leaves(workflow: Data) -> None:
    artifact(workflow, "gate", "verdict")["from"] = "{{tasks.conclude.outputs.artifacts.endpoint}}"


def template_that_is_not_there(workflow: Data) -> None:
    task(workflow, "gate")["template"] = "gates"


def argument_too_few(workflow: Data) -> None:
    task(workflow, "deploy")["arguments"]["parameters"].pop(0)


def waits_for_more(workflow: Data) -> None:
    task(workflow, "gate")["dependencies"].append("deploy")


def runs_after_a_failure(workflow: Data) -> None:
    task(workflow, "conclude")["depends"] = "block1-measure.Failed"


def two_of_one_name(workflow: Data) -> None:
    workflow["spec"]["templates"].append(copy.deepcopy(template(workflow, "gate")))


def packed(workflow: Data) -> None:
    del template(workflow, "conclude")["outputs"]["artifacts"][0]["archive"]


def root(workflow: Data) -> None:
    del workflow["spec"]["securityContext"]["runAsNonRoot"]


def writable_root_file_system(workflow: Data) -> None:
    container(workflow, "measure")["securityContext"]["readOnlyRootFilesystem"] = False


def folder_of_the_node(workflow: Data) -> None:
    workflow["spec"]["volumes"][0] = {"name": "work", "hostPath": {"path": "/"}}


def nowhere_to_write(workflow: Data) -> None:
    container(workflow, "measure")["volumeMounts"].pop(0)


def token_for_everyone(workflow: Data) -> None:
    mounts = container(workflow, "conclude")["volumeMounts"]
    mounts[:] = [mount for mount in mounts if mount["mountPath"] != TOKEN_FOLDER]


def argument_that_argo_fills_in(workflow: Data) -> None:
    task(workflow, "tell-team")["arguments"]["parameters"][0]["value"] = "{{=sprig.env('HOME')}}"


TWINS: list[tuple[str, Callable[[Data], None], str]] = [
    ("deadlines", no_deadline, "template 'cleanup' has activeDeadlineSeconds None; give whole seconds above 0"),
    ("deadlines", no_time_for_a_task, "task 'gate' has activeDeadlineSeconds '0'; give whole seconds above 0"),
    (
        "deadlines",
        too_short_a_whole,
        "the workflow has activeDeadlineSeconds 60; its longest chain of steps may take 2797 s",
    ),
    (
        "exit handler",
        no_exit_handler,
        "onExit names the template None, which is not there; nothing would be cleaned up",
    ),
    ("exit handler", graph_as_exit_handler, "onExit names 'plan', which is no single container"),
    (
        "exit handler",
        exit_handler_with_inputs,
        "onExit names 'cleanup', which needs inputs; an exit handler gets none",
    ),
    ("commands", no_command, "template 'measure' has no command; name the interpreter"),
    ("requests", no_memory, "template 'measure' requests no memory"),
    ("caching", memoized, "template 'measure' has memoize; a run must measure by itself"),
    ("retries", retried, "template 'gate' has retryStrategy; a step runs once"),
    ("retries", retried_by_default, "templateDefaults has retryStrategy; a step runs once"),
    ("account", no_account, "serviceAccountName is not set"),
    (
        "secrets",
        literal_secret,
        "template 'conclude' sets the variable 'MLFLOW_TRACKING_PASSWORD' by other means than valueFrom.secretKeyRef; "
        "keep its value in a Secret",
    ),
    ("run id", no_run, "template 'cleanup' is not given --run {{workflow.name}}"),
    (
        "images",
        latest,
        "template 'inject' runs the image 'registry.example.com:5000/chaosgate:latest'; give a digest or a tag other "
        "than latest",
    ),
    (
        "images",
        untagged,
        "template 'inject' runs the image 'registry.example.com:5000/chaosgate'; give a digest or a tag other than "
        "latest",
    ),
    (
        "spec",
        spec_twice,
        "the spec is carried as spec.arguments.artifacts[0].raw.data, spec.templates[0].inputs.artifacts[0].raw.data; "
        "carry one raw artifact 'spec' in the arguments",
    ),
    (
        "spec",
        spec_that_argo_fills_in,
        "the spec holds '{{', in place of which Argo would fill something in; write it as '{\\u007b'",
    ),
    ("spec", spec_cut_short, "the spec is no JSON: "),
    ("labels", pods_without_run, "podMetadata has the labels "),
    (
        "labels",
        workflow_without_run,
        "workflowMetadata.labelsFrom does not make the label 'chaosgate/run' of workflow.name",
    ),
    ("labels", pods_without_step, "template 'measure' has no label 'chaosgate/step'"),
    (
        "references",
        output_nobody_leaves,
        "task 'gate' reads 'verdict' from '{{tasks.conclude.outputs.artifacts.endpoint}}', which no task that it waits "
        "for leaves",
    ),
    ("references", template_that_is_not_there, "task 'gate' runs the template 'gates', which is not there"),
    (
        "references",
        argument_too_few,
        "task 'deploy' gives the parameters ['_deadline', '_step', 'seconds'], its template takes ['_deadline', "
        "'_step', 'digest', 'seconds']",
    ),
    (
        "dependencies",
        waits_for_more,
        "task 'gate' waits for ['conclude', 'deploy'], with nothing else to say when; it reads from ['conclude']",
    ),
    (
        "dependencies",
        runs_after_a_failure,
        "task 'conclude' waits for ['deploy', 'baseline-measure', 'block1-measure', 'block1-inject'], with nothing "
        "else to say when; it reads from ['deploy', 'baseline-measure', 'block1-measure', 'block1-inject']",
    ),
    ("unique names", two_of_one_name, "two templates are called 'gate'; rename a component or leave a step out"),
    ("archives", packed, "template 'conclude' packs its output 'estimates'; set archive.none"),
    ("confinement", root, "the pods' securityContext is "),
    ("confinement", writable_root_file_system, "template 'measure' has the securityContext "),
    ("confinement", folder_of_the_node, "template 'deploy' mounts "),
    ("confinement", nowhere_to_write, "template 'measure' mounts "),
    (
        "tokens",
        token_for_everyone,
        "template 'conclude' sees its account's token; mount an empty folder at "
        "/var/run/secrets/kubernetes.io/serviceaccount",
    ),
    (
        "substitutions",
        argument_that_argo_fills_in,
        "spec.templates[0].dag.tasks[6].arguments.parameters[0].value is \"{{=sprig.env('HOME')}}\", in place of which "
        "Argo would fill something in",
    ),
]


def test_a_compiled_workflow_keeps_every_promise(good: Data) -> None:
    assert argo_problems(good) == []


@pytest.mark.parametrize(("guard", "break_it", "problem"), TWINS, ids=[twin.__name__ for _, twin, _ in TWINS])
def test_a_broken_twin_is_refused_by_its_guard_and_no_other(
    good: Data, guard: str, break_it: Callable[[Data], None], problem: str
) -> None:
    twin = copy.deepcopy(good)
    break_it(twin)
    problems = argo_problems(twin)
    assert problems[0].startswith(f"{guard}: {problem}")
    assert {one.partition(":")[0] for one in problems} == {guard}


def test_every_guard_has_a_broken_twin() -> None:
    assert {guard for guard, _, _ in TWINS} == GUARDS.keys()


def test_what_is_no_workflow_breaks_many_promises() -> None:
    problems = argo_problems({"kind": "Workflow"})
    assert "account: serviceAccountName is not set" in problems
    assert any(problem.startswith("spec: the spec is carried as nothing") for problem in problems)
