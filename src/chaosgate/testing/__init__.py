"""A gateway for tests of clients: faults between the code under test and any server of OpenAI's API.

from chaosgate.testing import chaos_gateway

with chaos_gateway("http://127.0.0.1:8000", faults=["wire.error=20%,status=429"]) as gateway:
    client = OpenAI(base_url=f"{gateway.url}/v1", api_key="none")
"""

from chaosgate.testing.gateway import ChaosGateway, chaos_gateway

__all__ = ["ChaosGateway", "chaos_gateway"]
