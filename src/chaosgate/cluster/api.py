"""Calls of the Kubernetes API: a few verbs on a few kinds, every failure one sentence with what to do."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chaosgate.errors import ClusterError, one_line

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where Kubernetes puts a pod's own token and namespace."""
FIELD_MANAGER = "chaosgate"
CALL_SECONDS = 20.0
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

Json = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of object: where it is served."""

    name: str
    group: str
    """`api/v1` or `apis/<group>/<version>`."""
    plural: str
    namespaced: bool = True


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("ConfigMap", "api/v1", "configmaps"),
        Kind("Event", "api/v1", "events"),
        Kind("Namespace", "api/v1", "namespaces", namespaced=False),
        Kind("Node", "api/v1", "nodes", namespaced=False),
        Kind("Pod", "api/v1", "pods"),
        Kind("ResourceQuota", "api/v1", "resourcequotas"),
        Kind("Secret", "api/v1", "secrets"),
        Kind("Service", "api/v1", "services"),
        Kind("ServiceAccount", "api/v1", "serviceaccounts"),
        Kind("Deployment", "apis/apps/v1", "deployments"),
        Kind("StatefulSet", "apis/apps/v1", "statefulsets"),
        Kind("ReplicaSet", "apis/apps/v1", "replicasets"),
        Kind("Job", "apis/batch/v1", "jobs"),
        Kind("NetworkPolicy", "apis/networking.k8s.io/v1", "networkpolicies"),
        Kind("LimitRange", "api/v1", "limitranges"),
        Kind("PodDisruptionBudget", "apis/policy/v1", "poddisruptionbudgets"),
        Kind("EndpointSlice", "apis/discovery.k8s.io/v1", "endpointslices"),
        Kind("Workflow", "apis/argoproj.io/v1alpha1", "workflows"),
        Kind("CronWorkflow", "apis/argoproj.io/v1alpha1", "cronworkflows"),
        Kind(
            "SelfSubjectAccessReview",
            "apis/authorization.k8s.io/v1",
            "selfsubjectaccessreviews",
            namespaced=False,
        ),
        Kind(
            "CustomResourceDefinition",
            "apis/apiextensions.k8s.io/v1",
            "customresourcedefinitions",
            namespaced=False,
        ),
    )
}
"""The kinds that are read or written, by name."""


class Conflict(ClusterError):
    """An object was changed by somebody else between reading and writing it; read it again."""


class Forbidden(ClusterError):
    """The account may not do this, or not see it."""


class Missing(ClusterError):
    """What was to be changed is not there, or the API server does not know it."""


REFUSALS: Mapping[int, type[ClusterError]] = {403: Forbidden, 404: Missing, 409: Conflict}
"""Statuses of which a caller can make something."""


class Cluster:
    """The API server as one account sees it; `namespace` is where objects are unless another is named.

    `context` is the kubeconfig's context that leads to it, None in a pod.
    """

    def __init__(self, client: Any, namespace: str, context: str | None = None) -> None:
        self.client, self.namespace, self.context = client, namespace, context

    @property
    def server(self) -> str:
        """The API server's address."""
        return str(self.client.configuration.host)

    def as_user(self, user: str) -> Cluster:
        """The same cluster as `user` sees it, for who may impersonate; a service account is one of the users."""
        client = type(self.client)(self.client.configuration)
        client.set_default_header("Impersonate-User", user)
        return Cluster(client, self.namespace, self.context)

    def get(self, kind: str, name: str, namespace: str | None = None) -> Json | None:
        """The object, None when there is none."""
        return self._call("GET", self._path(kind, name, namespace), missing=True)

    def select(self, kind: str, selector: str = "", namespace: str | None = None) -> list[Json]:
        """The objects that a label selector picks; all of them with an empty one."""
        query = {"labelSelector": selector} if selector else {}
        found = self._call("GET", self._path(kind, None, namespace), query)
        items: list[Json] = (found or {}).get("items", [])
        # A list names its kind once, and its items not at all.
        return [{"kind": kind, **item} for item in items]

    def select_if_served(self, kind: str, selector: str = "") -> list[Json]:
        """As `select`, and nothing where the server does not know the kind."""
        found = self._call("GET", self._path(kind, None, None), {"labelSelector": selector}, missing=True)
        return [{"kind": kind, **item} for item in (found or {}).get("items", [])]

    def create(self, manifest: Mapping[str, Any]) -> Json:
        """Make an object; a field that the server does not know is refused."""
        path = self._path(manifest["kind"], None, manifest["metadata"].get("namespace"))
        return self._must("POST", path, {"fieldValidation": "Strict", "fieldManager": FIELD_MANAGER}, manifest)

    def apply(self, manifest: Mapping[str, Any]) -> Json:
        """Make an object or bring it to what the manifest says."""
        metadata = manifest["metadata"]
        path = self._path(manifest["kind"], metadata["name"], metadata.get("namespace"))
        query = {"fieldValidation": "Strict", "fieldManager": FIELD_MANAGER, "force": "true"}
        return self._must("PATCH", path, query, manifest, APPLY)

    def patch(
        self,
        kind: str,
        name: str,
        body: Mapping[str, Any],
        *,
        namespace: str | None = None,
        subresource: str = "",
        content_type: str = MERGE,
    ) -> Json:
        """Change an object."""
        path = self._path(kind, name, namespace) + (f"/{subresource}" if subresource else "")
        return self._must("PATCH", path, {"fieldManager": FIELD_MANAGER}, body, content_type)

    def delete(
        self, kind: str, name: str, *, namespace: str | None = None, grace: int | None = None, uid: str | None = None
    ) -> bool:
        """Delete an object and what it owns; False when there was none, or with `uid` another one of that name."""
        body: Json = {"propagationPolicy": "Background"}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        return self._call("DELETE", self._path(kind, name, namespace), {}, body, missing=True) is not None

    def logs(
        self,
        pod: str,
        *,
        container: str | None = None,
        lines: int | None = None,
        previous: bool = False,
        since: str | None = None,
        stamped: bool = False,
        namespace: str | None = None,
    ) -> str:
        """What a pod's container printed, from the time `since` (RFC 3339) on; `stamped`: each line behind its time."""
        query = {} if container is None else {"container": container}
        if lines is not None:
            query["tailLines"] = str(lines)
        if previous:
            query["previous"] = "true"
        if since is not None:
            query["sinceTime"] = since
        if stamped:
            query["timestamps"] = "true"
        return str(self._text("GET", self._path("Pod", pod, namespace) + "/log", query))

    def serves(self, kind: str) -> bool:
        """Whether the API server knows the kind: it may be a custom one that nobody has installed."""
        known = KINDS[kind]
        found = self._call("GET", f"/{known.group}", missing=True)
        return any(one["name"] == known.plural for one in (found or {}).get("resources", []))

    def version(self) -> str:
        """The API server's version, such as `v1.34.4`."""
        return str(self._must("GET", "/version", {}, None)["gitVersion"])

    def _path(self, kind: str, name: str | None, namespace: str | None) -> str:
        known = KINDS[kind]
        place = f"/namespaces/{quote(namespace or self.namespace, safe='')}" if known.namespaced else ""
        return f"/{known.group}{place}/{known.plural}" + ("" if name is None else f"/{quote(name, safe='')}")

    def _must(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None,
        content_type: str = "application/json",
    ) -> Json:
        answer = self._call(method, path, query, body, content_type)
        assert answer is not None  # what is missing was raised
        return answer

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        *,
        missing: bool = False,
    ) -> Json | None:
        text = self._text(method, path, query or {}, body, content_type, missing=missing)
        return None if text is None else json.loads(text)

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
        from kubernetes.client import ApiException
        from urllib3.exceptions import HTTPError

        try:
            answer = self.client.call_api(
                path,
                method,
                query_params=list(query.items()),
                header_params={"Accept": "application/json, */*", "Content-Type": content_type},
                body=None if body is None else dict(body),
                auth_settings=["BearerToken"],
                _preload_content=False,
                _request_timeout=CALL_SECONDS,
            )
        except ApiException as error:
            # 409 is what a deletion answers whose precondition names another object: that one is gone.
            if missing and error.status in ((404, 409) if method == "DELETE" else (404,)):
                return None
            kind = REFUSALS.get(error.status, ClusterError)
            raise kind(f"{method} {path}: {refusal(error.status, error.body)}") from error
        except (HTTPError, OSError) as error:
            raise ClusterError(
                f"{self.client.configuration.host}: the Kubernetes API does not answer: {one_line(str(error))}"
            ) from error
        return answer[0].data.decode(errors="replace")


