"""What is known of prompts is made again from the spec, and only where an SLI reads it."""

from __future__ import annotations

from simulated_run import stream_spec

from chaosgate.estimate.known import known_prompts
from chaosgate.model.observation import Known
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.workload import Workload
from chaosgate.prompts.sets import prompt_set


def spec(sli: str, **workload: object) -> ChaosSpec:
    objectives = ({"name": "kept", "sli": sli, "bound": ">= 90 %", "at": {"dose": "all"}},)
    plain = stream_spec(objectives=objectives)
    given = {**plain.spec.workload.to_json(), **workload}
    load = Workload.model_validate({key: value for key, value in given.items() if value is not None})
    return plain.model_copy(update={"spec": plain.spec.model_copy(update={"workload": load})})


def test_nothing_is_looked_up_where_no_sli_reads_it() -> None:
    assert known_prompts(spec("exact-match")) == {}


def test_every_prompt_of_the_workload_is_known_by_the_name_that_its_requests_have() -> None:
    known = known_prompts(spec("recall-accuracy"))
    assert len(known) == 24
    prompt = prompt_set("recall-24").prompts[5]
    assert known[None, "recall-24/5"] == Known(prompt.answer, text=prompt.messages()[-1]["content"])


def test_entities_of_other_conversations_are_strangers_and_those_of_the_own_are_not() -> None:
    known = known_prompts(spec("entity-consistency", prompts={"set": "ten-turns"}))
    first = known[None, "ten-turns/0"]
    own = {known[None, f"ten-turns/{8 * turn}"].entities[0] for turn in range(10)}
    others = {known[None, f"ten-turns/{8 * turn + 1}"].entities[0] for turn in range(10)}
    assert first.entities == (first.answer,)
    assert len(own) == len(others) == 10
    assert not own & first.strangers
    assert others <= first.strangers
    assert len(first.strangers) == 70


def test_prompts_of_tenants_are_told_apart() -> None:
    """Each tenant asks its own part of the set, numbered from 0."""
    tenants = [
        {"name": name, "arrivals": {"process": "poisson", "rate": "5/s"}, "prompts": {"set": "two-tenant"}}
        for name in ("tenant-a", "tenant-b")
    ]
    known = known_prompts(spec("recall-accuracy", tenants=tenants, arrivals=None, prompts=None))
    assert known["tenant-a", "two-tenant/0"].answer != known["tenant-b", "two-tenant/0"].answer


def test_json_answers_are_known_as_such() -> None:
    assert known_prompts(spec("recall-accuracy", prompts={"set": "json-8"}))[None, "json-8/0"].json
