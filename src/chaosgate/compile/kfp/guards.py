"""What must hold of every package: each guard is one rule, and says of each place that breaks it what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from kfp import dsl
from kfp.kubernetes.kubernetes_executor_config_pb2 import KubernetesExecutorConfig
from kfp.pipeline_spec.pipeline_spec_pb2 import PipelineDeploymentConfig, PipelineSpec, PlatformSpec

from chaosgate.compile.kfp.package import ON_EXIT, PLATFORM, ROOT, Data, Package, Task, child
from chaosgate.model.plan import CLEANUP

PLACEHOLDER = re.compile(r"\{\{\$\.(inputs|outputs)\.(parameters|artifacts)\['([^']+)'\]")
"""Where a command line refers to an input or an output."""
SPEC_MARK = "apiVersion"
"""What every text of a spec holds."""


def kfp_problems(documents: Sequence[Data]) -> list[str]:
    """What is wrong with a package, one sentence each; nothing when all is as it must be.

    `documents`: the pipeline spec and the platform spec in their JSON form. Where they are no such messages, only that
    is said.
    """
    unreadable = [problem for guard in FORM_GUARDS for problem in guard(documents)]
    return unreadable or rule_problems(documents)


def rule_problems(documents: Sequence[Data]) -> list[str]:
    """The same for documents that are messages of KFP for certain."""
    package = Package(documents)
    return [problem for guard in RULE_GUARDS for problem in guard(package)]


def pipeline_is_read(documents: Sequence[Data]) -> Iterator[str]:
    """The pipeline spec is KFP's message, and so is the deployment in it, without a field that KFP does not know."""
    yield from _unreadable("the pipeline spec", documents[0], PipelineSpec())
    yield from _unreadable("its deployment spec", child(documents[0], "deploymentSpec"), PipelineDeploymentConfig())


def platform_is_read(documents: Sequence[Data]) -> Iterator[str]:
    """The platform spec is KFP's message, and what it says of each executor is that of kfp-kubernetes."""
    yield from _unreadable("the platform spec", documents[1], PlatformSpec())
    executors = child(documents[1], "platforms", PLATFORM, "deploymentSpec", "executors")
    for label, settings in executors.items():
        yield from _unreadable(f"the platform's {label}", settings, KubernetesExecutorConfig())


def _unreadable(what: str, data: Data, message: Message) -> Iterator[str]:
    try:
        ParseDict(data, message, ignore_unknown_fields=False)
    except ParseError as error:
        yield f"{what} is not what KFP {PipelineSpec.DESCRIPTOR.file.package} describes: {error}"


def nothing_is_cached(package: Package) -> Iterator[str]:
    """Every task says that it is not cached: a cached step would answer with the files of an old run."""
    for task in package.tasks:
        options = task.spec.get("cachingOptions")
        if options is None or options.get("enableCache"):
            yield f"task {task.name}: caching is on; turn it off, or an old run answers for this one"


def deadlines_are_set(package: Package) -> Iterator[str]:
    """Every container has a deadline: a step that hangs would hold the target for ever."""
    for task in package.containers:
        if int(task.settings.get("activeDeadlineSeconds", 0)) <= 0:
            yield f"task {task.name}: has no deadline; set activeDeadlineSeconds in the platform spec"


def cleanup_always_runs(package: Package) -> Iterator[str]:
    """Cleanup is the one exit task, it stands outside of the group of all other steps, and waits for that group."""
    exits = [task for task in package.tasks if task.on_exit]
    if [(task.name, task.dag) for task in exits] != [(CLEANUP, ROOT)]:
        found = ", ".join(task.name for task in exits) or "none"
        yield f"the exit task: read {found}; {CLEANUP} alone is needed, outside of all groups, with trigger {ON_EXIT}"
        return
    for task in package.tasks:
        if task.dag == ROOT and not task.on_exit:
            yield f"task {task.name}: stands outside of the group that {CLEANUP} waits for; move it into the group"
    groups = sorted(package.dags[ROOT].keys() - {CLEANUP})
    if sorted(exits[0].waits_for) != groups:
        yield f"task {CLEANUP}: waits for {', '.join(exits[0].waits_for) or 'nothing'}, not for {', '.join(groups)}"


def nothing_is_tried_again(package: Package) -> Iterator[str]:
    """No task has retries: a fault would be injected a second time, over what the first attempt left."""
    for task in package.tasks:
        if "retryPolicy" in task.spec:
            yield f"task {task.name}: would be tried again; take its retryPolicy out"


def commands_are_explicit(package: Package) -> Iterator[str]:
    """Every container names its command: the entry point of an image may change with the image."""
    for task in package.containers:
        if not task.container.get("command"):
            yield f"task {task.name}: has no command; name the interpreter"


def requests_are_made(package: Package) -> Iterator[str]:
    """Every container asks for CPU and memory: without, the load generator is the first to starve."""
    for task in package.containers:
        resources = child(task.container, "resources")
        missing = [what for what in ("Cpu", "Memory") if not resources.get(f"resource{what}Request")]
        if missing:
            yield f"task {task.name}: asks for no {' and no '.join(missing).lower()}; set its requests"


def secrets_are_references(package: Package) -> Iterator[str]:
    """No container is given a variable with a value: what it must know comes from a Kubernetes Secret."""
    for task in package.containers:
        for variable in task.container.get("env", ()):
            yield f"task {task.name}: the variable {variable.get('name')} has its value in the package; use a Secret"


