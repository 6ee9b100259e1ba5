"""What every compiled workflow owes: one function a promise, each of which says what breaks it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from chaosgate.compile.argo.view import (
    Data,
    View,
    artifacts,
    component_of,
    container,
    flags,
    names,
    parameters,
)
from chaosgate.compile.argo.wiring import (
    PLACEHOLDER,
    RUN,
    RUN_LABEL,
    SPEC,
    SPEC_SOURCE,
    STEP_LABEL,
    TOKEN_FOLDER,
    WRITABLE,
    read_parameter,
    read_task_output,
)
from chaosgate.components.definition import COMPONENTS

Guard = Callable[[View], Iterator[str]]

RAW = ".raw.data"
"""How the path of a raw artifact's text ends."""
CONFINED = {
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}
"""What the securityContext of every container says."""


def argo_problems(workflow: Data) -> list[str]:
    """What keeps `workflow` (the data of a compiled YAML) from being run: `guard: what was read and is owed` each."""
    view = View(workflow)
    return [f"{name}: {problem}" for name, guard in GUARDS.items() for problem in guard(view)]


def deadlines(view: View) -> Iterator[str]:
    """Every pod ends, and so does the whole."""
    for template in view.containers:
        for whose, value in _deadlines_of(view, template):
            if not _is_positive(value):
                yield f"{whose} has activeDeadlineSeconds {value!r}; give whole seconds above 0"
    whole = view.spec.get("activeDeadlineSeconds")
    needed = longest_chain(view)
    if not _is_positive(whole) or int(str(whole)) < needed:
        yield f"the workflow has activeDeadlineSeconds {whole!r}; its longest chain of steps may take {needed} s"


def longest_chain(view: View) -> int:
    """Seconds that the longest chain of tasks may take; those without a deadline count as 0."""
    ends: dict[str, int] = {}
    for task in view.tasks:
        template = view.template(task.get("template")) or {}
        value = _given(template.get("activeDeadlineSeconds"), task)
        start = max((ends.get(before, 0) for before in task.get("dependencies", [])), default=0)
        ends[task["name"]] = start + (int(value) if _is_positive(value) else 0)
    return max(ends.values(), default=0)


def _deadlines_of(view: View, template: Data) -> Iterator[tuple[str, Any]]:
    """(whose, value) for each task of a template that leaves it to its tasks, else for the template."""
    value = template.get("activeDeadlineSeconds")
    if read_parameter(str(value)) is None:
        yield f"template {template['name']!r}", value
        return
    for task in view.tasks_of(template):
        yield f"task {task['name']!r}", _given(value, task)


def _given(value: Any, task: Data) -> Any:
    """`value`, or what `task` gives where it is a parameter."""
    name = read_parameter(str(value))
    return value if name is None else parameters(task).get(name)


def _is_positive(value: Any) -> bool:
    return str(value).isdecimal() and int(value) > 0


def exit_handler(view: View) -> Iterator[str]:
    """Cleanup runs whatever happens. Argo gives an exit handler no inputs and reports only a container's failure."""
    name = view.spec.get("onExit")
    handler = view.template(name)
    if handler is None:
        yield f"onExit names the template {name!r}, which is not there; nothing would be cleaned up"
    elif "container" not in handler:
        yield f"onExit names {name!r}, which is no single container"
    elif handler.get("inputs"):
        yield f"onExit names {name!r}, which needs inputs; an exit handler gets none"


def commands(view: View) -> Iterator[str]:
    """Argo's executor cannot look up an image's own entry point without asking a registry."""
    for template in view.containers:
        if not container(template).get("command"):
            yield f"template {template['name']!r} has no command; name the interpreter"


def requests(view: View) -> Iterator[str]:
    """What a step needs is set aside, so that no neighbour slows what is measured."""
    for template in view.containers:
        asked = container(template).get("resources", {}).get("requests", {})
        missing = [what for what in ("cpu", "memory") if not asked.get(what)]
        if missing:
            yield f"template {template['name']!r} requests no {' and no '.join(missing)}"


