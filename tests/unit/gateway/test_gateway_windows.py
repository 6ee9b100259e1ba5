"""Windows, timers and phases where the admin port would be in the way."""

from __future__ import annotations

from itertools import pairwise

from gateway_rig import error, gateway, latency

from chaosgate.gateway.clock import Clock
from chaosgate.gateway.windows import Windows

NOWHERE = "http://127.0.0.1:9"


async def test_a_late_timer_lets_no_window_live_longer() -> None:
    async with gateway(NOWHERE, [latency()]) as served:
        windows: Windows = served.run.windows
        opened = windows.open("slow", 0, 0.1, 1e-4)
        while served.run.clock.now() < opened + 1e-3:
            pass

        # No timer has run: this task never gave way.
        assert windows.get("slow") is None
        assert [event.detail for event in served.run.timeline.events()] == [{}, {"why": "expired"}]


async def test_a_renewal_lengthens_a_window_and_changes_nothing_else() -> None:
    async with gateway(NOWHERE, [latency()]) as served:
        windows: Windows = served.run.windows
        opened = windows.open("slow", 3, 0.1, 5)
        active = windows.get("slow")
        assert active is not None
        active.applied, expires = 7, active.expires

        assert windows.open("slow", 3, 0.1, 5) == opened
        assert windows.get("slow") is active
        assert active.expires > expires
        closed = windows.close("slow")
        assert closed is not None
        assert (closed.applied, closed.on) == (7, opened)
        assert [event.event for event in served.run.timeline.events()] == ["on", "off"]


async def test_a_fault_of_several_phases_belongs_to_the_one_that_runs() -> None:
    phases = {"block1": ["slow"], "verify": ["slow"], "block2": ["bad"]}
    async with gateway(NOWHERE, [latency(), error()], phases) as served:
        timeline, windows = served.run.timeline, served.run.windows

        def phase_now() -> str | None:
            windows.open("slow", 0, 0.1, 60)
            windows.close("slow")
            return timeline.events()[-1].phase

        assert phase_now() == "block1"
        timeline.add(event="started", phase="verify")
        timeline.add(event="started", phase="block2")
        assert phase_now() == "verify"
        timeline.add(event="done", phase="verify")
        assert phase_now() == "block1"
        windows.halt("enough")
        assert timeline.events()[-1].phase == "block2"


async def test_stamps_never_go_back() -> None:
    clock = Clock()
    stamps = [clock.now() for _ in range(1000)]

    assert stamps[0] >= 0
    assert all(earlier <= later for earlier, later in pairwise(stamps))
