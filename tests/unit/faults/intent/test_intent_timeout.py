from __future__ import annotations

import pytest
from prompt_rig import CHAT, PLAIN_PAIR, SYSTEM, asked, rewritten, wire_fault
from pydantic import ValidationError

from chaosgate.conformance.observations import observations
from chaosgate.faults.intent.timeout import IntentTimeout
from chaosgate.model.fault import FAULTS, Delay, Witness
from chaosgate.model.prompt_text import PLAIN, PromptText, Turn

FAULT = wire_fault("intent.timeout", "10 %")


def test_a_request_that_is_hit_waits_and_loses_its_instructions() -> None:
    assert FAULTS.get("intent.timeout") is IntentTimeout
    late = Turn("developer", "Be brief.")
    chat = PromptText((*CHAT.turns[:2], late, *CHAT.turns[2:]))
    assert FAULT.effects(1.0, FAULT.draw(7, "7.block1.1")) == (Delay(0.8),)
    assert rewritten(FAULT, chat, 1.0).turns == CHAT.turns[1:]


def test_who_waits_loses_the_instructions_and_nobody_else() -> None:
    waited = [bool(FAULT.effects(0.3, FAULT.draw(7, f"7.block1.{number}"))) for number in range(2000)]
    lost = [rewritten(FAULT, CHAT, 0.3, number) != CHAT for number in range(2000)]
    assert waited == lost
    assert sum(waited) / 2000 == pytest.approx(0.3, abs=0.04)


def test_nobody_waits_at_dose_0() -> None:
    assert not any(FAULT.effects(0.0, FAULT.draw(7, f"7.block1.{number}")) for number in range(500))


def test_without_a_system_turn_the_first_line_of_the_question_goes() -> None:
    chat = PromptText(CHAT.turns[1:])
    assert rewritten(FAULT, chat, 1.0).turns == (*chat.turns[:-1], Turn("user", "What is her name?"))
    assert rewritten(FAULT, PLAIN_PAIR, 1.0).turns == (Turn(PLAIN, "is"), Turn(PLAIN, "is"))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\n\nTell me.\nWho?\nWhere?", "Who?\nWhere?"),
        ("Who?", "Who?"),
        ("Who?\n \n", "Who?\n \n"),
        ("", ""),
        ("\n", "\n"),
    ],
)
def test_a_question_of_one_line_stays(text: str, left: str) -> None:
    assert asked(FAULT, text, 1.0) == left


def test_a_system_turn_that_is_all_there_is_stays() -> None:
    prompt = PromptText((SYSTEM,))
    assert rewritten(FAULT, prompt, 1.0) == prompt


def test_the_client_waits_half_of_the_planned_time_at_least() -> None:
    witness = wire_fault("intent.timeout", "10 %", patience="400ms", select={"share": "50 %"}).witness(0.2)
    assert isinstance(witness, Witness)
    assert (witness.what, witness.dimension) == ("mean time to first token", "duration")
    assert witness.moved == pytest.approx(0.2 * 0.5 * 0.4 / 2)
    for seen in observations():
        assert witness.value(seen) == (None if seen.first is None else seen.first - seen.sent)


@pytest.mark.parametrize("patience", ["0s", "61s"])
def test_a_patience_out_of_its_range_is_refused(patience: str) -> None:
    with pytest.raises(ValidationError, match=r"greater than 0|less than or equal to 60"):
        IntentTimeout.model_validate({**FAULT.to_json(), "patience": patience})