def caching(view: View) -> Iterator[str]:
    """A verdict is never another run's."""
    for template in view.templates:
        if "memoize" in template:
            yield f"template {template['name']!r} has memoize; a run must measure by itself"


def retries(view: View) -> Iterator[str]:
    """A step that is run again would inject twice, and a gate would be asked until it says yes."""
    places = {"the workflow": view.spec, "templateDefaults": view.spec.get("templateDefaults", {})}
    places |= {f"template {template['name']!r}": template for template in view.templates}
    for place, data in places.items():
        if "retryStrategy" in data:
            yield f"{place} has retryStrategy; a step runs once"


def account(view: View) -> Iterator[str]:
    """The namespace's default account may do either nothing or too much."""
    if not view.spec.get("serviceAccountName"):
        yield "serviceAccountName is not set"


def secrets(view: View) -> Iterator[str]:
    """A secret is named, never written down."""
    for template in view.containers:
        for variable in container(template).get("env", []):
            if variable.keys() != {"name", "valueFrom"} or variable["valueFrom"].keys() != {"secretKeyRef"}:
                yield (
                    f"template {template['name']!r} sets the variable {variable['name']!r} by other means than "
                    "valueFrom.secretKeyRef; keep its value in a Secret"
                )


def run_ids(view: View) -> Iterator[str]:
    """By its run id a run is found."""
    for template in view.containers:
        if ("run", RUN) not in flags(template):
            yield f"template {template['name']!r} is not given --run {RUN}"


def images(view: View) -> Iterator[str]:
    """Two runs of one workflow run the same image."""
    for template in view.containers:
        image = container(template).get("image", "")
        tag = image.rpartition("/")[2].partition(":")[2]
        if "@sha256:" not in image and tag in ("", "latest"):
            yield f"template {template['name']!r} runs the image {image!r}; give a digest or a tag other than latest"


def spec_once(view: View) -> Iterator[str]:
    """The spec travels as one file that nothing is filled into."""
    raw = [path for path, _ in view.texts if path.endswith(RAW)]
    if raw != ["spec.arguments.artifacts[0].raw.data"] or view.raw_artifacts[0].get("name") != SPEC:
        yield f"the spec is carried as {', '.join(raw) or 'nothing'}; carry one raw artifact {SPEC!r} in the arguments"
        return
    data = view.raw_artifacts[0]["raw"]["data"]
    if "{{" in data:
        yield "the spec holds '{{', in place of which Argo would fill something in; write it as '{\\u007b'"
    try:
        json.loads(data)
    except ValueError as error:
        yield f"the spec is no JSON: {error}"


def labels(view: View) -> Iterator[str]:
    """Workflow and pods are found by what they belong to."""
    own = view.workflow.get("metadata", {}).get("labels", {})
    on_pods = view.spec.get("podMetadata", {}).get("labels", {})
    wanted = {**own, RUN_LABEL: RUN}
    if not own or on_pods != wanted:
        yield f"podMetadata has the labels {on_pods}; the workflow's and the run make {wanted}"
    labelled = view.spec.get("workflowMetadata", {}).get("labelsFrom", {})
    if labelled.get(RUN_LABEL) != {"expression": "workflow.name"}:
        yield f"workflowMetadata.labelsFrom does not make the label {RUN_LABEL!r} of workflow.name"
    for template in view.containers:
        if not template.get("metadata", {}).get("labels", {}).get(STEP_LABEL):
            yield f"template {template['name']!r} has no label {STEP_LABEL!r}"


def references(view: View) -> Iterator[str]:
    """Every task runs a template that is there, gives it what it takes, and reads what an earlier task leaves."""
    for task in view.tasks:
        template = view.template(task.get("template"))
        if template is None:
            yield f"task {task['name']!r} runs the template {task.get('template')!r}, which is not there"
            continue
        for kind, given in (("parameters", parameters(task)), ("artifacts", artifacts(task))):
            taken = names(template, "inputs", kind)
            if sorted(taken) != sorted(given):
                yield f"task {task['name']!r} gives the {kind} {sorted(given)}, its template takes {sorted(taken)}"
        for slot, source in artifacts(task).items():
            if source != SPEC_SOURCE and not _resolves(view, task, source):
                yield f"task {task['name']!r} reads {slot!r} from {source!r}, which no task that it waits for leaves"


