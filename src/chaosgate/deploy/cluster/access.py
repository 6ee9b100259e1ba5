"""What an account may do on a cluster, as the API server itself answers (SelfSubjectAccessReview)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chaosgate.cluster.api import Cluster, Forbidden
from chaosgate.deploy.cluster.rbac import Needs

Json = dict[str, Any]

REVIEW = "SelfSubjectAccessReview"


@dataclass(frozen=True)
class Question:
    """Whether one verb is allowed on one resource; `namespace` is None for what is in none."""

    namespace: str | None
    group: str
    resource: str
    verb: str
    name: str | None = None

    def attributes(self) -> Json:
        """As a review asks it."""
        resource, _, subresource = self.resource.partition("/")
        asked = {
            "namespace": self.namespace,
            "group": self.group,
            "resource": resource,
            "subresource": subresource or None,
            "verb": self.verb,
            "name": self.name,
        }
        return {key: value for key, value in asked.items() if value is not None}

    @property
    def noun(self) -> str:
        """The resource as `kubectl auth can-i` takes it, such as `deployments.apps`."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


@dataclass(frozen=True)
class Access:
    """What of its needs an account is allowed."""

    user: str | None
    """Whom the answers are about; None where only whoever asked could be asked about."""
    asked: int
    refused: tuple[Question, ...]

    def sentences(self) -> Iterator[str]:
        """What is not allowed, a sentence for each namespace."""
        places: dict[str | None, dict[str, list[str]]] = {}
        for one in self.refused:
            places.setdefault(one.namespace, {}).setdefault(one.noun, []).append(one.verb)
        for namespace, nouns in places.items():
            where = "in no namespace" if namespace is None else f"in namespace {namespace}"
            said = "; ".join(f"{', '.join(verbs)} {noun}" for noun, verbs in nouns.items())
            yield f"{self.user or 'you'} may not, {where}: {said}"


def questions(needs: Needs) -> Iterator[Question]:
    """Every verb on every resource that is needed."""
    places: list[tuple[str | None, Sequence[Json]]] = [*needs.namespaces.items(), (None, needs.cluster)]
    for namespace, rules in places:
        for one in rules:
            for resource in one["resources"]:
                for verb in one["verbs"]:
                    for name in one.get("resourceNames") or (None,):
                        yield Question(namespace, one["apiGroups"][0], resource, verb, name)


def review(cluster: Cluster, needs: Needs, user: str) -> Access:
    """What `user` is allowed of `needs`; where this client may not ask in another's name, what it is allowed itself."""
    asked = list(questions(needs))
    try:
        return Access(user, len(asked), tuple(_refused(cluster.as_user(user), asked)))
    except Forbidden:
        return Access(None, len(asked), tuple(_refused(cluster, asked)))


def _refused(cluster: Cluster, asked: Sequence[Question]) -> Iterator[Question]:
    for question in asked:
        manifest = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": REVIEW,
            "metadata": {},
            "spec": {"resourceAttributes": question.attributes()},
        }
        if not cluster.create(manifest)["status"]["allowed"]:
            yield question
