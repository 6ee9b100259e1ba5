"""Loads: faults inside the engine on their way there and back, in headers, and what the ledger says of them."""

from __future__ import annotations

from collections.abc import Sequence

import aiohttp

from chaosgate.gateway.passage import PlannedLoad, SharedWindow
from chaosgate.model.carried_faults import CarriedFaults, Dosed, carried_names, refused_names
from chaosgate.model.fault_headers import CARRIED_HEADER, EVERY, FAULTS_HEADER, REFUSED_HEADER, TOKEN_HEADER

NO_ANSWER = "no answer of the engine"


def load_headers(loads: Sequence[PlannedLoad], shared: Sequence[SharedWindow], token: str) -> dict[str, str]:
    """The headers with which a request takes its faults to the engine; none where it has none, nor `shared` windows.

    Until the engine answers, the ledger says that it did not.
    """
    if not loads and not shared:
        return {}
    for planned in loads:
        planned.touch.bypass(NO_ANSWER)
    draw = loads[0].draw if loads else shared[0].draw
    faults = tuple(Dosed(name=planned.touch.fault, dose=planned.dose) for planned in loads)
    salt = ",".join(one.salt for one in shared)
    carried = CarriedFaults(seed=draw.seed, request=draw.request, faults=faults, salt=salt)
    return {FAULTS_HEADER: carried.to_header(), TOKEN_HEADER: token}


def drop_loads(loads: list[PlannedLoad]) -> None:
    """The run was halted while the request was held: it goes on without them."""
    for planned in loads:
        planned.touch.bypass("halted")
    loads.clear()


def settle_loads(loads: Sequence[PlannedLoad], answer: aiohttp.ClientResponse) -> None:
    """Enter into the ledger what the engine carried out, and of all else why not."""
    carried = carried_names(answer.headers.getall(CARRIED_HEADER, ()))
    refused = refused_names(answer.headers.getall(REFUSED_HEADER, ()))
    for planned in loads:
        name = planned.touch.fault
        reason = refused.get(name, refused.get(EVERY))
        if name in carried:
            planned.touch.apply(_effect(planned))
        elif reason is not None:
            planned.touch.bypass(f"the engine refused it: {reason}")
        elif answer.status >= 400:
            planned.touch.bypass(f"the engine answered status {answer.status}")
        else:
            planned.touch.bypass("the engine does not carry it")


def _effect(planned: PlannedLoad) -> str:
    return f"carried at dose {planned.dose:g}" + (
        "" if planned.received == planned.dose else f", of which the request got {planned.received:.4g}"
    )