def _resolves(view: View, task: Data, source: str) -> bool:
    step, output = read_task_output(source) or ("", "")
    before = view.task(step) if step in task.get("dependencies", []) else None
    template = view.template(before["template"]) if before else None
    return template is not None and output in names(template, "outputs", "artifacts")


def dependencies(view: View) -> Iterator[str]:
    """What a step reads is all it waits for, and a crash before it keeps it from running."""
    for task in view.tasks:
        sources = map(read_task_output, artifacts(task).values())
        read = list(dict.fromkeys(source[0] for source in sources if source))
        waits = task.get("dependencies", [])
        if waits != read or "depends" in task or "when" in task or "continueOn" in task:
            yield f"task {task['name']!r} waits for {waits}, with nothing else to say when; it reads from {read}"


def unique(view: View) -> Iterator[str]:
    """Argo refuses two templates or two tasks of one name."""
    for noun, things in (("templates", view.templates), ("tasks", view.tasks)):
        found = [thing["name"] for thing in things]
        for name in sorted({name for name in found if found.count(name) > 1}):
            yield f"two {noun} are called {name!r}; rename a component or leave a step out"


def archives(view: View) -> Iterator[str]:
    """What a step leaves stays the file it is, to be looked at in the store."""
    for template in view.containers:
        for artifact in template.get("outputs", {}).get("artifacts", []):
            if artifact.get("archive") != {"none": {}}:
                yield f"template {template['name']!r} packs its output {artifact['name']!r}; set archive.none"


def confinement(view: View) -> Iterator[str]:
    """A step is no root, gains nothing and writes to its empty folders alone."""
    pod = view.spec.get("securityContext", {})
    if not pod.get("runAsNonRoot") or not pod.get("runAsUser"):
        yield f"the pods' securityContext is {pod}; runAsNonRoot with a user other than 0 is owed"
    for template in view.containers:
        found = container(template).get("securityContext", {})
        if any(found.get(key) != value for key, value in CONFINED.items()):
            yield f"template {template['name']!r} has the securityContext {found}; {CONFINED} is owed"
        mounts, empty = mounted(template), empty_volumes(view)
        if set(WRITABLE.values()) - mounts.keys() or set(mounts.values()) - empty:
            yield f"template {template['name']!r} mounts {mounts}; empty folders are owed, {WRITABLE} at least"


def tokens(view: View) -> Iterator[str]:
    """A step that has no business with the cluster cannot act on it."""
    for template in view.containers:
        component = COMPONENTS.get(component_of(template))
        if component and not component.kubernetes and TOKEN_FOLDER not in mounted(template):
            yield f"template {template['name']!r} sees its account's token; mount an empty folder at {TOKEN_FOLDER}"


def mounted(template: Data) -> dict[str, str]:
    """Folder to volume."""
    return {mount["mountPath"]: mount["name"] for mount in container(template).get("volumeMounts", [])}


def empty_volumes(view: View) -> set[str]:
    """The volumes that start empty with each pod."""
    return {volume["name"] for volume in view.spec.get("volumes", []) if volume.keys() == {"name", "emptyDir"}}


def substitutions(view: View) -> Iterator[str]:
    """Argo fills in nothing but what the compiler meant it to."""
    for path, text in view.texts:
        if "{{" in PLACEHOLDER.sub("", text) and not path.endswith(RAW):
            yield f"{path} is {text!r}, in place of which Argo would fill something in"


GUARDS: dict[str, Guard] = {
    "deadlines": deadlines,
    "exit handler": exit_handler,
    "commands": commands,
    "requests": requests,
    "caching": caching,
    "retries": retries,
    "account": account,
    "secrets": secrets,
    "run id": run_ids,
    "images": images,
    "spec": spec_once,
    "labels": labels,
    "references": references,
    "dependencies": dependencies,
    "unique names": unique,
    "archives": archives,
    "confinement": confinement,
    "tokens": tokens,
    "substitutions": substitutions,
}
"""Each by the name that its problems begin with."""
