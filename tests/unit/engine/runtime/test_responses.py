from __future__ import annotations

from dataclasses import replace

from chaosgate.engine.runtime.config import ANSWER_FIELDS
from chaosgate.engine.runtime.responses import KEPT, ResponseCache
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.sequence import Delta, Generation
from chaosgate.model.sites import Hooks

ASKED = Generation((1, 2), 3, Sampling(0.0))
ANSWER = (Delta("a", None, 1.0, 97), Delta("b", "stop", 2.0, 98))


def test_an_equal_request_gets_the_answer_made_now() -> None:
    cache = ResponseCache(ANSWER_FIELDS)
    assert cache.find(ASKED, 5.0) == ()
    cache.keep(ASKED, ANSWER)
    assert cache.find(replace(ASKED), 5.0) == (Delta("a", None, 5.0, 97), Delta("b", "stop", 5.0, 98))
    assert cache.find(replace(ASKED, tenant="b"), 5.0) == ()


def test_a_key_without_the_tenant_hands_one_tenants_answer_to_another() -> None:
    cache = ResponseCache(["prompt"])
    cache.keep(replace(ASKED, tenant="a"), ANSWER)
    assert cache.find(replace(ASKED, tenant="b", max_tokens=9), 5.0)[0].text == "a"
    assert cache.find(replace(ASKED, prompt=(1, 3)), 5.0) == ()


def test_without_fields_and_for_hooked_requests_nothing_is_kept() -> None:
    off = ResponseCache(())
    off.keep(ASKED, ANSWER)
    assert off.find(ASKED, 5.0) == ()
    cache = ResponseCache(["prompt"])
    hooked = replace(ASKED, hooks=Hooks({}))
    cache.keep(hooked, ANSWER)
    assert cache.find(ASKED, 5.0) == ()
    cache.keep(ASKED, ANSWER)
    assert cache.find(hooked, 5.0) == ()


def test_the_answer_asked_for_longest_ago_goes_first() -> None:
    cache = ResponseCache(["prompt"])
    for number in range(KEPT):
        cache.keep(replace(ASKED, prompt=(number,)), ANSWER)
    assert cache.find(replace(ASKED, prompt=(0,)), 5.0)
    cache.keep(replace(ASKED, prompt=(KEPT,)), ANSWER)
    assert cache.find(replace(ASKED, prompt=(0,)), 5.0)
    assert not cache.find(replace(ASKED, prompt=(1,)), 5.0)
