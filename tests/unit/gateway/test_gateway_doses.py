"""The dose that a request gets: by its window, and by the shape at the moment of its arrival."""

from __future__ import annotations

import re
from typing import Any

import pytest
from aiohttp import web
from gateway_rig import ask, drift, error, gateway, latency, named, settled, upstream

from chaosgate.gateway.server import Gateway
from chaosgate.model.carried_faults import read_carried_faults
from chaosgate.model.fault_headers import FAULTS_HEADER

LONG: dict[str, Any] = {"values": [1], "hold": "3000s", "washout": "0s"}
HALF = 500.0
"""Seconds after which the shapes below are in the middle; a test that takes a second sees them there all the same."""
RAMP = {"ramp": "1000s"}
PULSE = {"pulse": {"width": "400s", "period": "1000s"}}


def sweep(parameter: str, dose: str | float) -> dict[str, Any]:
    return {**LONG, "parameter": parameter, "values": [dose]}


def opened_before(served: Gateway, fault: str, dose: float, seconds: float) -> None:
    """Open a window as if that had been so many seconds ago."""
    served.run.windows.open(fault, 0, dose, 60)
    served.run.windows.active()[0].on -= seconds


async def row_of(served: Gateway) -> dict[str, Any]:
    await ask(served.url, headers=named(1))
    (row,) = await settled(served)
    return row


@pytest.mark.parametrize(
    ("shape", "seconds", "effect"),
    [
        (None, HALF, r"delay 0\.040 s"),
        (RAMP, HALF, r"at dose 0\.02\d* of 0\.04: delay 0\.02\d s"),
        (RAMP, 2 * HALF, r"delay 0\.040 s"),
        (PULSE, 100.0, r"delay 0\.040 s"),
        (PULSE, 1100.0, r"delay 0\.040 s"),
    ],
)
async def test_a_request_gets_the_dose_of_its_moment(shape: Any, seconds: float, effect: str) -> None:
    fault = latency(shape=shape, dose=sweep("delay", "40ms"))
    async with upstream() as url, gateway(url, [fault]) as served:
        opened_before(served, "slow", 0.04, seconds)
        row = await row_of(served)
        # The ramp goes on while the test runs.
        assert re.fullmatch(effect, row["effect"])
        assert (row["dose"], row["applied"]) == (0.04, True)


async def test_between_pulses_nothing_is_done_counted_or_waited_for() -> None:
    fault = latency(shape=PULSE, dose=sweep("delay", "60s"))
    async with upstream() as url, gateway(url, [fault]) as served:
        opened_before(served, "slow", 60.0, HALF)
        row = await row_of(served)
        assert (row["planned"], row["applied"], row["bypassed"]) == (True, False, "its shape is at 0")
        assert served.run.windows.active()[0].applied == 0
        assert "llm_chaos_injected_total{" not in served.run.metrics.render()


async def test_who_is_hit_on_a_ramp_stays_hit_as_it_rises() -> None:
    fault = error(shape=RAMP, dose=sweep("probability", "100 %"))
    hit: list[set[int]] = []
    async with upstream() as url:
        for seconds in (200.0, 600.0):
            async with gateway(url, [fault]) as served:
                opened_before(served, "bad", 1.0, seconds)
                answers = {number: await ask(served.url, headers=named(number)) for number in range(60)}
                hit.append({number for number, (status, _) in answers.items() if status == 503})
    assert hit[0] < hit[1] < set(range(60))


async def test_a_control_of_a_shaped_fault_runs_the_same_code() -> None:
    async with upstream() as url, gateway(url, [latency(shape=PULSE, dose=sweep("delay", "1s"))]) as served:
        opened_before(served, "slow", 0.0, HALF)
        row = await row_of(served)
        assert (row["applied"], row["effect"]) == (True, "delay 0.000 s")


async def test_the_engine_is_given_the_dose_of_the_moment() -> None:
    carried: list[str] = []

    async def engine(request: web.Request) -> web.StreamResponse:
        carried.append(request.headers[FAULTS_HEADER])
        return web.Response()

    fault = drift(shape=RAMP) | {"dose": sweep("sigma", 1)}
    async with upstream(engine) as url, gateway(url, [fault]) as served:
        opened_before(served, "drift", 2.0, HALF)
        await ask(served.url, headers=named(1))
    (sent,) = (read_carried_faults(text).faults[0] for text in carried)
    assert sent.name == "drift"
    assert sent.dose == pytest.approx(1.0, abs=0.05)
