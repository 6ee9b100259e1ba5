"""Loads that have a name: the life phases of a service, and spikes that go through its SLO.

Each says which of its figures come from field reports on LLM serving and which are ours. None of them is a measurement
of anybody's service: they are where a first run begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A load by name."""

    name: str
    shows: str
    """What it is for, in a sentence."""
    field: str
    """Which of its figures field reports give, and how they became a load."""
    ours: str
    """Which figures nobody gave."""
    workload: Mapping[str, Any]
    """The keys of a spec's `workload` that it sets."""


def presets() -> Mapping[str, Preset]:
    """Every preset by its name."""
    return _PRESETS


_WARM_UP = Preset(
    name="warm-up",
    shows="What a service does that has just started: weights load, caches are cold, and no two prompts share a begin.",
    field="Load jitter of 80 ms give or take 20 ms, normal. Read here as gaps between requests: gamma gaps of shape 16 "
    "have that mean and deviation, as 1 / sqrt(16) is 20 / 80, and none is negative. Slow loading itself is no load.",
    ours="The lengths of prompts and answers.",
    workload={
        "arrivals": {"process": "gamma", "rate": "12.5/s", "burstiness": 16.0},
        "prompts": {"lengths": {"words": {"distribution": "normal", "mean": 64.0, "std": 16.0, "min": 16, "max": 112}}},
        "maxTokens": 32,
    },
)
_STEADY = Preset(
    name="steady",
    shows="A service in its routine: independent users, and answers that differ little.",
    field="A token time that varies by 15 % either way, and KV eviction up to 35 %. Both are the server's: a client "
    "can only ask for answers whose length varies by as much, 54 to 74 tokens, so that the work of a request does.",
    ours="The rate, the mean lengths, and the uniform distribution.",
    workload={
        "arrivals": {"process": "poisson", "rate": "12.5/s"},
        "prompts": {
            "lengths": {
                "words": {"distribution": "uniform", "min": 54, "max": 74},
                "maxTokens": {"distribution": "uniform", "min": 54, "max": 74},
            }
        },
    },
)
_LONG_TAIL = Preset(
    name="long-tail",
    shows="Few long requests among many short ones, which fragment memory: the shortest and the longest are 128 apart.",
    field="Tensors of random sizes from 16 MB to 2 GB, a ratio of 128. Prompts of 16 to 2,048 words have the same one.",
    ours="That sizes are lognormal, with the bounds two standard deviations of the logarithm from the median, "
    "ln(128) / 4 each; the rate; answers of 4 to 512 tokens. The target's context must hold all of it.",
    workload={
        "arrivals": {"process": "poisson", "rate": "5/s"},
        "prompts": {
            "lengths": {
                "words": {"distribution": "lognormal", "median": 181.0, "sigma": 1.213, "min": 16, "max": 2048},
                "maxTokens": {"distribution": "lognormal", "median": 45.25, "sigma": 1.213, "min": 4, "max": 512},
            }
        },
    },
)
_SLO_SPIKES = Preset(
    name="slo-spikes",
    shows="Bursts of a second that an average hides: whether they break the P99 that the load between them keeps.",
    field="Spikes that reach 180 ms against a P99 of 120 ms: what a service showed, and so bounds to judge by "
    '(`ttft-p99` "<= 120ms"), not figures that a client can set.',
    ours="The rate, and spikes of five times as much, one second in twenty.",
    workload={
        "arrivals": {"process": "poisson", "rate": "10/s"},
        "prompts": {"set": "recall-24"},
        "spikes": {"rate": "40/s", "width": "1s", "every": "20s"},
        "maxTokens": 8,
    },
)
_PRESETS: Mapping[str, Preset] = MappingProxyType(
    {preset.name: preset for preset in (_WARM_UP, _STEADY, _LONG_TAIL, _SLO_SPIKES)}
)
