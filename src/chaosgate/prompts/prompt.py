"""What is asked: a prompt, its history and its only right answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chaosgate.prompts.grading import AnswerForm, is_right

Role = Literal["system", "user", "assistant"]
Grade = Literal["right", "wrong"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def to_json(self) -> dict[str, str]:
        """The message as OpenAI's API takes it."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True)
class Suggestion:
    """What an assistant answered once, and whether its user took it."""

    text: str
    accepted: bool


@dataclass(frozen=True)
class Prompt:
    """One prompt and, where it is known, the only right answer.

    `history` are the turns before it, oldest first. `tenant` names the LoRA adapter that answers it; None asks the
    model itself. `suggestion` is what a log says of an earlier answer to it. `max_tokens` is the most of its answer;
    None leaves that to the workload. `entities` are what a right answer names, such as the order of the user who asks.
    """

    text: str
    answer: str | None
    form: AnswerForm = "text"
    history: tuple[Message, ...] = ()
    tenant: str | None = None
    suggestion: Suggestion | None = None
    max_tokens: int | None = None
    entities: tuple[str, ...] = ()

    def messages(self) -> list[dict[str, str]]:
        """The conversation as OpenAI's API takes it: the history, then the prompt as the user's turn."""
        return [message.to_json() for message in (*self.history, Message("user", self.text))]

    def grade(self, text: str) -> Grade | None:
        """Whether `text` is the known answer; None where there is none."""
        if self.answer is None:
            return None
        return "right" if is_right(text, self.answer, self.form) else "wrong"

    def accepts(self, text: str) -> bool | None:
        """Whether the user of the log would take `text`; None where there is no log, or nothing in it tells.

        What was suggested then meets the same fate again. Anything else is taken when it is right.
        """
        if self.suggestion is None:
            return None
        # Word for word first: what was suggested as JSON need not have been any.
        if text.strip() == self.suggestion.text.strip() or is_right(text, self.suggestion.text, self.form):
            return self.suggestion.accepted
        grade = self.grade(text)
        return None if grade is None else grade == "right"
