"""What an account may do, as the API server answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cluster_drills import LOST, drill, fault
from fake_cluster import FakeCluster

from chaosgate.deploy.cluster.access import Question, questions, review
from chaosgate.deploy.cluster.rbac import Needs, needs_of, rule

ACCOUNT = "system:serviceaccount:chaos:chaosgate"


def test_each_verb_on_each_resource_is_asked_for() -> None:
    needs = Needs(
        {"chaos": [rule("apps", ["deployments"], ["get", "patch"]), rule("", ["namespaces"], ["get"], ["chaos"])]},
        [rule("", ["nodes"], ["list"])],
    )

    assert list(questions(needs)) == [
        Question("chaos", "apps", "deployments", "get"),
        Question("chaos", "apps", "deployments", "patch"),
        Question("chaos", "", "namespaces", "get", "chaos"),
        Question(None, "", "nodes", "list"),
    ]


def test_a_question_as_the_api_takes_it() -> None:
    assert Question("chaos", "", "pods/log", "get").attributes() == {
        "namespace": "chaos",
        "group": "",
        "resource": "pods",
        "subresource": "log",
        "verb": "get",
    }
    assert Question(None, "", "nodes", "get", "n").attributes() == {
        "group": "",
        "resource": "nodes",
        "verb": "get",
        "name": "n",
    }


def test_the_account_is_asked_about_in_its_own_name() -> None:
    cluster, users = FakeCluster(), set()

    def allows(attributes: Mapping[str, Any], user: str | None) -> bool:
        users.add(user)
        return not (attributes["resource"] == "pods" and attributes["verb"] == "delete")

    cluster.allows = allows
    access = review(cluster, needs_of(drill(LOST), "chaos"), ACCOUNT)

    assert users == {ACCOUNT}
    assert access.user == ACCOUNT
    assert list(access.sentences()) == [f"{ACCOUNT} may not, in namespace chaos: delete pods"]


def test_what_is_refused_is_said_once_a_namespace() -> None:
    cluster = FakeCluster()
    cluster.allows = lambda attributes, user: attributes["resource"] not in ("deployments", "nodes")
    needs = needs_of(drill(fault("node.cordon", "nodes")), "chaos")

    assert list(review(cluster, needs, ACCOUNT).sentences()) == [
        f"{ACCOUNT} may not, in namespace chaos: create, delete, get, list, patch deployments.apps",
        f"{ACCOUNT} may not, in no namespace: get, list, patch nodes",
    ]


def test_who_may_not_impersonate_asks_about_itself() -> None:
    cluster = FakeCluster()
    cluster.impersonates = False
    cluster.allows = lambda attributes, user: attributes["verb"] != "create"
    access = review(cluster, needs_of(drill(LOST), "chaos"), ACCOUNT)

    assert access.user is None
    assert {one.verb for one in access.refused} == {"create"}
    assert all(sentence.startswith("you may not, in namespace chaos: ") for sentence in access.sentences())
