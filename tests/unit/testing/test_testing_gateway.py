"""A gateway in somebody's tests, used as they would: with the official client, before a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import openai
import pytest
from gateway_rig import streaming, upstream
from openai import AsyncOpenAI, OpenAI

from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.serving import in_background
from chaosgate.errors import GatewayError, UsageError
from chaosgate.testing import ChaosGateway, chaos_gateway

MODEL = "embedded/tiny"


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    with in_background(EngineConfig(seed=7)) as url:
        yield url


def client(gateway: ChaosGateway, retries: int = 0) -> OpenAI:
    return OpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=retries)


def ask(asking: OpenAI, prompt: str = "hi") -> str:
    done = asking.completions.create(model=MODEL, prompt=prompt, temperature=0, max_tokens=4)
    return done.choices[0].text


def test_a_client_sees_the_faults_and_the_test_sees_the_ledger(engine: str) -> None:
    with chaos_gateway(engine, ["wire.error=100%,status=429"]) as gateway, client(gateway) as asking:
        with pytest.raises(openai.RateLimitError):
            ask(asking)
        (row,) = gateway.ledger()
        assert (row.fault, row.applied, row.effect) == ("wire-error", True, "reply 429")
        gateway.off("wire-error")
        with OpenAI(base_url=f"{engine}/v1", api_key="none") as direct:
            assert ask(asking) == ask(direct)
        assert [row.bypassed for row in gateway.ledger("wire-error")] == [None, "no window"]
        assert gateway.ledger("another") == []


@pytest.mark.thorough
def test_a_client_that_tries_again_comes_through(engine: str) -> None:
    """The retried body is another occurrence, so that its draw is another."""
    with chaos_gateway(engine, ["wire.error=50%,status=503"], seed=3) as gateway, client(gateway, retries=8) as asking:
        for number in range(6):
            ask(asking, f"prompt {number}")
        hits = [row.applied for row in gateway.ledger()]
    assert hits.count(False) == 6
    assert any(hits)


def test_the_same_seed_hits_the_same_requests(engine: str) -> None:
    def hit(seed: int) -> list[bool]:
        with chaos_gateway(engine, ["wire.error=50%"], seed=seed) as gateway, client(gateway) as asking:
            for number in range(24):
                try:
                    ask(asking, f"prompt {number}")
                except openai.APIStatusError:
                    continue
            return [row.applied for row in gateway.ledger()]

    assert hit(1) == hit(1)
    assert hit(1) != hit(2)


def test_faults_change_while_it_serves(engine: str) -> None:
    with chaos_gateway(engine, ["wire.latency=0ms,name=slow"]) as gateway, client(gateway) as asking:
        ask(asking)
        gateway.on("slow", "300ms")
        before = time.monotonic()
        ask(asking)
        assert time.monotonic() - before >= 0.3
        gateway.halt("enough")
        ask(asking)
        assert [row.bypassed for row in gateway.ledger()] == [None, None, "halted"]
        with pytest.raises(GatewayError, match=r"the run is halted \(enough\)"):
            gateway.on("slow")
        with pytest.raises(UsageError, match="unknown fault 'slw'; did you mean 'slow'"):
            gateway.off("slw")


def test_everything_ends_with_the_block_and_the_ledger_stays(engine: str) -> None:
    before = threading.active_count()
    with chaos_gateway(engine, ["wire.latency=0ms"]) as gateway, client(gateway) as asking:
        ask(asking)
        url = gateway.url
    assert threading.active_count() == before
    assert len(gateway.ledger()) == 1
    with pytest.raises(UsageError, match="this gateway does not run"):
        gateway.on("wire-latency")
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as late, pytest.raises(openai.APIConnectionError):
        ask(late)


def test_a_request_that_is_held_does_not_hold_the_end(engine: str) -> None:
    held = []

    def wait(asking: OpenAI) -> None:
        try:
            held.append(ask(asking))
        except openai.APIError as error:
            held.append(type(error).__name__)

    before = time.monotonic()
    with chaos_gateway(engine, ["wire.latency=60s"]) as gateway:
        thread = threading.Thread(target=wait, args=[client(gateway)])
        thread.start()
        while not gateway._running.served.run.rows.unfinished():
            time.sleep(0.01)
    thread.join(30)
    assert len(held) == 1
    assert time.monotonic() - before < 50
    assert len(gateway.ledger()) == 1


def test_a_wrong_fault_is_told_before_anything_runs() -> None:
    before = threading.active_count()
    with (
        pytest.raises(UsageError, match=r"did you mean 'wire\.latency'"),
        chaos_gateway("http://h:1", ["wire.latenzy=1s"]),
    ):
        pass
    assert threading.active_count() == before


def test_it_is_entered_once(engine: str) -> None:
    with chaos_gateway(engine) as gateway, pytest.raises(UsageError, match="entered already"), gateway:
        pass


async def read(asking: AsyncOpenAI, got: list[str]) -> None:
    """Stream an answer into `got`."""
    messages = [{"role": "user", "content": "hi"}]
    async for chunk in await asking.chat.completions.create(model="m", messages=messages, stream=True):
        got.append(chunk.choices[0].delta.content)


async def test_async_code_and_its_own_server_share_a_loop_that_never_waits() -> None:
    events = [b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'] * 5 + [b"data: [DONE]\n\n"]
    async with upstream(streaming(events)) as url, chaos_gateway(url, ["stream.cut=100%,after=2"]) as gateway:
        async with AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0) as asking:
            got: list[str] = []
            with pytest.raises(openai.APIConnectionError):
                await read(asking, got)
        assert got == ["a", "a"]
        (row,) = gateway.ledger()
        assert row.effect == "cut after 2 events"
