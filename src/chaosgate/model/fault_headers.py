"""The headers in which faults inside the engine travel. They stay between gateway and engine: no client sees them."""

from __future__ import annotations

FAULTS_HEADER = "X-Chaosgate-Faults"
"""Request: what it carries, a `chaosgate.model.carried_faults.CarriedFaults` as JSON."""
TOKEN_HEADER = "X-Chaosgate-Token"
"""Request: the engine's token, `chaosgate.tokens.engine_token`."""
CARRIED_HEADER = "X-Chaosgate-Carried"
"""Answer: the names of the faults that were carried out, with commas between them."""
REFUSED_HEADER = "X-Chaosgate-Refused"
"""Answer: one `name: reason` for each fault that was not; of several the headers stand one under the other."""
EVERY = "*"
"""In place of a name in REFUSED_HEADER: nothing of what the request carries was carried out."""
