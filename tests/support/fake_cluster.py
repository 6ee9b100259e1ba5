"""An API server in memory: `FakeCluster` is a `Cluster` whose calls are answered from a dictionary of objects.

It knows lists with label selectors, create, apply, merge patches and delete, answers access reviews, and refuses what
it was told to forbid. It runs no controllers: a test puts the pods there that a controller would have made.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from chaosgate.cluster.api import KINDS, MERGE, REFUSALS, STRATEGIC, Cluster, refusal
from chaosgate.errors import ClusterError

Json = dict[str, Any]
VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}
REVIEWS = "selfsubjectaccessreviews"


class FakeCluster(Cluster):
    """Objects by their path, such as `/api/v1/namespaces/chaos/pods/engine-0`."""

    def __init__(self, namespace: str = "chaos", *objects: Mapping[str, Any]) -> None:
        super().__init__(None, namespace, "fake")
        self.objects: dict[str, Json] = {}
        self.calls: list[tuple[str, str]] = []
        """Verb and path of every call that changed anything."""
        self.asked: set[tuple[str, str, str]] = set()
        """(namespace, resource, verb) of every call, as an account would have to be allowed it."""
        self.forbidden: set[tuple[str, str]] = set()
        """(verb, plural) that are refused with 403; the verb `*` stands for every one."""
        self.unserved: set[str] = set()
        """Plurals, and subresources such as `pods/resize`, that this server does not know."""
        self.allows: Callable[[Mapping[str, Any], str | None], bool] = lambda attributes, user: True
        """What an access review answers for resource attributes and the user who is impersonated."""
        self.logged = ""
        """What every container has printed."""
        self.printed: dict[str, str] = {}
        """What the containers of a pod have printed, where it is not that; by the pod's name."""
        self.on_change: Callable[[Json], None] = lambda one: None
        """Called with each object that was patched."""
        self.user: str | None = None
        self.impersonates = True
        """Whether asking in another's name is allowed."""
        self.put({"kind": "Namespace", "metadata": {"name": namespace}}, *objects)

    @property
    def server(self) -> str:
        """An address that nobody has."""
        return "https://fake.invalid:6443"

    def put(self, *objects: Mapping[str, Any]) -> None:
        """Have these objects, whatever was there before."""
        for one in objects:
            self.objects[self._path_of(one)] = self._completed(one)

    def as_user(self, user: str) -> FakeCluster:
        """The same objects, asked as another user."""
        other = copy.copy(self)
        other.user = user
        return other

    def _path_of(self, one: Mapping[str, Any]) -> str:
        metadata = one["metadata"]
        return self._path(one["kind"], metadata["name"], metadata.get("namespace"))

    def _completed(self, one: Mapping[str, Any]) -> Json:
        found: Json = copy.deepcopy(dict(one))
        if KINDS[found["kind"]].namespaced:
            found["metadata"].setdefault("namespace", self.namespace)
        return found

    def _text(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        *,
        missing: bool = False,
    ) -> Any:
        answer = self._answer(method, path, query, body or {}, content_type)
        if isinstance(answer, int):
            if missing and answer in ((404, 409) if method == "DELETE" else (404,)):
                return None
            kind = REFUSALS.get(answer, ClusterError)
            raise kind(f"{method} {path}: {refusal(answer, self._refused(path, answer))}")
        return answer if isinstance(answer, str) else json.dumps(answer)

    def _answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any], content_type: str
    ) -> Json | str | int:
        """The object or text of the answer, or the status of a refusal."""
        if path == "/version":
            return {"gitVersion": "v1.34.4"}
        plural, name = self._plural(path), self._name(path)
        verb = VERBS.get(method) or ("get" if name else "list")
        self._ask(path, plural, verb)
        if {(verb, plural), ("*", plural)} & self.forbidden or (self.user and not self.impersonates):
            return 403
        if plural in self.unserved:
            return 404
        if plural == REVIEWS:
            return {"status": {"allowed": self.allows(body["spec"]["resourceAttributes"], self.user)}}
        if method != "GET":
            self.calls.append((verb, path))
        match verb:
            case "list":
                return self._list(path, query.get("labelSelector", ""))
            case "create":
                return self._create(f"{path}/{body['metadata']['name']}", body)
            case "patch":
                return self._patch(path, body, content_type)
            case "delete":
                return self._delete(path, body)
        if path.endswith("/log"):
            return self.printed.get(name, self.logged)
        return self.objects.get(path, 404)

    def _list(self, path: str, selector: str) -> Json:
        if not self._plural(path):
            served = [kind.plural for kind in KINDS.values() if f"/{kind.group}" == path]
            return {"resources": [{"name": plural} for plural in served if plural not in self.unserved]}
        listed = [one for key, one in sorted(self.objects.items()) if path in (_parent(key), _everywhere(_parent(key)))]
        found = [one for one in listed if matches(one, selector)]
        return {"items": found}

    def _create(self, path: str, body: Mapping[str, Any]) -> Json | int:
        if path in self.objects:
            return 409
        self.objects[path] = self._completed(body)
        return self.objects[path]

    def _patch(self, path: str, body: Mapping[str, Any], content_type: str) -> Json | int:
        if f"{self._plural(path)}/{path.rsplit('/', 1)[-1]}" in self.unserved:
            return 404
        path = path.removesuffix("/status").removesuffix("/resize").removesuffix("/scale")
        version = body.get("metadata", {}).get("resourceVersion")
        if version not in (None, self.objects.get(path, {}).get("metadata", {}).get("resourceVersion")):
            return 409
        if path not in self.objects:
            if content_type == MERGE:
                return 404
            # Applying what is not there takes both rights.
            self._ask(path, self._plural(path), "create")
            self.objects[path] = self._completed(body)
        else:
            self.objects[path] = merged(self.objects[path], body, by_name=content_type == STRATEGIC)
            self._touch(self.objects[path])
        return self.objects[path]

    def _delete(self, path: str, body: Mapping[str, Any]) -> Json | int:
        uid = body.get("preconditions", {}).get("uid")
        if uid is not None and uid != self.objects.get(path, {}).get("metadata", {}).get("uid", uid):
            return 409
        return self.objects.pop(path, 404)

    def _touch(self, one: Json) -> None:
        """A patched object has another version; then `on_change` may do what its controller or kubelet would."""
        metadata = one["metadata"]
        if "resourceVersion" in metadata:
            metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)
        self.on_change(one)

    def _ask(self, path: str, plural: str, verb: str) -> None:
        place = re.search(r"/namespaces/([^/]+)", path)
        rest = path.partition(f"/{plural}/")[2].split("/")
        self.asked.add((place[1] if place else "", "/".join([plural, *rest[1:]]), verb))

    @staticmethod
    def _plural(path: str) -> str:
        """The plural that a path speaks of, empty for a group or the version."""
        known = {kind.plural for kind in KINDS.values()}
        parts = path.split("/")
        found = [part for index, part in enumerate(parts) if part in known and not _is_place(parts, index)]
        return found[0] if found else ""

    def _name(self, path: str) -> str:
        plural = self._plural(path)
        return path.split(f"/{plural}/", 1)[1].split("/")[0] if plural and f"/{plural}/" in path else ""

    def _refused(self, path: str, status: int) -> str:
        reason = {403: f"{self._plural(path)} is forbidden", 404: "not found", 409: "already exists"}[status]
        return json.dumps({"message": reason})


