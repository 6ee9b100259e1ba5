"""deploy ends before anything is started where a package is missing that the spec's SLIs need."""

from __future__ import annotations

import pytest
from simulated_run import stream_spec

from chaosgate.components.deploy import check_packages
from chaosgate.errors import DeployError
from chaosgate.model.sli import SLIS
from chaosgate.scorers.wordllama import WordLlama

CLOSE = {"name": "close", "sli": "semantic-similarity", "bound": ">= 90 %", "at": "baseline"}
OVERLAP = {"name": "overlap", "sli": "bleu4", "bound": ">= 50 %", "at": "baseline"}
INSTALL = r"pip install 'chaosgate\[quality\]'; on a cluster, into the image that runs the steps"


def test_a_missing_scorer_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WordLlama, "module", "chaosgate_no_such_package")
    said = f"scorer 'wordllama' cannot score: the package wordllama is not installed: {INSTALL}"
    with pytest.raises(DeployError, match=said):
        check_packages(stream_spec(fits=(), objectives=(CLOSE,)))


def test_a_missing_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SLIS.get("bleu4"), "needs", "chaosgate_no_such_package")
    with pytest.raises(DeployError, match=f"the package chaosgate_no_such_package is not installed: {INSTALL}"):
        check_packages(stream_spec(fits=(), objectives=(OVERLAP,)))


def test_with_all_of_them_it_goes_on() -> None:
    check_packages(stream_spec(fits=(), objectives=(CLOSE, OVERLAP)))
    check_packages(stream_spec())
