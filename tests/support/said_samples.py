"""Samples with texts, for the tests of SLIs that read them."""

from __future__ import annotations

from typing import Any

from sli_samples import sample

from chaosgate.model.observation import Known, Sample


def said(text: str | None, clean: str | None = None, prompt: str = "recall-24/1", **seen: Any) -> Sample:
    """A request that was answered with `text`, and its prompt's clean answer; `seen` are facts of the observation."""
    one = sample()
    observation = one.observation.model_copy(update={"said": text, "prompt": prompt, **seen})
    return Sample(observation, one.clean, clean_said=clean)


def asked(text: str, **seen: Any) -> Sample:
    """A request with the prompt `text`."""
    one = said("lamp", **seen)
    return Sample(one.observation, one.clean, known=Known(None, text=text))


def counted(now: tuple[float, int] | None, clean: tuple[float, int] | None, **seen: Any) -> Sample:
    """A request with the log-probabilities of its answer and of the clean one."""
    one = said("lamp", logprobs=now, **seen)
    return Sample(one.observation, one.clean, clean_logprobs=clean)
