from __future__ import annotations

import numpy as np
import pytest

from chaosgate.model.sites import SITES, WITHOUT_CACHE, Hooks, SiteContext, UnknownSiteError, site_names

HERE = SiteContext("embedding", None, None, 0, 1, "prefill", "r1", None)


def add(number: float) -> object:
    return lambda array, context: array + number


def times(number: float) -> object:
    return lambda array, context: array * number


def test_every_site_has_full_names_in_an_engine() -> None:
    names = list(site_names(layers=3, experts=8))
    assert len(names) == len(set(names)) == 8 + 3 * 7 + 3 * 8
    assert {"tokenizer", "layer.2.rope", "layer.0.attention.scores", "layer.1.expert.7", "kv.blocks"} <= set(names)
    assert set(SITES) >= WITHOUT_CACHE


def test_a_star_stands_for_any_number() -> None:
    hooks = Hooks({"layer.*.attention.k": add(1), "layer.1.expert.*": add(1), "head": add(1)})
    assert sorted(hooks.installed(layers=3, experts=2)) == [
        "head",
        "layer.0.attention.k",
        "layer.1.attention.k",
        "layer.1.expert.0",
        "layer.1.expert.1",
        "layer.2.attention.k",
    ]


def test_a_site_named_twice_is_transformed_in_order() -> None:
    hooks = Hooks({"layer.*.rope": add(1), "layer.0.rope": times(10)})
    installed = hooks.installed(2, 1)
    assert installed["layer.0.rope"](2, HERE) == 30
    assert installed["layer.1.rope"](2, HERE) == 3


def test_hooks_after_others() -> None:
    both = Hooks({"head": add(1)}, shares=True).then(Hooks({"head": times(10), "logits": add(5)}, shares=True))
    assert both.transforms["head"](np.array(2), HERE) == 30
    assert both.transforms["logits"](np.array(2), HERE) == 7
    assert both.shares
    assert not both.then(Hooks({})).shares
    assert both.then(Hooks({}, salt="s")).salt == Hooks({}, salt="s").then(both).salt == "s"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("layer.0.atention.k", "unknown site 'layer.0.atention.k'; did you mean 'layer.0.attention.k'?"),
        ("layer.3.rope", "unknown site 'layer.3.rope'; did you mean 'layer.2.rope'?"),
        ("xyz", f"unknown site 'xyz'; known sites: {', '.join(SITES)}"),
        ("layer.*", "unknown site 'layer.*'; did you mean 'layer.2.rope'?"),
    ],
)
def test_an_unknown_site_is_refused_with_what_is_near(name: str, message: str) -> None:
    with pytest.raises(UnknownSiteError) as caught:
        Hooks({name: add(1)}).installed(3, 8)
    assert str(caught.value) == message
