"""What is known of each prompt of a spec, for the SLIs that read it: from the spec, not from what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chaosgate.model.named_slis import named_kinds
from chaosgate.model.observation import Known, Observation
from chaosgate.model.spec import ChaosSpec
from chaosgate.prompts.prompt import Prompt
from chaosgate.prompts.sources import PromptSource, prompts_of

Asked = tuple[str | None, str]
"""A prompt as a request names it: its tenant, whose prompts are numbered apart, and `<set>/<index>`."""


def asked(seen: Observation) -> Asked:
    """Which prompt a request asked."""
    return seen.tenant, seen.prompt


def known_prompts(spec: ChaosSpec) -> Mapping[Asked, Known]:
    """What is known of every prompt of `spec`; nothing where it names no SLI that reads it."""
    if not any(kind.reads_known for kind in named_kinds(spec)):
        return {}
    workload = spec.spec.workload
    sources = {stream.tenant: prompts_of(stream, workload.seed) for stream in workload.streams()}
    return {
        (tenant, f"{source.name}/{index}"): known
        for tenant, source in sources.items()
        for index, known in enumerate(_known(source))
    }


def _known(source: PromptSource) -> Iterator[Known]:
    prompts = [source.at(index) for index in range(len(source))]
    everybody = frozenset(entity for prompt in prompts for entity in prompt.entities)
    for prompt in prompts:
        mentioned = _mentioned(prompt)
        strangers = frozenset(entity for entity in everybody if prompt.entities and entity not in mentioned)
        yield Known(prompt.answer, prompt.form == "json", prompt.entities, strangers)


def _mentioned(prompt: Prompt) -> str:
    return "\n".join(message["content"] for message in prompt.messages())
