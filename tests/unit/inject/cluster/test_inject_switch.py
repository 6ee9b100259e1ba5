"""Faults of the cluster switched by a sweep: the order of gateway and cluster, refusals, halts and failures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from cluster_targets import RUN, cluster_fault
from fake_cluster import FakeCluster
from simulated_run import LATENCY, OBJECTIVES, stream_spec

from chaosgate.errors import ClusterError, GatewayError
from chaosgate.inject.cluster import switch as switch_module
from chaosgate.inject.cluster.switch import ClusterSwitch
from chaosgate.inject.sweep import Refused, run_sweep
from chaosgate.model.blocks import make_blocks
from chaosgate.model.change import Change
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.plan import Block, PlannedWindow
from chaosgate.model.spec import ChaosSpec

OWN = ClusterTarget(namespace="chaos", labels={"chaosgate/run": RUN, "chaosgate/role": "engine"})


class Gateway:
    """Remembers what it is asked and how many replicas there were then; refuses when it was halted."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster
        self.calls: list[tuple[Any, ...]] = []
        self.why: str | None = None
        self.renewed = asyncio.Event()
        """Set once a window is renewed after the first change."""

    def replicas(self) -> int:
        return int((self.cluster.get("Deployment", "engine") or {})["spec"]["replicas"])

    async def on(self, fault: str, dose: float, window: int, ttl: float) -> float:
        if self.why is not None:
            raise GatewayError("PUT: refused with 409: the run is halted")
        self.calls.append(("on", dose, window, self.replicas()))
        if self.replicas() < 2:
            self.renewed.set()
        return 10.0 + window

    async def off(self, fault: str) -> tuple[float, int]:
        self.calls.append(("off", self.replicas()))
        return 11.0, 0

    async def post(self, event: str, **fields: Any) -> float:
        self.calls.append((event, fields["window"], fields["detail"]))
        return 0.0

    async def timeline(self, phase: str) -> list[TimelineEvent]:
        return []

    async def halted(self) -> str | None:
        return self.why


FAULT = cluster_fault("deployment.replica-loss")


def spec_of(*faults: dict[str, Any]) -> ChaosSpec:
    return stream_spec(faults=faults or (FAULT.to_json(),), fits=(), objectives=(OBJECTIVES[3],))


@pytest.fixture
def gateway(cluster: FakeCluster) -> Gateway:
    return Gateway(cluster)


def switch_of(
    cluster: FakeCluster, gateway: Gateway, spec: ChaosSpec | None = None, reasons: Sequence[str] = ()
) -> ClusterSwitch:
    def check(fault: ClusterFault, changes: Sequence[Change]) -> list[str]:
        return list(reasons) if changes else []

    return ClusterSwitch(gateway, cluster, RUN, spec or spec_of(), "block1", OWN, check)


async def test_a_window_opens_before_the_first_change_and_closes_once_all_is_restored(
    cluster: FakeCluster, gateway: Gateway
) -> None:
    switch = switch_of(cluster, gateway)

    at = await switch.on("mine", 1.0, 3, 5.0)
    again = await switch.on("mine", 1.0, 3, 5.0)
    off = await switch.off("mine")

    assert (at, again, off) == (13.0, 13.0, (11.0, 1))
    opened, *renewed, closed = gateway.calls
    assert opened == ("on", 1.0, 3, 2)
    assert ("on", 1.0, 3, 1) in renewed
    assert closed == ("off", 2)


async def test_dose_0_looks_and_changes_nothing(cluster: FakeCluster, gateway: Gateway) -> None:
    switch = switch_of(cluster, gateway)

    await switch.on("mine", 0.0, 0, 5.0)
    assert await switch.off("mine") == (11.0, 0)

    assert cluster.calls == []


async def test_the_same_window_hits_the_same_in_every_run(cluster: FakeCluster, gateway: Gateway) -> None:
    spec = spec_of(cluster_fault("pod.delete").to_json())
    switch, fault = switch_of(cluster, gateway, spec), spec.spec.faults[0]
    assert isinstance(fault, ClusterFault)

    hit = [switch.look(fault, PlannedWindow(fault="mine", index=index, dose=1.0))[1] for index in range(30)]

    assert {change.pod for (change,) in hit} == {"engine-a", "engine-b"}  # type: ignore[union-attr]
    assert hit == [switch.look(fault, PlannedWindow(fault="mine", index=index, dose=1.0))[1] for index in range(30)]


async def test_what_is_not_safe_is_refused_before_anything_happens(cluster: FakeCluster, gateway: Gateway) -> None:
    switch = switch_of(cluster, gateway, reasons=["too many", "not ready"])

    with pytest.raises(Refused) as refused:
        await switch.on("mine", 1.0, 2, 5.0)

    assert str(refused.value) == "window 2 of mine was not begun: too many; not ready"
    assert (gateway.calls, cluster.calls) == ([], [])


