"""From headers to hooks: who may arm a request, what runs for it alone, and what the answer says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from chaosgate.draws import Draw
from chaosgate.engine.armed import Armed, tell
from chaosgate.engine.faulting import Faulting, read_faulting
from chaosgate.errors import UsageError
from chaosgate.faults.embedding.temporal_drift import TemporalDrift
from chaosgate.faults.kv.token_overwrite import TokenOverwrite
from chaosgate.model.carried_faults import EngineFaults
from chaosgate.model.fault import EngineFault, Sweep
from chaosgate.model.fault_headers import FAULTS_HEADER, TOKEN_HEADER
from chaosgate.model.sites import Array, Hooks, SiteContext
from chaosgate.tokens import token_digest

KEYS = np.random.default_rng(3).standard_normal((20, 2, 32)).astype(np.float32)
ROWS = KEYS.reshape(20, 64)


def sweep(parameter: str, value: str) -> dict[str, Any]:
    return {"parameter": parameter, "values": [value], "hold": "1s", "washout": "1s"}


def overwrite(name: str = "over", **changed: Any) -> TokenOverwrite:
    data = {"name": name, "kind": "kv.token-overwrite", "dose": sweep("share", "10 %"), **changed}
    return TokenOverwrite.model_validate(data)


def drift(name: str = "drift") -> TemporalDrift:
    data = {"name": name, "kind": "embedding.temporal-drift", "dose": {**sweep("sigma", ""), "values": [1]}}
    return TemporalDrift.model_validate(data)


def load(*faults: tuple[str, float], request: str = "7.block1.5", salt: str = "") -> str:
    dosed = [{"name": name, "dose": dose} for name, dose in faults]
    return json.dumps({"seed": 7, "request": request, "faults": dosed, "salt": salt})


def armed(*faults: EngineFault, text: str, token: str = "t") -> Armed:
    return Faulting(faults, token_digest("t"), 3, 8).armed(text, token)


def context(site: str) -> SiteContext:
    return SiteContext(site, 0, None, 0, 20, "prefill", "chatcmpl-1", None, 2)


def run(found: Armed, site: str, array: Array = KEYS) -> Array:
    assert found.hooks is not None
    return found.hooks.installed(3, 8)[site](array, context(site))


def test_the_request_gets_what_its_fault_does_with_the_draw_of_the_gateway() -> None:
    fault = overwrite()
    found = armed(fault, text=load(("over", 0.5)))
    changed = run(found, "layer.2.attention.k")
    expected = fault.transform(KEYS, 0.5, Draw(7, "over", "7.block1.5"), context("layer.2.attention.k"))
    assert np.array_equal(changed, expected)
    assert not np.array_equal(changed, KEYS)
    assert set(found.hooks.installed(3, 8)) == {f"layer.{layer}.attention.k" for layer in range(3)}  # type: ignore[union-attr]


def test_only_what_ran_is_said_to_be_carried() -> None:
    found = armed(overwrite(), drift(), text=load(("over", 0.5), ("drift", 0.0)))
    assert list(found.headers()) == []
    run(found, "embedding", ROWS)
    assert list(found.headers()) == [("X-Chaosgate-Carried", "drift")]
    run(found, "layer.0.attention.k")
    assert list(found.headers()) == [("X-Chaosgate-Carried", "drift,over")]


def test_faults_at_one_site_act_in_the_order_of_the_header() -> None:
    one, other = overwrite("one"), overwrite("other")
    site = "layer.1.attention.k"
    for first, second in ((one, other), (other, one)):
        found = run(armed(one, other, text=load((first.name, 0.4), (second.name, 0.4))), site)
        draws = {fault.name: Draw(7, fault.name, "7.block1.5") for fault in (one, other)}
        step = first.transform(KEYS, 0.4, draws[first.name], context(site))
        assert np.array_equal(found, second.transform(step, 0.4, draws[second.name], context(site)))


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("salt", ["over.3", ""])
def test_its_blocks_are_shared_only_if_the_fault_says_so_and_within_a_window(shares: bool, salt: str) -> None:
    hooks = armed(overwrite(shares=shares), text=load(("over", 0.1), salt=salt)).hooks
    assert hooks is not None
    assert (hooks.shares, hooks.salt) == (shares and salt != "", salt)


def test_one_fault_that_does_not_share_keeps_a_request_from_sharing() -> None:
    hooks = armed(overwrite(shares=True), drift(), text=load(("over", 0.1), ("drift", 1), salt="over.3")).hooks
    assert hooks is not None
    assert (hooks.shares, hooks.salt) == (False, "over.3")


def test_a_spared_request_carries_the_salt_alone() -> None:
    found = armed(overwrite(shares=True), text=load(salt="over.3"))
    assert found.hooks == Hooks({}, shares=True, salt="over.3")
    assert list(found.headers()) == []


@pytest.mark.parametrize("token", ["", "T", "tt", "ü"])
def test_without_the_token_nothing_is_armed(token: str) -> None:
    found = armed(overwrite(), text=load(("over", 0.5)), token=token)
    assert found.hooks is None
    assert list(found.headers()) == [("X-Chaosgate-Refused", "*: the token in X-Chaosgate-Token is missing or wrong")]


@pytest.mark.parametrize(
    ("fault", "text", "refused"),
    [
        (overwrite(), "{}", "*: X-Chaosgate-Faults cannot be read: seed: Field required"),
        (overwrite(), load(("oven", 0.5)), "oven: unknown fault 'oven'; did you mean 'over'?"),
        (overwrite(), load(("over", 1.5)), "over: read dose 1.5; kv.token-overwrite allows at most 1 in base units"),
        (
            overwrite(layers=[7]),
            load(("over", 0.5)),
            "over: unknown site 'layer.7.attention.k'; did you mean 'layer.2.attention.k'?; the model has 3 layers of "
            "8 experts",
        ),
    ],
)
def test_what_cannot_be_carried_is_refused_with_its_reason(fault: EngineFault, text: str, refused: str) -> None:
    found = armed(fault, text=text)
    assert found.hooks is None
    assert list(found.headers()) == [("X-Chaosgate-Refused", refused)]


def test_a_fault_that_is_refused_does_not_keep_the_others_from_acting() -> None:
    found = armed(overwrite(), text=load(("gone", 0.5), ("over", 0.5)))
    assert not np.array_equal(run(found, "layer.0.attention.k"), KEYS)
    assert [name for name, _ in found.headers()] == ["X-Chaosgate-Carried", "X-Chaosgate-Refused"]


class Broken(EngineFault):
    """A fault that does what its name says."""

    kind: Literal["twin.broken"]
    dose: Sweep[Literal["size"], float]
    max_dose: ClassVar[float] = 1.0

    def sites(self, layers: int) -> tuple[str, ...]:
        """The embedding."""
        return ("embedding",)

    def transform(self, array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
        """Nothing good."""
        raise ZeroDivisionError("by nought")


def test_a_fault_that_raises_is_named_and_counts_as_not_carried() -> None:
    fault = Broken.model_validate({"name": "bad", "kind": "twin.broken", "dose": sweep("size", "1")})
    found = armed(fault, overwrite(), text=load(("bad", 1.0), ("over", 0.5)))
    run(found, "layer.0.attention.k")
    with pytest.raises(ZeroDivisionError, match="by nought"):
        run(found, "embedding", ROWS)
    assert list(found.headers()) == [
        ("X-Chaosgate-Carried", "over"),
        ("X-Chaosgate-Refused", "bad: it raised ZeroDivisionError at embedding: by nought"),
    ]


async def test_a_request_is_armed_from_its_headers_and_answered_for() -> None:
    faulting = Faulting((overwrite(),), token_digest("t"), 3, 8)
    plain, response = make_mocked_request("POST", "/"), web.Response()
    assert faulting.arm(plain) is None
    await tell(plain, response)
    assert "X-Chaosgate-Carried" not in response.headers

    asked = make_mocked_request("POST", "/", {FAULTS_HEADER: load(("over", 0.5), ("gone", 1)), TOKEN_HEADER: "t"})
    hooks = faulting.arm(asked)
    assert hooks is not None
    hooks.transforms["layer.0.attention.k"](KEYS, context("layer.0.attention.k"))
    await tell(asked, response)
    assert response.headers["X-Chaosgate-Carried"] == "over"
    assert response.headers["X-Chaosgate-Refused"] == "gone: unknown fault 'gone'; did you mean 'over'?"


def test_the_engine_knows_its_token_by_the_digest_in_its_file(tmp_path: Path) -> None:
    file = tmp_path / "engine.json"
    file.write_text(EngineFaults(faults=(overwrite(),), token_digest=token_digest("t")).model_dump_json())
    faulting = read_faulting(file, 3, 8)
    assert faulting.armed(load(("over", 0.5)), "t").hooks is not None
    assert faulting.armed(load(("over", 0.5)), token_digest("t")).hooks is None, "who reads the file cannot arm"


def test_a_file_that_is_none_is_named_with_every_key(tmp_path: Path) -> None:
    file = tmp_path / "engine.json"
    file.write_text('{"faults": [{"kind": "kv.token-overwite"}]}')
    with pytest.raises(UsageError) as refused:
        read_faulting(file, 3, 8)
    assert str(refused.value).splitlines() == [
        f"{file}: faults: Value error, unknown fault kind 'kv.token-overwite'; did you mean 'kv.token-overwrite'?",
        f"{file}: tokenDigest: Field required",
    ]


def test_what_the_engine_notes_while_the_answer_is_told_does_no_harm() -> None:
    found = Armed(refused={"over": "no"})
    told = found.headers()
    assert next(told) == ("X-Chaosgate-Refused", "over: no")
    found.refused["drift"] = "it raised ValueError"
    assert list(told) == []
