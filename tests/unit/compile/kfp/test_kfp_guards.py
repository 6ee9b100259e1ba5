"""Each promise of a compiled package is kept, and its guard refuses a package that breaks it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest
from kfp_cases import FULL, Data, compiled, documents_of, executors, plug_ins, settings_of, tasks
from pipeline_cases import SPEC

from chaosgate.compile.kfp import kfp_problems
from chaosgate.compile.kfp.guards import RULE_GUARDS
from chaosgate.compile.kfp.package import Package

Documents = list[Data]


@pytest.fixture(scope="module")
def good() -> Iterator[Documents]:
    with plug_ins():
        yield documents_of(compiled(SPEC, FULL))


def group(documents: Documents) -> Data:
    found: Data = documents[0]["components"]["comp-exit-handler-1"]["dag"]["tasks"]
    return found


def container(documents: Documents, step: str) -> Data:
    found: Data = executors(documents)[f"exec-{step}"]["container"]
    return found


def artifact(documents: Documents, step: str, name: str) -> Data:
    found: Data = tasks(documents)[step]["inputs"]["artifacts"][name]["taskOutputArtifact"]
    return found


def parameter(documents: Documents, step: str, name: str) -> Data:
    found: Data = tasks(documents)[step]["inputs"]["parameters"][name]["runtimeValue"]
    return found


def unknown_field(documents: Documents) -> None:
    documents[0]["serviceAccount"] = "drills"


def unknown_container_field(documents: Documents) -> None:
    container(documents, "gate")["workingDir"] = "/"


def unknown_platform_field(documents: Documents) -> None:
    documents[1]["platforms"]["kubernetes"]["deploymentSpec"]["serviceAccount"] = "drills"


def unknown_setting(documents: Documents) -> None:
    settings_of(documents, "exec-gate")["serviceAccountName"] = "drills"


def cached(documents: Documents) -> None:
    tasks(documents)["conclude"]["cachingOptions"]["enableCache"] = True


def unsaid_caching(documents: Documents) -> None:
    del tasks(documents)["importer"]["cachingOptions"]


def no_deadline(documents: Documents) -> None:
    del settings_of(documents, "exec-block1-measure")["activeDeadlineSeconds"]


def no_settings(documents: Documents) -> None:
    del documents[1]["platforms"]["kubernetes"]["deploymentSpec"]["executors"]["exec-cleanup"]


def no_exit_task(documents: Documents) -> None:
    del tasks(documents)["cleanup"]["triggerPolicy"]


def other_trigger(documents: Documents) -> None:
    tasks(documents)["cleanup"]["triggerPolicy"]["strategy"] = "ALL_UPSTREAM_TASKS_SUCCEEDED"


def second_exit_task(documents: Documents) -> None:
    tasks(documents)["gate"]["triggerPolicy"] = {"strategy": "ALL_UPSTREAM_TASKS_COMPLETED"}


def step_beside_the_group(documents: Documents) -> None:
    documents[0]["root"]["dag"]["tasks"]["tell-team"] = group(documents).pop("tell-team")


def exit_task_that_waits_for_nothing(documents: Documents) -> None:
    del tasks(documents)["cleanup"]["dependentTasks"]


def tried_again(documents: Documents) -> None:
    tasks(documents)["block1-inject"]["retryPolicy"] = {"maxRetryCount": 2}


def no_command(documents: Documents) -> None:
    del container(documents, "deploy")["command"]


def no_memory(documents: Documents) -> None:
    del container(documents, "conclude")["resources"]["resourceMemoryRequest"]


def no_requests(documents: Documents) -> None:
    del container(documents, "conclude")["resources"]


def secret_in_the_open(documents: Documents) -> None:
    container(documents, "deploy")["env"] = [{"name": "MLFLOW_TRACKING_PASSWORD", "value": "open sesame"}]


def untagged_image(documents: Documents) -> None:
    container(documents, "gate")["image"] = "registry.example.com:5000/chaosgate"


def latest_image(documents: Documents) -> None:
    container(documents, "gate")["image"] = "chaosgate:latest"


def unnamed_run(documents: Documents) -> None:
    parameter(documents, "cleanup", "run")["constant"] = "my-run"


def run_in_the_command_line(documents: Documents) -> None:
    words = container(documents, "gate")["args"]
    words[words.index("--run") + 1] = "{{$.pipeline_job_uuid}}"


def braces_in_an_argument(documents: Documents) -> None:
    parameter(documents, "tell-team", "web_hook")["constant"] = "{{workflow.name}}"


def no_executor(documents: Documents) -> None:
    documents[0]["components"]["comp-gate"]["executorLabel"] = "exec-gone"


def no_component(documents: Documents) -> None:
    tasks(documents)["gate"]["componentRef"]["name"] = "comp-gone"


def missing_task(documents: Documents) -> None:
    tasks(documents)["gate"]["dependentTasks"].append("nobody")


def input_not_given(documents: Documents) -> None:
    del tasks(documents)["block1-inject"]["inputs"]["artifacts"]["ledger"]


def output_that_nobody_writes(documents: Documents) -> None:
    artifact(documents, "gate", "verdict")["outputArtifactKey"] = "opinion"


def source_in_another_graph(documents: Documents) -> None:
    artifact(documents, "gate", "verdict")["producerTask"] = "cleanup"


def unwaited_source(documents: Documents) -> None:
    tasks(documents)["conclude"]["dependentTasks"].remove("deploy")


def wait_for_its_own_sake(documents: Documents) -> None:
    tasks(documents)["gate"]["dependentTasks"].append("deploy")


def strange_placeholder(documents: Documents) -> None:
    container(documents, "gate")["args"][-1] = "{{$.inputs.artifacts['opinion'].path}}"


def second_importer(documents: Documents) -> None:
    group(documents)["importer-2"] = copy.deepcopy(group(documents)["importer"])


def old_file(documents: Documents) -> None:
    del executors(documents)["exec-importer"]["importer"]["reimport"]


def default_spec(documents: Documents) -> None:
    documents[0]["root"]["inputDefinitions"]["parameters"]["spec_uri"]["defaultValue"] = "minio://b/spec.json"


def spec_in_an_argument(documents: Documents) -> None:
    parameter(documents, "deploy", "digest")["constant"] = '{"apiVersion": "chaosgate/v1", "kind": "ChaosSpec"}'


RUN = "{{$.pipeline_job_uuid}}"
TWINS: list[tuple[Callable[[Documents], None], list[str]]] = [
    (cached, ["task conclude: caching is on; turn it off, or an old run answers for this one"]),
    (unsaid_caching, ["task importer: caching is on; turn it off, or an old run answers for this one"]),
    (no_deadline, ["task block1-measure: has no deadline; set activeDeadlineSeconds in the platform spec"]),
    (no_settings, ["task cleanup: has no deadline; set activeDeadlineSeconds in the platform spec"]),
    (
        no_exit_task,
        [
            "the exit task: read none; cleanup alone is needed, outside of all groups, with trigger "
            "ALL_UPSTREAM_TASKS_COMPLETED",
            "task cleanup: waits for exit-handler-1 and reads nothing of it; only inputs are dependencies",
        ],
    ),
    (
        other_trigger,
        [
            "the exit task: read none; cleanup alone is needed, outside of all groups, with trigger "
            "ALL_UPSTREAM_TASKS_COMPLETED",
            "task cleanup: waits for exit-handler-1 and reads nothing of it; only inputs are dependencies",
        ],
    ),
    (
        second_exit_task,
        [
            "the exit task: read cleanup, gate; cleanup alone is needed, outside of all groups, with trigger "
            "ALL_UPSTREAM_TASKS_COMPLETED"
        ],
    ),
    (exit_task_that_waits_for_nothing, ["task cleanup: waits for nothing, not for exit-handler-1"]),
    (tried_again, ["task block1-inject: would be tried again; take its retryPolicy out"]),
    (no_command, ["task deploy: has no command; name the interpreter"]),
    (no_memory, ["task conclude: asks for no memory; set its requests"]),
    (no_requests, ["task conclude: asks for no cpu and no memory; set its requests"]),
    (
        secret_in_the_open,
        ["task deploy: the variable MLFLOW_TRACKING_PASSWORD has its value in the package; use a Secret"],
    ),
    (
        untagged_image,
        [
            "task gate: read the image 'registry.example.com:5000/chaosgate'; give chaosgate a tag that is not latest",
        ],
    ),
    (latest_image, ["task gate: read the image 'chaosgate:latest'; give chaosgate a tag that is not latest"]),
    (unnamed_run, [f"task cleanup: is not told its run; hand --run the constant {RUN}"]),
    (run_in_the_command_line, [f"task gate: is not told its run; hand --run the constant {RUN}"]),
    (
        braces_in_an_argument,
        [
            "task tell-team: its argument web_hook is '{{workflow.name}}'; KFP would fill the braces: write it without",
        ],
    ),
    (
        missing_task,
        [
            "task gate: waits for nobody, which is no task of comp-exit-handler-1",
            "task gate: waits for nobody and reads nothing of it; only inputs are dependencies",
        ],
    ),
    (input_not_given, ["task block1-inject: its input ledger is not given"]),
    (output_that_nobody_writes, ["task gate: its input verdict comes from conclude, which writes no 'opinion'"]),
    (
        source_in_another_graph,
        [
            "task gate: its input verdict comes from cleanup, which writes no 'verdict'",
            "task gate: reads from cleanup and does not wait for it",
            "task gate: waits for conclude and reads nothing of it; only inputs are dependencies",
        ],
    ),
    (unwaited_source, ["task conclude: reads from deploy and does not wait for it"]),
    (wait_for_its_own_sake, ["task gate: waits for deploy and reads nothing of it; only inputs are dependencies"]),
    (
        strange_placeholder,
        [
            "task gate: {{$.inputs.artifacts['opinion'].path}} refers to inputs 'opinion', which its component does "
            "not have",
        ],
    ),
    (second_importer, ["read 2 importers; one is needed, which hands the spec's file to the steps"]),
    (old_file, ["task importer: would hand over an older file of the same address; set reimport"]),
    (default_spec, ["the pipeline's parameter spec_uri has a default; each run must say which spec it is for"]),
    (spec_in_an_argument, ["task deploy: the spec stands in an argument; hand it over as a file"]),
]


def test_a_compiled_package_has_no_problem(good: Documents) -> None:
    assert kfp_problems(good) == []


@pytest.mark.parametrize(("harm", "problems"), TWINS, ids=lambda value: getattr(value, "__name__", ""))
def test_each_rule_refuses_its_broken_twin(
    good: Documents, harm: Callable[[Documents], None], problems: list[str]
) -> None:
    broken = copy.deepcopy(good)
    harm(broken)
    assert kfp_problems(broken) == problems


@pytest.mark.parametrize("harm", [no_executor, no_component])
def test_a_task_without_an_executor_is_refused(good: Documents, harm: Callable[[Documents], None]) -> None:
    broken = copy.deepcopy(good)
    harm(broken)
    assert "task gate: no executor belongs to its component; compile the spec again" in kfp_problems(broken)


def test_a_step_beside_the_group_is_refused(good: Documents) -> None:
    broken = copy.deepcopy(good)
    step_beside_the_group(broken)
    problems = kfp_problems(broken)
    assert "task tell-team: stands outside of the group that cleanup waits for; move it into the group" in problems
    assert "task cleanup: waits for exit-handler-1, not for exit-handler-1, tell-team" in problems


@pytest.mark.parametrize(
    ("harm", "what", "field"),
    [
        (unknown_field, "the pipeline spec", 'no field named "serviceAccount"'),
        (unknown_container_field, "its deployment spec", 'no field named "workingDir"'),
        (unknown_platform_field, "the platform spec", 'no field named "serviceAccount"'),
        (unknown_setting, "the platform's exec-gate", 'no field named "serviceAccountName"'),
    ],
)
def test_a_field_that_kfp_does_not_know_is_refused(
    good: Documents, harm: Callable[[Documents], None], what: str, field: str
) -> None:
    broken = copy.deepcopy(good)
    harm(broken)
    (problem,) = kfp_problems(broken)
    assert problem.startswith(f"{what} is not what KFP ml_pipelines describes: ")
    assert field in problem


@pytest.mark.parametrize("guard", RULE_GUARDS, ids=lambda guard: guard.__name__)
def test_no_guard_is_without_a_broken_twin(good: Documents, guard: Callable[[Package], Iterator[str]]) -> None:
    found = []
    for harm, _ in TWINS:
        broken = copy.deepcopy(good)
        harm(broken)
        found += guard(Package(broken))
    assert found
