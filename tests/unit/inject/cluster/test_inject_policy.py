from __future__ import annotations

from cluster_targets import RUN
from fake_cluster import FakeCluster

from chaosgate.inject.cluster.notes import note_on
from chaosgate.inject.cluster.policy import block, manifest
from chaosgate.inject.cluster.scene import Scene
from chaosgate.inject.cluster.undo import Place, undo
from chaosgate.model.change import BlockIngress

PLACES = (Place("NetworkPolicy", "chaos"), Place("Pod", "chaos"))


def test_a_policy_is_about_the_pods_that_carry_its_note(cluster: FakeCluster, scene: Scene) -> None:
    assert block(scene, BlockIngress(("engine-a",)))() == 1

    policy = cluster.get("NetworkPolicy", f"{RUN}-mine")
    assert policy is not None
    assert policy["spec"]["podSelector"] == {"matchLabels": {"chaosgate/hit": RUN}}
    hit = [one["metadata"]["name"] for one in cluster.select("Pod", f"chaosgate/hit={RUN}")]
    assert hit == ["engine-a"]


def test_everybody_but_the_runs_gateway_gets_in(scene: Scene) -> None:
    (rule,) = manifest(scene)["spec"]["ingress"]
    terms = [
        (term["key"], term["operator"], term["values"])
        for peer in rule["from"]
        for selector in peer.values()
        for term in selector.get("matchExpressions", [])
    ]
    assert terms == [
        ("kubernetes.io/metadata.name", "NotIn", ["chaos"]),
        ("chaosgate/role", "NotIn", ["gateway"]),
        ("chaosgate/run", "NotIn", [RUN]),
    ]


def test_undoing_removes_the_policy_before_it_lets_its_pods_go(cluster: FakeCluster, scene: Scene) -> None:
    block(scene, BlockIngress(("engine-a", "engine-b")))

    assert undo(cluster, RUN, PLACES) == (
        [f"removed NetworkPolicy {RUN}-mine", "opened pod engine-a", "opened pod engine-b"],
        [],
    )
    assert all(note_on(pod) is None for pod in cluster.select("Pod"))
    assert undo(cluster, RUN, PLACES) == ([], [])


def test_a_policy_that_cannot_be_removed_is_left_and_said(cluster: FakeCluster, scene: Scene) -> None:
    block(scene, BlockIngress(("engine-a",)))
    cluster.forbidden.add(("delete", "networkpolicies"))

    done, left = undo(cluster, RUN, PLACES)

    assert done == ["opened pod engine-a"]
    assert len(left) == 1
    assert "refused with 403" in left[0]