def refusal(status: int | None, body: str | bytes | None) -> str:
    """Why the API server refused, in its own words."""
    try:
        message = json.loads(body or "")["message"]
    except (ValueError, KeyError, TypeError):
        message = str(body or "")[:200] or "no reason was given"
    advice = {401: "; check the kubeconfig's credentials", 403: "; `chaosgate rbac SPEC` prints what is needed"}
    return f"refused with {status}: {one_line(str(message))}{advice.get(status or 0, '')}"


def open_cluster(namespace: str | None = None, context: str | None = None) -> Cluster:
    """The cluster this process belongs to, else the one of the kubeconfig; a ClusterError when there is neither.

    `context` names one of the kubeconfig's contexts; without it the current one is meant.
    """
    try:
        import urllib3
        from kubernetes import client, config
    except ModuleNotFoundError as error:
        raise ClusterError(
            "the Kubernetes client is not installed; install it: pip install 'chaosgate[kubernetes]'"
        ) from error

    configuration = client.Configuration()
    try:
        if SERVICE_ACCOUNT.is_dir():
            config.load_incluster_config(client_configuration=configuration)
            own, context = (SERVICE_ACCOUNT / "namespace").read_text().strip(), None
        else:
            # The client itself looks at the variable only once, when it is imported.
            file = os.environ.get("KUBECONFIG") or None
            config.load_kube_config(file, context, configuration)
            contexts, current = config.list_kube_config_contexts(file)
            chosen = next((one for one in contexts if one["name"] == context), current)
            own, context = chosen["context"].get("namespace", "default"), chosen["name"]
    except (config.ConfigException, OSError) as error:
        raise ClusterError(
            f"no cluster is configured: {one_line(str(error))}; set KUBECONFIG, or run in a pod with a service account"
        ) from error
    if not configuration.verify_ssl:
        # Who wrote so into the kubeconfig knows; a line of warning with each call would hide everything else.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return Cluster(client.ApiClient(configuration), namespace or own, context)