def images_are_fixed(package: Package) -> Iterator[str]:
    """Every image has a tag other than latest, or a digest: two runs of one package must run the same code."""
    for task in package.containers:
        image = str(task.container.get("image", ""))
        name, _, tag = image.rpartition("/")[2].partition(":")
        if "@sha256:" not in image and tag in ("", "latest"):
            yield f"task {task.name}: read the image {image or 'none'!r}; give {name or 'it'} a tag that is not latest"


def runs_are_named(package: Package) -> Iterator[str]:
    """Every container is told the run by KFP's own id, which KFP fills in for a constant, not in a command line."""
    for task in package.containers:
        flags = dict(zip(task.words, task.words[1:], strict=False))
        match = PLACEHOLDER.search(flags.get("--run", ""))
        if match is None or task.constant(match[3]) != dsl.PIPELINE_JOB_ID_PLACEHOLDER:
            yield f"task {task.name}: is not told its run; hand --run the constant {dsl.PIPELINE_JOB_ID_PLACEHOLDER}"


def texts_are_plain(package: Package) -> Iterator[str]:
    """No argument holds braces: KFP would put something in their place, and so would the Argo below it."""
    for task in package.containers:
        for name in task.inputs("parameters"):
            text = str(task.constant(name))
            if text != dsl.PIPELINE_JOB_ID_PLACEHOLDER:
                yield from braces(task.name, name, text)


def braces(task: str, argument: str, text: str) -> Iterator[str]:
    """What is wrong with the value of one argument."""
    if "{{" in text:
        yield f"task {task}: its argument {argument} is {text!r}; KFP would fill the braces: write it without"


def references_lead_somewhere(package: Package) -> Iterator[str]:
    """Whatever a task refers to is there: its executor, the tasks it waits for, each input and output."""
    for task in package.tasks:
        if not task.executor:
            yield f"task {task.name}: no executor belongs to its component; compile the spec again"
        for other in task.waits_for:
            if other not in package.dags[task.dag]:
                yield f"task {task.name}: waits for {other}, which is no task of {task.dag}"
        yield from _wrong_inputs(package, task)
        yield from _wrong_order(task)
        yield from _wrong_placeholders(task)


def _wrong_inputs(package: Package, task: Task) -> Iterator[str]:
    """Inputs that are declared and not given, or that come from an output that is not there."""
    for kind in ("artifacts", "parameters"):
        for name in sorted(child(task.component, "inputDefinitions", kind).keys() - task.inputs(kind).keys()):
            yield f"task {task.name}: its input {name} is not given"
    for name in task.inputs("artifacts"):
        producer, output = task.source(name)
        component = package.component(child(package.dags[task.dag], producer))
        if output not in child(component, "outputDefinitions", "artifacts"):
            yield f"task {task.name}: its input {name} comes from {producer or 'no task'}, which writes no {output!r}"


def _wrong_order(task: Task) -> Iterator[str]:
    """What a task reads is all that it waits for: a plan has no other dependencies. The exit task alone only waits."""
    sources = {task.source(name)[0] for name in task.inputs("artifacts")}
    for other in sorted(sources - set(task.waits_for)):
        yield f"task {task.name}: reads from {other} and does not wait for it"
    if not task.on_exit:
        for other in sorted(set(task.waits_for) - sources):
            yield f"task {task.name}: waits for {other} and reads nothing of it; only inputs are dependencies"


def _wrong_placeholders(task: Task) -> Iterator[str]:
    for word in task.words:
        for direction, kind, name in PLACEHOLDER.findall(word):
            if name not in child(task.component, f"{direction[:-1]}Definitions", kind):
                yield f"task {task.name}: {word} refers to {direction} {name!r}, which its component does not have"


def spec_comes_as_a_file(package: Package) -> Iterator[str]:
    """One importer hands the spec over, from an address that each run is given; the spec itself is in no argument."""
    importers = [task for task in package.tasks if task.is_importer]
    if len(importers) != 1:
        yield f"read {len(importers)} importers; one is needed, which hands the spec's file to the steps"
    for task in importers:
        if not child(task.executor, "importer").get("reimport"):
            yield f"task {task.name}: would hand over an older file of the same address; set reimport"
    for name, parameter in child(package.pipeline, ROOT, "inputDefinitions", "parameters").items():
        if parameter.get("isOptional") or "defaultValue" in parameter:
            yield f"the pipeline's parameter {name} has a default; each run must say which spec it is for"
    for task in package.tasks:
        said = (*task.words, *(str(task.constant(name)) for name in task.inputs("parameters")))
        if any(SPEC_MARK in word for word in said):
            yield f"task {task.name}: the spec stands in an argument; hand it over as a file"


FORM_GUARDS: tuple[Callable[[Sequence[Data]], Iterator[str]], ...] = (pipeline_is_read, platform_is_read)
"""Whether the documents are what they should be; the rules below are for those that are."""
RULE_GUARDS: tuple[Callable[[Package], Iterator[str]], ...] = (
    nothing_is_cached,
    deadlines_are_set,
    cleanup_always_runs,
    nothing_is_tried_again,
    commands_are_explicit,
    requests_are_made,
    secrets_are_references,
    images_are_fixed,
    runs_are_named,
    texts_are_plain,
    references_lead_somewhere,
    spec_comes_as_a_file,
)
"""In the order in which their problems are told."""
