"""What a run keeps of every answer follows from the SLIs that its spec names, wherever it names them."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from simulated_run import LATENCY, stream_spec

from chaosgate.model.fit import FITS
from chaosgate.model.named_slis import keeps_logprobs, keeps_texts, named_kinds
from chaosgate.model.sli import SLIS, Sli
from chaosgate.model.spec import ChaosSpec, SpecBody

PLAIN = ({"name": "errors", "sli": "error-rate", "bound": "<= 5 %", "at": {"dose": "all"}},)
TEXT = {"sli": "repeated-words", "bound": "<= 5 %"}
FIT = {"name": "knee", "kind": "logistic", "fault": LATENCY["name"], "response": {**TEXT, "share": "5 %"}}


def changed(**body: Any) -> ChaosSpec:
    spec = stream_spec(objectives=PLAIN, fits=())
    given = {name: getattr(spec.spec, name) for name in SpecBody.model_fields}
    return spec.model_copy(update={"spec": SpecBody.model_validate({**given, **body})})


def test_a_spec_without_texts_keeps_none() -> None:
    spec = stream_spec(objectives=PLAIN, fits=())
    assert named_kinds(spec) == [SLIS.get("error-rate"), SLIS.get("ttft")]
    assert not keeps_texts(spec)
    assert not keeps_logprobs(spec)


@pytest.mark.parametrize(
    "body",
    [
        {"objectives": [{"name": "a", **TEXT, "at": "baseline"}]},
        {"steadyState": {"windows": 3, "hold": 4.0, "objectives": [TEXT]}},
        {"fits": [FITS.get("logistic").model_validate(FIT)]},
        {"safety": {"stopWhen": [{**TEXT, "bound": "> 50 %"}]}},
        {"safety": {"stopWhen": [{"all": [{"sli": "error-rate", "bound": "> 5 %"}, {**TEXT, "bound": "> 5 %"}]}]}},
        {"slo": [TEXT]},
    ],
    ids=["objective", "steady", "fit", "stop", "stop-all", "slo"],
)
def test_a_text_sli_anywhere_makes_the_run_keep_texts(body: dict[str, Any]) -> None:
    assert keeps_texts(changed(**body))


def test_the_scorer_of_the_semantic_steady_state_is_named_too() -> None:
    semantic = {"scorer": "bleu4", "within": "120s"}
    assert keeps_texts(stream_spec(objectives=PLAIN, fits=(), semantic=semantic))


def test_log_probabilities_are_asked_for_by_those_that_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reading(SLIS.get("error-rate")):  # type: ignore[misc]
        """An SLI that reads them."""

        reads_logprobs: ClassVar[bool] = True

    monkeypatch.setitem(SLIS._kinds, "reading", Reading)
    spec = changed(objectives=[{"name": "a", "sli": "reading", "bound": "<= 5 %", "at": "baseline"}])
    assert issubclass(Reading, Sli)
    assert keeps_logprobs(spec)
    assert not keeps_texts(spec)
