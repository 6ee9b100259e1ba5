"""How a client asks for faults itself: by the header `X-Chaos-Mode`, or by the baggage it gives its requests."""

from __future__ import annotations

from chaosgate.model.request_facts import RequestFacts

MODE_HEADER = "X-Chaos-Mode"
"""Names of faults with commas between them, or `on` for every fault that waits for an opt-in."""
EVERY_FAULT = "on"
NOISE_KEY = "llm.mesh.noise"
"""The baggage of an application that wants to be disturbed; its value may say by what."""
VARIANT_KEY = "llm.mesh.gray"
"""The baggage that names the variant of a service, such as a canary, to which a request goes."""


def named_faults(facts: RequestFacts) -> tuple[str, ...]:
    """The names in `X-Chaos-Mode`, in their order."""
    written = (facts.header(MODE_HEADER) or "").split(",")
    return tuple(name.strip() for name in written if name.strip())


def opted_in(facts: RequestFacts, fault: str) -> bool:
    """Whether the request asks for the fault of that name, for all of them, or for noise."""
    named = named_faults(facts)
    return fault in named or EVERY_FAULT in named or NOISE_KEY in facts.baggage.members
