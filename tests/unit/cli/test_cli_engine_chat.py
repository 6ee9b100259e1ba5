"""A chat in the terminal, typed and from a pipe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from scripted_openai import Script, event, says, scripted

from chaosgate.cli import engine_chat
from chaosgate.cli.engine_chat import COMMANDS, printable
from chaosgate.cli.main import chaosgate
from chaosgate.prompts.tasks import TASKS, Exchange, Task
from chaosgate.sse import DONE_EVENT

USAGE = event(choices=[], usage={"prompt_tokens": 3, "completion_tokens": 2})


def chat(script: Script, *lines: str, options: tuple[str, ...] = ()) -> list[str]:
    """What a chat with a scripted server shows, line by line; times are cut out of it."""
    with scripted(script):
        words = ["engine", "chat", "--url", script.url, *options]
        done = CliRunner().invoke(chaosgate, words, input="".join(f"{line}\n" for line in lines))
    assert done.exit_code == 0, done.output
    return [line.rstrip() for line in done.stdout.splitlines()]


def script(*pieces: str) -> Script:
    return Script(stream=says(*pieces) + USAGE + DONE_EVENT)


def test_an_answer_is_shown_with_what_it_took() -> None:
    first, asked, answer, figures = chat(script("red", " blue"), "hi")
    assert first.startswith("m at http://127.0.0.1:")
    assert first.endswith(". /help shows what it can do; \\n in a prompt is a line feed.")
    assert (asked, answer) == ("you> hi", "red blue")
    assert figures.partition(" ms to the first token; 2 tokens in ")[2].endswith(" ms; prompt of 3")


def test_a_prompt_goes_with_all_that_was_said_until_it_is_forgotten() -> None:
    told = script("a")
    chat(told, "one\\ntwo", "", "three", "/new", "four", options=("--max-tokens", "9", "--temperature", "0.5"))
    said = [[message["content"] for message in asked["messages"]] for asked in told.asked]
    assert said == [["one\ntwo"], ["one\ntwo", "a", "three"], ["four"]]
    assert {(asked["max_tokens"], asked["temperature"], asked["model"]) for asked in told.asked} == {(9, 0.5, "m")}


def test_the_history_can_be_typed_again() -> None:
    lines = chat(script("a\nb"), "/history", "one\\ntwo", "/history")
    assert lines[2] == "nothing was said yet"
    assert lines[-2:] == ["user       one\\ntwo", "assistant  a\\nb"]


def test_help_has_every_command_and_a_prompt_for_each_task() -> None:
    lines = chat(script("a"), "/help")
    for form, meaning in COMMANDS.items():
        assert any(line.split("  ")[0] == form and line.endswith(meaning) for line in lines)
    for task in TASKS:
        assert any(line.startswith(f"{task} ") for line in lines)


def test_a_task_is_asked_and_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def make(_: Any, size: int) -> Exchange:
        sizes.append(size)
        return Exchange("facts a=b\n?a=", "b")

    monkeypatch.setattr(engine_chat, "TASKS", {"recall": Task("recall", range(2, 9), "facts", make)})
    assert chat(script("b"), "/ask recall")[2:4] == ["you> facts a=b\\n?a=", "b"]
    assert chat(script("b"), "/ask recall")[-1] == "right"
    told = script("c")
    assert chat(told, "hi", "/ask recall 8")[-1] == "wrong: the answer is b"
    assert [len(asked["messages"]) for asked in told.asked] == [1, 1], "a conversation of its own"
    assert sizes == [3, 3, 8]


def test_the_model_can_be_changed() -> None:
    told = script("a")
    lines = chat(told, "/model", "/model m:a", "hi", "/model m:b")
    assert lines[2:4] == ["*  m", "   m:a"]
    assert lines[5:7] == ["   m", "*  m:a"]
    assert told.asked[0]["model"] == "m:a"
    assert lines[-1] == "unknown model 'm:b'; did you mean 'm:a'?"
    assert chat(script("a"), options=("--model", "m:a"))[0].startswith("m:a at ")


def test_figures_of_all_answers() -> None:
    lines = chat(script("a"), "/stats", "hi", "ho", "/stats")
    assert lines[2] == "no answer yet"
    assert [line.split("  ")[0] for line in lines[-2:]] == ["answer 1", "answer 2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/hepl", "unknown command '/hepl'; did you mean '/help'?"),
        ("/ask", "/ask: write /ask TASK [SIZE]"),
        ("/ask recall 3 4", "/ask: write /ask TASK [SIZE]"),
        ("/stats now", "/stats: write /stats"),
        ("/ask recal", "unknown task 'recal'; did you mean 'recall'?"),
        ("/ask recall many", "/ask: read the size 'many' of recall; write a number from 2 to 48 (facts)"),
        ("/ask recall 999", "/ask: read the size '999' of recall; write a number from 2 to 48 (facts)"),
        ("/ask recall 1", "/ask: read the size '1' of recall; write a number from 2 to 48 (facts)"),
        ("/ask capital 3", "/ask: read the size '3' of capital; write 1 or nothing (countries)"),
    ],
)
def test_a_mistake_is_told_and_the_chat_goes_on(line: str, message: str) -> None:
    assert chat(script("a"), line, "hi")[2:5] == [message, "you> hi", "a"]


def test_an_answer_that_breaks_off_is_told_and_not_kept() -> None:
    broken = Script(stream=says("a"))
    lines = chat(broken, "one", "two")
    assert lines[2:4] == ["a", f"{broken.url} broke off before the end of its answer"]
    assert [len(asked["messages"]) for asked in broken.asked] == [1, 1]


def test_quit_leaves() -> None:
    told = script("a")
    assert chat(told, "/quit", "hi")[-1] == "you> /quit"
    assert told.asked == []


def test_an_answer_cannot_reach_the_terminal_s_controls() -> None:
    assert printable("a\n\x1b[2J\x07b\u202e") == "a\n\ufffd[2J\ufffdb\ufffd"
    assert chat(script("a\x1b[2J[red]b[/red]"), "hi")[2] == "a\ufffd[2J[red]b[/red]"


def test_nothing_that_a_server_says_reaches_the_terminal_s_controls() -> None:
    usage = {
        "prompt_tokens": "\x1b[5mx",
        "completion_tokens": "\x1b[5my",
        "prompt_tokens_details": {"cached_tokens": "\x9b"},
    }
    models = json.dumps({"data": [{"id": "m\x1b]0;owned\x07"}, {"id": "n\x1b[31m"}]}).encode()
    evil = Script(models=models, stream=says("a") + event(choices=[], usage=usage) + DONE_EVENT)
    lines = chat(evil, "hi", "/stats", "/model", "/model nowhere", "/model n\x1b[31", "/history")
    assert lines[0].startswith("m\ufffd]0;owned\ufffd at http://")
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", "".join(lines).replace("n\x1b[31", "", 1)), "but for what was typed"
    with scripted(evil):
        words = ["engine", "chat", "--url", evil.url, "--model", "nowhere"]
        done = CliRunner().invoke(chaosgate, words)
    assert (done.exit_code, done.output) == (
        2, "unknown model 'nowhere'; known: m\ufffd]0;owned\ufffd, n\ufffd[31m\n"
    )  # fmt: skip


def test_an_answer_that_was_cut_off_says_so() -> None:
    end = event(choices=[{"delta": {}, "finish_reason": "length"}])
    lines = chat(Script(stream=says("a") + end + USAGE + DONE_EVENT), "hi")
    assert lines[-1].endswith("; prompt of 3; cut off: an answer may not be longer; --max-tokens allows more")


def test_ctrl_c_stops_an_answer_and_nothing_of_it_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    closed = []

    class Slow:
        url = "http://h"

        def answer(self, model: str, messages: Any, **options: Any) -> Any:
            try:
                yield "a"
                raise KeyboardInterrupt
            finally:
                closed.append(len(messages))

    console = engine_chat.make_console()
    one = engine_chat.Chat(Slow(), ["m"], console)
    assert (one.ask("hi"), one.ask("ho")) == (None, None)
    assert closed == [1, 1]
    one._obey("/ask add")
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "stopped; the conversation is what it was before", "neither right nor wrong"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lines typed at a terminal; an exception is a key."""

    def type_(*lines: Any) -> None:
        waiting = iter((*lines, EOFError()))

        def read(prompt: str) -> str:
            assert prompt == "you> "
            line = next(waiting)
            if isinstance(line, BaseException):
                raise line
            return str(line)

        monkeypatch.setattr("builtins.input", read)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    return type_


def test_at_a_terminal_ctrl_c_leaves_the_line_and_ctrl_d_the_chat(
    typed: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(KeyboardInterrupt(), " hi ", "")
    assert list(engine_chat._lines(engine_chat.make_console())) == ["hi"]
    assert capsys.readouterr().out == "\nCtrl-D or /quit leaves\n"