def _parent(path: str) -> str:
    return path.rsplit("/", 1)[0]


def _everywhere(path: str) -> str:
    """The path of the same list over all namespaces."""
    return re.sub(r"/namespaces/[^/]+/(?=[^/]+$)", "/", path)


def _is_place(parts: list[str], index: int) -> bool:
    """Whether `namespaces` only says where something else is."""
    return parts[index] == "namespaces" and len(parts) > index + 2


def matches(one: Mapping[str, Any], selector: str) -> bool:
    """Whether a selector such as `a=b,c!=d,e` picks the object."""
    labels = one["metadata"].get("labels") or {}
    for term in filter(None, selector.split(",")):
        key, unequal, value = term.partition("!=")
        if not unequal:
            key, equal, value = term.partition("=")
        if unequal and labels.get(key) == value:
            return False
        if not unequal and (key not in labels or (equal and labels[key] != value)):
            return False
    return True


def merged(base: Any, over: Any, *, by_name: bool = False) -> Any:
    """RFC 7396: key by key, and None removes a key; with `by_name` lists of named things are merged name by name."""
    if by_name and isinstance(base, list) and isinstance(over, list):
        given = {item["name"]: item for item in over}
        return [merged(item, given.get(item["name"], {}), by_name=True) for item in base]
    if not isinstance(base, dict) or not isinstance(over, Mapping):
        return copy.deepcopy(over)
    found = dict(base)
    for key, value in over.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key, {}), value, by_name=by_name)
    return found


def namespace(name: str, **labels: str) -> Json:
    """A namespace with labels; write `chaosgate/allowed` as `**{"chaosgate/allowed": "true"}`."""
    return {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}


IMAGE = "localhost/chaosgate@sha256:" + "a" * 64


def pod(name: str, place: str = "chaos", *, ready: bool = True, node: str = "node-0", **labels: str) -> Json:
    """A pod that runs on `node`, ready or not, with one container and its image."""
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": place, "labels": labels, "uid": f"uid-{name}"},
        "spec": {"nodeName": node, "containers": [{"name": "engine", "image": "localhost/chaosgate:1"}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [
                {
                    "name": "engine",
                    "ready": ready,
                    "restartCount": 0,
                    "imageID": IMAGE,
                }
            ],
        },
    }


def node(name: str, *, ready: bool = True, unschedulable: bool = False, **labels: str) -> Json:
    """A node, ready or not."""
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"unschedulable": True} if unschedulable else {},
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }
