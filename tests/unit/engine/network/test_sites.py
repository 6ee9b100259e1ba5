"""Every site, from the request's hooks to the text it gets."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from chaosgate.engine.network.attention import KVPool
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.sites import HookError, transformed
from chaosgate.engine.network.tokenizer import decode
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.network.vocabulary import PROSE
from chaosgate.model.sites import WITHOUT_CACHE, Hooks, SiteContext, site_names

from ..runtime.driven import Driven, drawn

CONFIG = ModelConfig()
SITES = list(site_names(CONFIG.layers, CONFIG.experts))
PROMPT = drawn(40, 3)
ANSWER = 24


def keep(array: Any, context: SiteContext) -> Any:
    return array


def run(model: Transformer, hooks: Hooks | None, temperature: float = 0.0, **sizes: Any) -> list[int]:
    return Driven(model, **sizes).run(PROMPT, ANSWER, temperature, hooks=hooks, ignore_eos=True)


def noisy(array: Any, context: SiteContext) -> Any:
    """Far from what was given, yet of the same shape and for ids still ids."""
    noise = np.random.default_rng(context.first).standard_normal(array.shape)
    return (array[::-1] if context.site in IDS else array * 3 + 5 * noise).astype(array.dtype)


IDS = ("tokenizer", "kv.blocks", "detokenizer")


@pytest.fixture(scope="module")
def plain(model: Transformer) -> list[int]:
    return run(model, None)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_hooks_that_keep_everything_leave_every_token(model: Transformer, temperature: float) -> None:
    plain = run(model, None, temperature)
    assert run(model, Hooks(dict.fromkeys(SITES, keep)), temperature) == plain
    assert run(model, Hooks(dict.fromkeys(SITES, keep)), temperature, max_num_batched_tokens=7) == plain


@pytest.mark.parametrize("site", SITES)
def test_each_hook_leaves_the_array_it_was_given(model: Transformer, site: str) -> None:
    def look(array: Any, context: SiteContext) -> Any:
        before = array.copy()
        answer = noisy(array, context)
        assert_array_equal(array, before)
        return answer

    assert len(run(model, Hooks({site: look}))) == ANSWER


CHANGING = [site for site in SITES if site not in ("kv.blocks", "scheduler", "detokenizer")]


@pytest.mark.parametrize("site", CHANGING)
def test_a_hook_that_changes_the_array_changes_the_answer(model: Transformer, plain: list[int], site: str) -> None:
    if site == "sampler":
        answer = run(model, Hooks({site: lambda shares, context: np.roll(shares, 1)}))
    elif ".expert." in site:
        # One expert in eight is not asked about every token, so that it takes a loud one.
        answer = run(model, Hooks({site: lambda array, context: 1000 * noisy(array, context)}))
    else:
        answer = run(model, Hooks({site: noisy}))
    assert answer != plain


Seen = tuple[tuple[int, ...], int, int, str, int | None, int | None, int | None]
N = len(PROMPT)
PREFILL: dict[str, Seen] = {
    "tokenizer": ((N,), 0, N, "prefill", None, None, None),
    "scheduler": ((1,), 0, N, "prefill", None, None, None),
    "embedding": ((N, 128), 0, N, "prefill", None, None, None),
    "kv.blocks": ((3,), 0, N, "prefill", None, None, None),
    "layer.2.rope": ((2, N, 16), 0, N, "prefill", 2, None, None),
    "layer.0.attention.q": ((N, 4, 32), 0, N, "prefill", 0, None, 4),
    "layer.1.attention.k": ((N, 2, 32), 0, N, "prefill", 1, None, 2),
    "layer.1.attention.v": ((N, 2, 32), 0, N, "prefill", 1, None, 2),
    "layer.1.attention.scores": ((4, N, N), 0, N, "prefill", 1, None, 4),
    "layer.1.attention.out": ((N, 4, 32), 0, N, "prefill", 1, None, 4),
    "layer.1.router": ((N, 8), 0, N, "prefill", 1, None, None),
    "layer.1.expert.5": ((N, 128), 0, N, "prefill", 1, 5, None),
    "head": ((1, 128), N - 1, 1, "prefill", None, None, None),
    "logits": ((512,), N - 1, 1, "prefill", None, None, None),
    "sampler": ((512,), N - 1, 1, "prefill", None, None, None),
    "detokenizer": ((1,), N, 1, "decode", None, None, None),
}
DECODE: dict[str, Seen] = {
    "embedding": ((1, 128), N, 1, "decode", None, None, None),
    "kv.blocks": ((3,), N, 1, "decode", None, None, None),
    "layer.2.rope": ((2, 1, 16), N, 1, "decode", 2, None, None),
    "layer.0.attention.q": ((1, 4, 32), N, 1, "decode", 0, None, 4),
    "layer.1.attention.k": ((1, 2, 32), N, 1, "decode", 1, None, 2),
    "layer.1.attention.v": ((1, 2, 32), N, 1, "decode", 1, None, 2),
    "layer.1.attention.scores": ((4, 1, N + 1), N, 1, "decode", 1, None, 4),
    "layer.1.attention.out": ((1, 4, 32), N, 1, "decode", 1, None, 4),
    "layer.1.router": ((1, 8), N, 1, "decode", 1, None, None),
    "layer.1.expert.5": ((1, 128), N, 1, "decode", 1, 5, None),
    "head": ((1, 128), N, 1, "decode", None, None, None),
    "logits": ((512,), N, 1, "decode", None, None, None),
    "sampler": ((512,), N, 1, "decode", None, None, None),
    "detokenizer": ((1,), N + 1, 1, "decode", None, None, None),
}


@pytest.mark.parametrize("site", PREFILL)
def test_each_hook_is_told_what_it_gets_of_its_request_alone(model: Transformer, site: str) -> None:
    seen: list[Seen] = []

    def look(array: Any, context: SiteContext) -> Any:
        assert (context.site, context.request, context.tenant) == (site, "r7", "blue")
        of = (context.first, context.count, context.phase, context.layer, context.expert, context.heads)
        seen.append((array.shape, *of))
        return array

    driven = Driven(model, max_num_batched_tokens=512)
    for seed in range(2):
        driven.submit(drawn(30 + seed, seed), 5)
    driven.scheduler.step()
    driven.submit(PROMPT, 3, hooks=Hooks({site: look}), request="r7", tenant="blue")
    driven.submit(drawn(9, 5), 5)
    driven.drain()
    assert seen[0] == PREFILL[site]
    if site in DECODE:
        assert seen[1] == DECODE[site]
    assert len(seen) == (3 if site in DECODE else 1)


def test_neighbours_of_a_hooked_request_get_their_own_answer(model: Transformer, plain: list[int]) -> None:
    hooks = Hooks({site: noisy for site in SITES if site not in ("kv.blocks", "tokenizer")})
    driven = Driven(model)
    asked = {"tokens": ANSWER, "ignore_eos": True}
    first = driven.submit(PROMPT, **asked)
    hooked = driven.submit(PROMPT, **asked, hooks=hooks)
    driven.scheduler.step()
    last = driven.submit(PROMPT, **asked)
    driven.drain()
    assert driven.tokens(first) == driven.tokens(last) == plain
    assert driven.tokens(hooked) != plain


def test_a_hooked_prompt_is_hit_alike_however_it_is_cut_and_after_a_preemption(model: Transformer) -> None:
    def by_position(array: Any, context: SiteContext) -> Any:
        rows = np.arange(context.first, context.first + len(array)).reshape(-1, *[1] * (array.ndim - 1))
        return array + ((rows % 3 == 0) if context.phase == "decode" else (rows % 2)).astype(array.dtype)

    hooks = Hooks({"embedding": by_position, "layer.*.attention.k": by_position, "layer.*.router": by_position})
    whole = run(model, hooks)
    assert run(model, hooks, max_num_batched_tokens=7) == whole
    tight = Driven(model, num_blocks=5)
    tight.submit(drawn(30, 1), 40, ignore_eos=True)
    tight.scheduler.step()
    sequence = tight.submit(PROMPT[:30], ANSWER, hooks=hooks, ignore_eos=True)
    tight.drain()
    assert tight.scheduler.preemptions
    assert tight.tokens(sequence) == Driven(model).run(PROMPT[:30], ANSWER, hooks=hooks, ignore_eos=True)


def test_a_tokenizer_hook_changes_the_prompt_itself(model: Transformer) -> None:
    swapped = Driven(model).run(PROMPT, 5, hooks=Hooks({"tokenizer": lambda ids, context: ids[::-1].copy()}))
    assert swapped == Driven(model).run(PROMPT[::-1], 5)


def test_a_detokenizer_hook_changes_the_text_and_nothing_else(model: Transformer) -> None:
    driven = Driven(model)
    hooked = driven.submit(PROMPT, 5, hooks=Hooks({"detokenizer": lambda ids, context: ids * 0 + 65}))
    plain = driven.submit(PROMPT, 5)
    driven.drain()
    assert driven.tokens(hooked) == driven.tokens(plain)
    assert driven.text(hooked) == "AAAAA" != driven.text(plain)


def test_a_scheduler_hook_moves_its_request_in_line(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1)
    driven.submit(PROMPT, 1)
    last = driven.submit(PROMPT, 1, hooks=Hooks({"scheduler": lambda place, context: place + 10}))
    middle = driven.submit(PROMPT, 1)
    first = driven.submit(PROMPT, 1, hooks=Hooks({"scheduler": lambda place, context: place - 10}))
    driven.drain()
    order = [sequence for sequence in driven.deltas if sequence in (first, middle, last)]
    assert order == [first, middle, last]


def test_a_dead_expert_is_one_whose_output_is_zero(model: Transformer, config: ModelConfig) -> None:
    weights = model.weights
    down = weights.layers[1].down.copy().reshape(config.experts, config.expert_ff, -1)
    down[2] = 0
    layers = list(weights.layers)
    layers[1] = dataclasses.replace(layers[1], down=down.reshape(-1, config.d_model))
    dead = Transformer(config, dataclasses.replace(weights, layers=tuple(layers)))
    hooked = run(model, Hooks({"layer.1.expert.2": lambda array, context: array * 0}))
    assert hooked == run(dead, None) != run(model, None)


def test_blocks_read_in_another_order_change_the_answer_and_are_written_where_they_belong(
    model: Transformer, plain: list[int]
) -> None:
    def swapped(blocks: Any, context: SiteContext) -> Any:
        return blocks[::-1] if context.phase == "decode" else blocks

    def stay(blocks: Any, context: SiteContext) -> Any:
        return blocks

    assert run(model, Hooks({"kv.blocks": swapped})) != plain
    assert run(model, Hooks({"kv.blocks": stay})) == plain


@pytest.mark.parametrize("wrong", [-1, 2048])
def test_a_block_outside_the_pool_ends_the_request_and_no_other(
    model: Transformer, plain: list[int], wrong: int
) -> None:
    driven = Driven(model)
    hooked = driven.submit(PROMPT, 5, hooks=Hooks({"kv.blocks": lambda blocks, context: blocks * 0 + wrong}))
    other = driven.submit(PROMPT, ANSWER, ignore_eos=True)
    driven.drain()
    assert driven.finish(hooked) == "error"
    assert driven.error(hooked) == f"the hook at kv.blocks gave block {wrong}; the pool has blocks 0 to 2047"
    assert driven.tokens(other) == plain
    assert driven.scheduler.cache_usage == 0


def raising(array: Any, context: SiteContext) -> Any:
    raise ZeroDivisionError("by zero")


def test_a_hook_that_answers_in_another_shape_is_refused() -> None:
    context = SiteContext("layer.0.router", 0, None, 0, 3, "prefill", "r", None)
    with pytest.raises(HookError) as caught:
        transformed(lambda array, context: array[1:], np.zeros((3, 8)), context)
    assert str(caught.value) == "the hook at layer.0.router was given shape (3, 8) and answered (2, 8)"
    assert transformed(lambda array, context: array + 0.5, np.zeros(3, np.float32), context).dtype == np.float32


@pytest.mark.parametrize("site", SITES)
def test_a_hook_that_raises_ends_its_request_and_no_other(model: Transformer, plain: list[int], site: str) -> None:
    driven = Driven(model)
    hooked = driven.submit(PROMPT, ANSWER, hooks=Hooks({site: raising}), ignore_eos=True)
    other = driven.submit(PROMPT, ANSWER, ignore_eos=True)
    driven.drain()
    assert driven.finish(hooked) == "error"
    assert driven.error(hooked) == f"the hook at {site} raised ZeroDivisionError: by zero"
    assert driven.tokens(hooked) == []
    assert driven.tokens(other) == plain


@pytest.mark.parametrize(
    ("site", "wrong", "message"),
    [
        ("tokenizer", 512, "the hook at tokenizer gave ids 512 to 512; they are 0 to 511"),
        ("scheduler", np.nan, "the hook at scheduler gave a place in line that is not a number"),
    ],
)
def test_what_would_stop_the_engine_ends_the_request(model: Transformer, site: str, wrong: float, message: str) -> None:
    driven = Driven(model)
    hooked = driven.submit(PROMPT, 5, hooks=Hooks({site: lambda array, context: array * 0 + wrong}))
    driven.drain()
    assert driven.error(hooked) == message


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("site", [site for site in SITES if site not in (*IDS, "scheduler")])
def test_numbers_that_are_none_stay_within_their_request(
    model: Transformer, plain: list[int], site: str, value: float
) -> None:
    driven = Driven(model, num_blocks=8)
    hooks = Hooks({site: lambda array, context: array * 0 + value})
    hooked = driven.submit(PROMPT, 5, hooks=hooks, ignore_eos=True)
    other = driven.submit(PROMPT, ANSWER, ignore_eos=True)
    driven.drain()
    assert len(driven.tokens(hooked)) == 5
    assert driven.tokens(other) == plain
    assert driven.run(PROMPT, ANSWER, ignore_eos=True) == plain, "also in the blocks that it leaves"


def armed_then_clean(model: Transformer, hooks: Hooks) -> tuple[int, list[int]]:
    """Cached tokens and answer of a request without hooks after one with `hooks` on the same prompt."""
    driven = Driven(model)
    driven.run(PROMPT, ANSWER, ignore_eos=True)
    driven.run(PROMPT, ANSWER, hooks=hooks, ignore_eos=True)
    after = driven.submit(PROMPT, ANSWER, ignore_eos=True)
    driven.drain()
    return driven.deltas[after][0].cached, driven.tokens(after)


def test_what_a_hook_did_to_keys_and_values_is_kept_from_others(model: Transformer, plain: list[int]) -> None:
    assert armed_then_clean(model, Hooks({"layer.*.attention.k": noisy})) == (32, plain)


def test_unless_it_is_to_be_shared(model: Transformer, plain: list[int]) -> None:
    cached, answer = armed_then_clean(model, Hooks({"layer.*.attention.k": noisy}, shares=True))
    assert cached == 32
    assert answer != plain


@pytest.mark.parametrize("site", SITES)
def test_a_hooked_request_reads_blocks_of_others_only_where_it_would_compute_the_same(
    model: Transformer, site: str
) -> None:
    driven = Driven(model)
    driven.run(PROMPT, 2)
    hooked = driven.submit(PROMPT, 2, hooks=Hooks({site: keep}))
    driven.drain()
    assert driven.deltas[hooked][0].cached == (32 if site in WITHOUT_CACHE else 0)


def test_without_hooks_a_batch_has_no_tap(model: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    taps: list[object] = []
    forward: Callable[..., Any] = Transformer.forward

    def watched(self: Transformer, pool: KVPool, batch: Any, wanted: Any) -> Any:
        taps.append(batch.tap)
        return forward(self, pool, batch, wanted)

    monkeypatch.setattr(Transformer, "forward", watched)
    run(model, None)
    run(model, Hooks({}))
    assert taps == [None] * 2 * ANSWER


def test_a_json_answer_stays_one_under_any_hook_at_the_sampler(model: Transformer) -> None:
    hooks = Hooks({"sampler": lambda shares, context: np.isin(np.arange(512), PROSE).astype(float), "logits": noisy})
    for temperature in (0.0, 1.0):
        answer = Driven(model).run(PROMPT, 20, temperature, hooks=hooks, grammar="json")
        assert isinstance(json.loads(decode(answer)), dict)