async def test_a_sweep_ends_at_a_refused_window_and_keeps_those_before_it(
    cluster: FakeCluster, gateway: Gateway
) -> None:
    spec = spec_of({**FAULT.to_json(), "dose": {**FAULT.to_json()["dose"], "hold": "10ms", "washout": "0s"}})
    switch = switch_of(cluster, gateway, spec, ["too many"])

    with pytest.raises(Refused) as refused:
        await run_sweep(switch, spec, block_of(spec), lambda window: None)

    # The two controls before the first dose change nothing, so that nothing speaks against them.
    assert [window.window for window in refused.value.done] == [0, 1]
    assert cluster.calls == []


def block_of(spec: ChaosSpec) -> Block:
    return make_blocks(spec)[0].model_copy(update={"recovery": 0.0})


async def test_what_stands_in_the_way_is_known_before_the_first_window(cluster: FakeCluster, gateway: Gateway) -> None:
    spec = spec_of(cluster_fault("deployment.replica-loss", 1, 2, 5).to_json())
    assert switch_of(cluster, gateway, spec, ["too many"]).obstacles(block_of(spec).windows) == [
        "mine: 5 replicas are to be hit, 2 are there; lower the dose or raise their number",
        "too many",
    ]


async def test_faults_of_requests_are_the_gateways_alone(cluster: FakeCluster, gateway: Gateway) -> None:
    switch = switch_of(cluster, gateway, spec_of(LATENCY))

    await switch.on("slow-wire", 0.1, 0, 5.0)
    assert await switch.off("slow-wire") == (11.0, 0)

    assert cluster.calls == []


async def test_a_halt_undoes_the_window(
    cluster: FakeCluster, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of({**FAULT.to_json(), "dose": {**FAULT.to_json()["dose"], "hold": "30s"}})
    switch = switch_of(cluster, gateway, spec)
    first = block_of(spec).model_copy(update={"windows": (PlannedWindow(fault="mine", index=2, dose=1.0),)})
    monkeypatch.setattr("chaosgate.inject.sweep.RENEW_EVERY", 0.01)

    sweeping = asyncio.create_task(run_sweep(switch, spec, first, lambda window: None))
    await gateway.renewed.wait()
    gateway.why = "too many errors"
    windows, halted = await sweeping

    assert (len(windows), halted) == (1, "too many errors")
    assert gateway.calls[-2] == ("off", 2)


async def test_who_is_cancelled_while_changing_ends_the_change_and_undoes_it(
    cluster: FakeCluster, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of({**FAULT.to_json(), "dose": {**FAULT.to_json()["dose"], "hold": "30s"}})
    switch = switch_of(cluster, gateway, spec)
    first = block_of(spec).model_copy(update={"windows": (PlannedWindow(fault="mine", index=2, dose=1.0),)})
    begun = asyncio.Event()
    loop, carry_out = asyncio.get_running_loop(), switch_module.carry_out

    def slow(*words: Any) -> int:
        loop.call_soon_threadsafe(begun.set)
        return carry_out(*words)

    monkeypatch.setattr(switch_module, "carry_out", slow)
    sweeping = asyncio.create_task(run_sweep(switch, spec, first, lambda window: None))
    await begun.wait()
    sweeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sweeping

    assert ("patch", "/apis/apps/v1/namespaces/chaos/deployments/engine") in cluster.calls
    assert gateway.replicas() == 2
    assert gateway.calls[-1] == ("off", 2)


async def test_what_cannot_be_undone_leaves_its_window_to_end_by_itself(cluster: FakeCluster, gateway: Gateway) -> None:
    switch = switch_of(cluster, gateway)
    await switch.on("mine", 1.0, 2, 5.0)
    cluster.forbidden.add(("patch", "deployments"))

    with pytest.raises(ClusterError, match=r"^mine: not undone: PATCH .*/deployments/engine: refused with 403"):
        await switch.off("mine")

    assert all(call[0] == "on" for call in gateway.calls)


async def test_a_change_that_fails_half_way_is_undone(cluster: FakeCluster, gateway: Gateway) -> None:
    spec = spec_of(cluster_fault("net.policy-block").to_json())
    switch = switch_of(cluster, gateway, spec)
    cluster.forbidden.add(("create", "networkpolicies"))
    first = block_of(spec).model_copy(update={"windows": (PlannedWindow(fault="mine", index=2, dose=1.0),)})

    with pytest.raises(ClusterError, match="refused with 403"):
        await run_sweep(switch, spec, first, lambda window: None)

    assert cluster.select("Pod", f"chaosgate/hit={RUN}") == []
    assert gateway.calls[-1][0] == "off"
