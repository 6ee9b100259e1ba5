"""Answers' texts and log-probabilities reach the observation where they are asked for, and nothing else changes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from scripted_chat import ANSWER, DONE, Serve, call, event, streaming, token

from chaosgate.artifacts import OBSERVATIONS, Identity, read_lines, write_lines
from chaosgate.loadgen.client import ChatClient, open_session
from chaosgate.loadgen.delta import read_event
from chaosgate.loadgen.generator import LoadSettings
from chaosgate.loadgen.trace import PhaseClock, Trace, in_utf8
from chaosgate.loadgen.workers import open_load
from chaosgate.model.observation import Observation
from chaosgate.model.workload import Workload


def scored(content: str, *probabilities: Any, finish: str | None = None) -> bytes:
    """One event with the log-probabilities of its tokens."""
    told = {"content": [{"token": "t", "logprob": one, "bytes": None, "top_logprobs": []} for one in probabilities]}
    choice = {"index": 0, "delta": {"content": content}, "logprobs": told, "finish_reason": finish}
    return json.dumps({"choices": [choice]}).encode()


def seen(*data: bytes, keeps_text: bool = False) -> Observation:
    trace = Trace(call(), PhaseClock(), keeps_text)
    trace.stamp_sent()
    trace.take(map(read_event, [*data, b"[DONE]"]), 1.0)
    trace.settle("ok")
    return trace.observation()


def test_texts_are_kept_where_they_are_read_and_nowhere_else() -> None:
    pieces = [token(text).encode() for text in ("blue", " ", "door")]
    assert seen(*pieces, keeps_text=True).said == "blue door"
    assert seen(*pieces).said is None


def test_an_answer_without_text_is_an_empty_one() -> None:
    assert seen(keeps_text=True).said == ""


def test_log_probabilities_add_up_over_the_tokens() -> None:
    assert seen(scored("blue door", -0.5, -0.25), scored("", -1.0)).logprobs == (-1.75, 3)
    assert seen(scored("blue", 0, -9999.0)).logprobs == (-9999.0, 2)


@pytest.mark.parametrize("odd", [None, "-0.5", True, float("-inf"), float("nan"), 10**400])
def test_a_token_without_a_number_leaves_the_answer_without(odd: Any) -> None:
    """Left out of the sum, the most surprising token of all would make the answer look sure."""
    assert seen(scored("blue", -0.5, odd), scored("door", -0.25)).logprobs is None


@pytest.mark.parametrize("odd", [{}, {"content": None}, {"content": []}, [], 7, {"content": 7}])
def test_a_server_that_gives_none_gives_none(odd: Any) -> None:
    choice = {"index": 0, "delta": {"content": "blue"}, "logprobs": odd, "finish_reason": None}
    found = seen(json.dumps({"choices": [choice]}).encode(), keeps_text=True)
    assert (found.logprobs, found.said) == (None, "blue")


@pytest.mark.parametrize(
    ("text", "kept"), [("a\ud83d\ude00b", "a😀b"), ("a\ud83d", "a\ufffd"), ("\ude00b", "\ufffdb"), ("plain", "plain")]
)
def test_surrogates_are_kept_as_a_file_can_hold_them(text: str, kept: str, tmp_path: Path) -> None:
    assert in_utf8(text) == kept
    found = seen(token(text).encode(), keeps_text=True)
    file, identity = tmp_path / "observations.jsonl", Identity("run", "sha256:0")
    write_lines(file, OBSERVATIONS, identity, [found])
    assert [one.said for one in read_lines(file, OBSERVATIONS)] == [kept]


def test_an_old_observation_still_reads() -> None:
    old = seen(token("blue").encode()).to_json()
    del old["said"], old["logprobs"]
    assert Observation.model_validate(old).said is None


async def asked(serve: Serve, **wanted: bool) -> tuple[dict[str, Any], Observation]:
    bodies: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.json())
        return await streaming(ANSWER)(request)

    async with open_session() as session:
        client = ChatClient(
            session, await serve(handle), model="m", max_tokens=8, seed=7, timeout=5, clock=PhaseClock(), **wanted
        )
        trace = client.trace(call())
        await client.ask(trace)
    return bodies[0], trace.observation()


async def test_the_server_is_asked_for_log_probabilities_only_where_they_are_read(serve: Serve) -> None:
    plain, found = await asked(serve)
    assert "logprobs" not in plain
    assert found.said is None
    more, found = await asked(serve, texts=True, logprobs=True)
    assert more == {**plain, "logprobs": True}
    assert found.said == "blue"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
async def test_a_load_keeps_them_however_many_processes_send_it(serve: Serve, workers: int) -> None:
    answer = event(scored("blue", -0.5, finish="stop").decode()) + DONE
    url = await serve(streaming(answer))
    load = {
        "arrivals": {"process": "poisson", "rate": "20/s"},
        "prompts": {"set": "recall-24"},
        "workers": workers,
        "seed": 7,
    }
    settings = LoadSettings(
        url, "m", Workload.model_validate(load), "block1", 0.5, 0.0, 5.0, requests=4, texts=True, logprobs=True
    )
    found: list[Observation] = []
    await open_load(settings, found.append, PhaseClock()).run(asyncio.Event())
    assert len(found) == 4
    assert {(one.said, one.logprobs) for one in found} == {("blue", (-0.5, 1))}
