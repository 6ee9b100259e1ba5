"""A spec that needs a scorer which is not installed is refused before it runs, with what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.errors import ChaosgateError
from chaosgate.model.load import parse_spec
from chaosgate.scorers.profanity_check import ProfanityCheck
from chaosgate.scorers.wordllama import WordLlama

BASE = (Path(__file__).parent / "base_spec.yaml").read_text(encoding="utf-8")
STEADY = '{sli: error-rate, bound: "<= 1 %"}'
MISSING = "cannot score: the package {} is not installed: pip install 'chaosgate[quality]'"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (ProfanityCheck, WordLlama):
        monkeypatch.setattr(kind, "module", "chaosgate_no_such_package")


def refusal(text: str) -> str:
    with pytest.raises(ChaosgateError) as caught:
        parse_spec(text, "spec.yaml")
    return str(caught.value)


def test_an_sli_whose_scorer_is_missing_is_refused_where_it_stands() -> None:
    said = refusal(BASE.replace(STEADY, '{sli: toxicity, bound: "<= 10 %"}'))
    wanted = MISSING.format("alt-profanity-check")
    assert said == (
        f"spec.yaml:15:15 spec.steadyState.objectives[0].sli: read 'toxicity': scorer 'profanity-check' {wanted}"
    )


def test_a_scorer_of_the_semantic_steady_state_that_is_missing_is_refused() -> None:
    said = refusal(BASE.replace("    hold: 2s\n", "    hold: 2s\n    semantic: {scorer: semantic-similarity}\n"))
    wanted = MISSING.format("wordllama")
    assert f"steadyState.semantic.scorer: read 'semantic-similarity': scorer 'wordllama' {wanted}" in said


def test_a_fit_whose_scorer_is_missing_is_refused() -> None:
    said = refusal(BASE.replace('sli: ttft, bound: "<= 300ms"', 'sli: toxicity, bound: "<= 10 %"'))
    assert "spec.fits[0].response.sli: read 'toxicity': scorer 'profanity-check' cannot score" in said


def test_an_sli_with_a_list_of_its_own_needs_nothing() -> None:
    parse_spec(BASE.replace(STEADY, '{sli: refusal-rate, bound: "<= 10 %"}'), "spec.yaml")
