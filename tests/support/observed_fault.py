"""What the load generator's client observes of a fault that a gateway on loopback carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway_rig import SEED, gateway, settled, streaming, upstream
from stream_rig import answer

from chaosgate.loadgen.client import ChatClient, open_session
from chaosgate.loadgen.trace import Call, PhaseClock
from chaosgate.model.observation import Observation
from chaosgate.prompts.prompt import Prompt

WORDS = ("lamp", " stone", " river", " door", " cloud", " field")


async def observed(
    fault: Mapping[str, Any], dose: float, words: Sequence[str] = WORDS, patience: float = 20.0
) -> tuple[Observation, dict[str, Any]]:
    """One request while `fault` is on at `dose`, as its client saw it and as the ledger has it.

    The server would answer `words`; the client waits for at most `patience` seconds.
    """
    call = Call(f"{SEED}.block1.1", "block1", "recall-24/1", Prompt("copy lamp>", "lamp"), 0.0, False)
    async with upstream(streaming(answer(*words))) as url, gateway(url, [fault]) as served, open_session() as session:
        served.run.windows.open(fault["name"], 0, dose, 60)
        client = ChatClient(
            session, served.url, model="m", max_tokens=8, seed=SEED, timeout=patience, clock=PhaseClock()
        )
        trace = client.trace(call)
        await client.ask(trace)
        (row,) = await settled(served)
        return trace.observation(), row
