"""A sweep at a gateway that a test scripts: order, proofs, halts and an end from outside."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from small_drill import write_spec

from chaosgate.errors import GatewayError
from chaosgate.inject import sweep as sweep_module
from chaosgate.inject.sweep import TTL, refuse_again, run_sweep, wait_for
from chaosgate.model.blocks import make_blocks
from chaosgate.model.load import load_spec
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.plan import Block
from chaosgate.model.spec import ChaosSpec


class Gateway:
    """Remembers the calls; halts or fails at the n-th `on`; with `forget`, no window is on when it is renewed."""

    def __init__(self, halt_at: int | None = None, fail_at: int | None = None, forget: bool = False) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.halt_at, self.fail_at = halt_at, fail_at
        self.forget = forget
        self.windows = 0
        self.events: list[TimelineEvent] = []

    async def on(self, fault: str, dose: float, window: int, ttl: float) -> float:
        self.calls.append(("on", dose, window, ttl))
        self.windows += 1
        if self.fail_at == self.windows or await self.halted():
            raise GatewayError("PUT: refused")
        return 10.0 + window + (self.windows if self.forget else 0)

    async def off(self, fault: str) -> tuple[float, int]:
        self.calls.append(("off", fault))
        return 11.0, 3

    async def post(self, event: str, **fields: object) -> float:
        self.calls.append((event, fields["window"], fields["detail"]))
        return 0.0

    async def timeline(self, phase: str) -> list[TimelineEvent]:
        return self.events

    async def halted(self) -> str | None:
        return "too many errors" if self.halt_at is not None and self.windows >= self.halt_at else None


@pytest.fixture
def spec(tmp_path: Path) -> ChaosSpec:
    return load_spec(write_spec(tmp_path, hold="100ms"))


@pytest.fixture
def block(spec: ChaosSpec) -> Block:
    return make_blocks(spec)[0].model_copy(update={"recovery": 0.0})


async def test_each_window_goes_on_off_and_is_proved_in_order(spec: ChaosSpec, block: Block) -> None:
    gateway = Gateway()
    seen: list[int | None] = []
    windows, halted = await run_sweep(gateway, spec, block, lambda window: seen.append(window and window.index))
    assert halted is None
    assert seen == [*(window.index for window in block.windows), None]
    assert [(window.window, window.dose, window.applied) for window in windows] == [
        (window.index, window.dose, 3) for window in block.windows
    ]
    assert [call[0] for call in gateway.calls] == ["on", "off", "proof"] * len(block.windows)
    assert gateway.calls[0] == ("on", 0.0, 0, TTL)
    assert gateway.calls[2] == ("proof", 0, {"applied": 3})


async def test_a_window_is_renewed_as_it_is_until_its_hold_is_over(
    spec: ChaosSpec, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "RENEW_EVERY", 0.02)
    gateway = Gateway()
    first = block.model_copy(update={"windows": block.windows[:1]})
    windows, _ = await run_sweep(gateway, spec, first, lambda window: None)
    ons, rest = gateway.calls[:-2], gateway.calls[-2:]
    assert len(ons) > 1
    assert set(ons) == {("on", 0.0, 0, TTL)}
    assert [call[0] for call in rest] == ["off", "proof"]
    assert windows[0].on == 10.0, "the time of the first PUT"


async def test_a_halt_ends_a_hold_and_the_window_counts(
    spec: ChaosSpec, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "RENEW_EVERY", 0.02)
    windows, halted = await run_sweep(Gateway(halt_at=2), spec, block, lambda window: None)
    assert (len(windows), halted) == (1, "too many errors")


async def test_a_window_that_was_lost_between_two_renewals_is_a_failure_and_goes_off(
    spec: ChaosSpec, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "RENEW_EVERY", 0.02)
    gateway = Gateway(forget=True)
    with pytest.raises(GatewayError) as refused:
        await run_sweep(gateway, spec, block, lambda window: None)
    assert str(refused.value) == (
        "slow-wire: window 0 was not renewed within 5 s, so the gateway ended it; the machine may be overloaded"
    )
    assert [call[0] for call in gateway.calls] == ["on", "on", "off"]


async def test_no_window_follows_a_halt(spec: ChaosSpec, block: Block) -> None:
    gateway = Gateway(halt_at=2)
    windows, halted = await run_sweep(gateway, spec, block, lambda window: None)
    assert halted == "too many errors"
    assert gateway.windows == 2
    assert len(windows) == 1


async def test_a_refusal_that_is_no_halt_is_an_error(spec: ChaosSpec, block: Block) -> None:
    with pytest.raises(GatewayError, match="PUT: refused"):
        await run_sweep(Gateway(fail_at=1), spec, block, lambda window: None)


async def test_a_sweep_that_is_cancelled_takes_its_fault_off(spec: ChaosSpec, block: Block) -> None:
    gateway = Gateway()
    started = asyncio.Event()
    sweep = asyncio.create_task(run_sweep(gateway, spec, block, lambda window: started.set()))
    await started.wait()
    await asyncio.sleep(0.01)
    sweep.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sweep
    assert [call[0] for call in gateway.calls] == ["on", "off"]


async def test_waiting_ends_with_the_event(spec: ChaosSpec) -> None:
    gateway = Gateway()
    gateway.events = [TimelineEvent(at=1.0, event="started", phase="block1")]
    waiting = asyncio.create_task(wait_for(gateway, "block1", "started", 1.0))
    done, _ = await asyncio.wait({waiting}, timeout=0.9)
    assert done == {waiting}
    assert waiting.exception() is None


async def test_an_event_that_never_comes_is_named() -> None:
    with pytest.raises(GatewayError) as refused:
        await wait_for(Gateway(), "block1", "started", 0.2)
    assert str(refused.value) == ("block1: no 'started' in the timeline within 0 s; did the other step start?")


async def test_a_step_whose_pod_was_made_anew_does_nothing_again() -> None:
    gateway = Gateway()
    gateway.events = [TimelineEvent(at=at, event=event) for at, event in enumerate(("started", "on", "injected"))]
    with pytest.raises(GatewayError) as refused:
        await refuse_again(gateway, "block1", "on", "injected", "done")
    assert str(refused.value) == (
        "block1: on and injected stands in the timeline: this step comes too late, or was run before and lost its pod; "
        "nothing is measured or injected twice, so start the run anew"
    )
    await refuse_again(gateway, "block1", "done")
