from __future__ import annotations

from importlib.metadata import version

import pytest

from chaosgate.errors import RegistryError
from chaosgate.model.scorer import SCORERS, scorer_card, why_unscored
from chaosgate.scorers.profanity_check import ProfanityCheck
from chaosgate.scorers.wordllama import WordLlama

INSTALL = "pip install 'chaosgate[quality]'"


def test_a_card_names_version_digest_and_what_was_scored() -> None:
    card = scorer_card("refusal-phrases", ["refusal-rate", "hallucination-rate"])
    assert card.slis == ("refusal-rate", "hallucination-rate")
    assert card.version == version("chaosgate")
    assert card.digest is not None
    assert len(card.digest) == len("sha256:") + 64


@pytest.mark.parametrize("kind", [WordLlama, ProfanityCheck])
def test_without_its_package_a_scorer_says_what_to_install_and_scores_nothing(
    kind: type[WordLlama] | type[ProfanityCheck], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "module", "chaosgate_no_such_package")
    name = next(name for name, known in SCORERS.items() if known is kind)
    wanted = f"the package {kind.distribution} is not installed: {INSTALL}"
    assert scorer_card(name, ["x"]).reason == wanted
    assert scorer_card(name, ["x"]).digest is None
    assert why_unscored(name) == f"scorer {name!r} cannot score: {wanted}"
    score = kind.vector if issubclass(kind, WordLlama) else kind.score
    assert score("a text that nobody scored before") is None


def test_an_sli_without_a_scorer_needs_none() -> None:
    assert why_unscored(None) is None
    assert why_unscored("refusal-phrases") is None


def test_an_unknown_scorer_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RegistryError, match="unknown scorer 'word-llama'; did you mean 'wordllama'"):
        SCORERS.get("word-llama")
