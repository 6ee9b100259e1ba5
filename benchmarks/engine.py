"""How fast the embedded engine is beside a bare loop over the same model, and what its sites cost.

    python benchmarks/engine.py                 a table
    python benchmarks/engine.py --json          one JSON object a line: name, value, unit, goal, peers
    python benchmarks/engine.py --selftest      generates twice as many tokens and must see it take twice as long
    python benchmarks/engine.py --seed 7        on untrained weights

A ratio compares two ways of generating tokens that take turns, many times, and is the median over the turns: whatever
else the machine does meets both alike. In one thread they are measured in CPU seconds, over HTTP in seconds.
"""

from __future__ import annotations

import os

# As the server does for itself: one BLAS thread, which must be said before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
from bare_loop import BareLoop
from figures import BIN, ENVIRONMENT, Figure, see_twofold, show

from chaosgate.engine.network import weights
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.scheduler import Scheduler
from chaosgate.engine.runtime.sequence import Generation
from chaosgate.model.sites import Hooks, site_names

CONFIG = ModelConfig()
PROMPT = 100
TOKENS = 100
TURNS = 15
STREAMS = 16
SERVED_TOKENS = 200
TEXTS = 200


def prompts(rows: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Random prompts, (rows, PROMPT)."""
    return np.random.default_rng(seed).integers(0, CONFIG.vocab_size, (rows, PROMPT))


def bare(model: Transformer, rows: int) -> float:
    """Tokens a second that the bare loop decodes for `rows` sequences."""
    loop = BareLoop(CONFIG, model.weights, rows)
    logits = loop.feed(prompts(rows))
    begun = time.thread_time()
    loop.greedy(TOKENS, logits)
    return rows * TOKENS / (time.thread_time() - begun)


def bare_answers(model: Transformer) -> float:
    """Tokens a second, prompts included, of STREAMS answers of SERVED_TOKENS tokens by the bare loop."""
    begun = time.perf_counter()
    loop = BareLoop(CONFIG, model.weights, STREAMS)
    loop.greedy(SERVED_TOKENS, loop.feed(prompts(STREAMS)))
    return STREAMS * SERVED_TOKENS / (time.perf_counter() - begun)


def paged(model: Transformer, rows: int, hooks: Hooks | None = None, tokens: int = TOKENS) -> float:
    """Tokens a second that the scheduler decodes for as many requests, from their first token on."""
    scheduler = Scheduler(model, EngineConfig(max_num_batched_tokens=rows * PROMPT), lambda deliveries: None)
    for prompt in prompts(rows):
        ids = tuple(int(token) for token in prompt)
        scheduler.submit(Generation(ids, tokens + 1, Sampling(0.0), ignore_eos=True, hooks=hooks))
    scheduler.step()
    begun = time.thread_time()
    while scheduler.running:
        scheduler.step()
    return rows * tokens / (time.thread_time() - begun)


def in_turn(first: Callable[[], float], second: Callable[[], float]) -> tuple[float, float]:
    """The median ratio of the second to the first over TURNS turns, and the median of the first."""
    pairs = [(first(), second()) for _ in range(TURNS)]
    return statistics.median(b / a for a, b in pairs), statistics.median(a for a, _ in pairs)


def paged_figure(model: Transformer, rows: int, goal: float) -> Figure:
    """The scheduler beside the bare loop."""
    ratio, alone = in_turn(lambda: bare(model, rows), lambda: paged(model, rows))
    peers = {"bare tokens/s": alone}
    return Figure(f"paged_over_bare_b{rows}", ratio, "", goal, peers, at_least=True)


def hook_figures(model: Transformer) -> Iterator[Figure]:
    """What 16 requests lose by hooks that change nothing."""

    def loss(hooks: Hooks) -> float:
        return 1 - in_turn(lambda: paged(model, 16), lambda: paged(model, 16, hooks))[0]

    yield Figure("idle_hook_loss", loss(Hooks({})), "", 0.02)
    every = dict.fromkeys(site_names(CONFIG.layers, CONFIG.experts), lambda array, context: array)
    figure = Figure("armed_hook_loss", loss(Hooks({"embedding": every["embedding"]})), "", 1.0)
    figure.peers["at every site"] = loss(Hooks(every))
    yield figure


def texts_figure(model: Transformer) -> Figure:
    """How many of many requests get, in a crowd that shares, waits and is preempted, the tokens one alone gets."""
    alone, crowd = EngineConfig(enable_prefix_caching=False), EngineConfig(num_blocks=60, max_num_batched_tokens=48)
    asked = mixed()
    expected = [answer for one in asked for answer in answers(model, [one], alone)]
    same = sum(map(tuple.__eq__, answers(model, asked, crowd), expected)) / len(asked)
    return Figure("same_text_share", same, "", 0.999, at_least=True)


def mixed() -> list[Generation]:
    """Prompts of 20 to 119 tokens, every other one with a beginning that four share; every other one is drawn."""
    own, shared = prompts(TEXTS, seed=1).tolist(), prompts(TEXTS // 8, seed=2).tolist()
    asked = []
    for number in range(TEXTS):
        start = shared[number // 8][:40] if number % 2 else []
        prompt = (*start, *own[number][: 20 + 7 * number % 60])
        asked.append(Generation(prompt, 40, Sampling(number // 2 % 2, seed=number), ignore_eos=True))
    return asked


def answers(model: Transformer, asked: list[Generation], config: EngineConfig) -> list[tuple[int, ...]]:
    """The tokens that each request gets, all sent at once."""
    scheduler = Scheduler(model, config, lambda deliveries: None)
    sequences = [scheduler.submit(generation) for generation in asked]
    while scheduler.running or scheduler.waiting:
        scheduler.step()
    return [tuple(sequence.tokens[len(sequence.generation.prompt) :]) for sequence in sequences]


@contextmanager
def server(seed: int | None) -> Iterator[str]:
    """The URL of a server process that answers."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.json"
        command = [BIN / "python", "-m", "chaosgate.engine", "--port", "0", "--ready-file", ready]
        command += [] if seed is None else ["--seed", str(seed)]
        process = subprocess.Popen([str(word) for word in command], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        try:
            while not ready.exists():
                if process.poll() is not None:
                    sys.exit(f"{command}: exit code {process.returncode} before it answered")
                time.sleep(0.002)
            yield json.loads(ready.read_text())["url"]
        finally:
            process.terminate()
            process.wait()


async def stream(client: aiohttp.ClientSession, url: str, prompt: list[int], tokens: int) -> int:
    """How many events one stream of `tokens` tokens brings."""
    asked = {"model": "embedded/tiny", "prompt": prompt, "max_tokens": tokens, "temperature": 0}
    body = {**asked, "ignore_eos": True, "stream": True}
    async with client.post(f"{url}/v1/completions", json=body) as response:
        response.raise_for_status()
        return sum([line.startswith(b"data: {") async for line in response.content])


async def streams(url: str, count: int, tokens: int) -> None:
    """So many streams at once, each read to its end."""
    async with aiohttp.ClientSession() as client:
        events = await asyncio.gather(*(stream(client, url, prompt, tokens) for prompt in prompts(count).tolist()))
    if min(events) < tokens:
        sys.exit(f"a stream of {tokens} tokens brought {min(events)} events")


def served(url: str) -> float:
    """The same answers over HTTP, each in a stream of its own."""
    begun = time.perf_counter()
    asyncio.run(streams(url, STREAMS, SERVED_TOKENS))
    return STREAMS * SERVED_TOKENS / (time.perf_counter() - begun)


def served_figure(model: Transformer, seed: int | None) -> Figure:
    """A server process and its client beside the bare loop in this process."""
    with server(seed) as url:
        served(url)
        ratio, alone = in_turn(lambda: bare_answers(model), lambda: served(url))
    return Figure("served_over_bare", ratio, "", 0.4, {"bare tokens/s": alone}, at_least=True)


def start_figure(seed: int | None) -> Figure:
    """From the start of the process to a whole answer of one token, over HTTP."""

    def once() -> float:
        begun = time.perf_counter()
        with server(seed) as url:
            asyncio.run(streams(url, 1, 1))
            return time.perf_counter() - begun

    once()
    return Figure("start_to_first_answer_s", statistics.median(once() for _ in range(5)), "s", 1.0)


def selftest(model: Transformer) -> None:
    """Twice as many tokens must take about twice as long."""
    spent = [statistics.median(tokens / paged(model, 4, tokens=tokens) for _ in range(9)) for tokens in (50, 100)]
    see_twofold(*spent)


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--json", "--selftest"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--seed", type=int)
    words = parser.parse_args()
    model = Transformer(CONFIG, weights.shipped() if words.seed is None else weights.seeded(CONFIG, words.seed))
    if words.selftest:
        selftest(model)
        return
    figures = [
        paged_figure(model, 1, 0.6),
        paged_figure(model, 16, 0.6),
        served_figure(model, words.seed),
        start_figure(words.seed),
        *hook_figures(model),
        texts_figure(model),
    ]
    show(figures, words.json)


if __name__ == "__main__":
    main()
