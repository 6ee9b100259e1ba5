"""Everything a gateway knows of its run, in one place for the data and the admin port."""

from __future__ import annotations

from chaosgate.gateway.chain import Chain
from chaosgate.gateway.clock import Clock
from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.ledger import MAX_ROWS, Ledger
from chaosgate.gateway.metrics import Metrics
from chaosgate.gateway.timeline import MAX_EVENTS, Timeline
from chaosgate.gateway.upstreams import Upstreams
from chaosgate.gateway.windows import Windows
from chaosgate.sleepers import Sleepers


class RunState:
    """One run as its gateway sees it: clock, timeline, windows, chain, ledger, metrics and upstreams."""

    def __init__(self, config: GatewayConfig, max_rows: int = MAX_ROWS, max_events: int = MAX_EVENTS) -> None:
        self.config = config
        self.clock = Clock()
        self.sleepers = Sleepers(self.clock.now)
        self.timeline = Timeline(config, self.clock, max_events)
        self.windows = Windows(self.clock, self.timeline, self.sleepers)
        self.chain = Chain(config.seed, self.windows, self.sleepers, self.clock)
        self.ledger = Ledger(max_rows)
        self.metrics = Metrics()
        self.upstreams = Upstreams(self.clock, (config.upstream, *config.replicas), config.variants)
