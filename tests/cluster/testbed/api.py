"""The API server as an administrator sees it, whatever the kind: the tests' own eye, not the product's client."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kubernetes import client, config
from kubernetes.client import ApiException

Json = dict[str, Any]
FIELD_MANAGER = "chaosgate-tests"
SECONDS = 60.0
"""For one call: a definition of megabytes takes the server seconds."""


class Api:
    """Verbs on any object of a cluster. An ApiException where the server refuses."""

    def __init__(self, kubeconfig: Path) -> None:
        settings = client.Configuration()
        config.load_kube_config(str(kubeconfig), client_configuration=settings)
        self.client = client.ApiClient(settings)
        self.kinds = functools.cache(self._kinds)

    def get(self, path: str, **query: str) -> Json | None:
        """What is served at `path`, None when nothing is."""
        try:
            found: Json = json.loads(self.call("GET", path, query))
        except ApiException as error:
            if error.status == 404:
                return None
            raise
        return found

    def create(self, document: Mapping[str, Any]) -> Json:
        """Make an object; a field that the server does not know is refused."""
        made: Json = json.loads(self.call("POST", self.path_of(document, named=False), STRICT, document))
        return made

    def apply(self, document: Mapping[str, Any]) -> Json:
        """Make an object or bring it to what `document` says, as strictly."""
        query, kind = {**STRICT, "force": "true"}, "application/apply-patch+yaml"
        made: Json = json.loads(self.call("PATCH", self.path_of(document), query, document, kind))
        return made

    def patch(self, path: str, body: Mapping[str, Any]) -> Json:
        """Change the object at `path`: JSON merge patch."""
        made: Json = json.loads(self.call("PATCH", path, {}, body, "application/merge-patch+json"))
        return made

    def delete(self, path: str, **query: str) -> bool:
        """Delete what is at `path` and what it owns; False when nothing is there."""
        try:
            self.call("DELETE", path, {"propagationPolicy": "Background", **query})
        except ApiException as error:
            if error.status == 404:
                return False
            raise
        return True

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> str:
        """The text of the answer to one call."""
        answer = self.client.call_api(
            path,
            method,
            query_params=list(query.items()),
            header_params={"Accept": "*/*", "Content-Type": content_type},
            body=None if body is None else dict(body),
            auth_settings=["BearerToken"],
            _preload_content=False,
            _request_timeout=SECONDS,
        )
        text: str = answer[0].data.decode(errors="replace")
        return text

    def _kinds(self, api_version: str) -> dict[str, Json]:
        found = self.get(root(api_version)) or {}
        return {one["kind"]: one for one in found.get("resources", []) if "/" not in one["name"]}

    def served(self, api_version: str, kind: str) -> bool:
        """Whether the server knows the kind by now; a kind that it did not know is asked for anew."""
        known = kind in self.kinds(api_version)
        if not known:
            self.kinds.cache_clear()
        return known

    def path_of(self, document: Mapping[str, Any], *, named: bool = True) -> str:
        """Where an object is served, or with `named` False all of its kind."""
        metadata = document["metadata"]
        name = metadata["name"] if named else None
        return self.path(document["apiVersion"], document["kind"], metadata.get("namespace"), name)

    def path(self, api_version: str, kind: str, namespace: str | None = None, name: str | None = None) -> str:
        """Where a kind is served, in a namespace, or one object of it."""
        place = f"/namespaces/{quote(namespace)}" if namespace else ""
        return f"{root(api_version)}{place}/{self.kinds(api_version)[kind]['name']}" + (
            f"/{quote(name)}" if name else ""
        )

    def labelled(self, namespace: str, selector: str) -> Iterator[Json]:
        """Every object in the namespace that the label selector picks, of all kinds that the server can list."""
        for api_version in self.api_versions():
            for kind, one in self.kinds(api_version).items():
                if one["namespaced"] and "list" in one["verbs"]:
                    found = self.get(self.path(api_version, kind, namespace), labelSelector=selector) or {}
                    yield from ({"apiVersion": api_version, "kind": kind, **item} for item in found.get("items", []))

    def api_versions(self) -> list[str]:
        """The preferred version of each group that is served."""
        groups = (self.get("/apis") or {}).get("groups", [])
        return ["v1", *(group["preferredVersion"]["groupVersion"] for group in groups)]


STRICT = {"fieldValidation": "Strict", "fieldManager": FIELD_MANAGER}


def root(api_version: str) -> str:
    """Where the kinds of `v1` or `group/version` are served."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
