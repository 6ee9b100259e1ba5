"""A chat with a model in the terminal: answers as they come, prompts to try, and what the answers took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from importlib import import_module
from random import Random
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chaosgate.cli.chat_server import ChatError, ChatServer, Figures, Message
from chaosgate.cli.console import make_console
from chaosgate.cli.engine_examples import escaped, example
from chaosgate.errors import UsageError
from chaosgate.prompts.tasks import TASKS, Exchange
from chaosgate.registry import unknown

YOU: Final = "you> "
COMMANDS: Final = {
    "/help": "these commands, and a prompt to try for each task",
    "/ask TASK [SIZE]": "begin anew with a fresh prompt of a task, and say whether the answer is right",
    "/stats": "what the answers of this chat took",
    "/history": "the conversation so far; each request sends all of it",
    "/new": "forget the conversation",
    "/model [NAME]": "the models there are, or ask another one",
    "/quit": "leave, as Ctrl-D does; Ctrl-C stops an answer",
}


def chat_with(url: str, model: str | None, temperature: float, max_tokens: int) -> None:
    """Talk to the server at `url` until the input ends; a UsageError where it or the model is not there."""
    server = ChatServer(url)
    chat = Chat(server, server.models(), make_console(), temperature=temperature, max_tokens=max_tokens)
    if model is not None:
        chat.choose(model)
    chat.run()


class Chat:
    """A conversation with one of `models`; `options` go with every request."""

    def __init__(self, server: ChatServer, models: list[str], console: Console, **options: Any) -> None:
        self._server = server
        self._models = models
        self._model = models[0]
        self._console = console
        self._options = options
        self._messages: list[Message] = []
        self._figures: list[Figures] = []

    def run(self) -> None:
        """Answer every line of the input."""
        self._tell(f"{self._model} at {self._server.url}. /help shows what it can do; \\n in a prompt is a line feed.")
        for line in _lines(self._console):
            try:
                if line == "/quit":
                    return
                self._obey(line) if line.startswith("/") else self.ask(line.replace("\\n", "\n"))
            except UsageError as error:
                self._console.print(printable(str(error)), style="red", markup=False)

    def choose(self, model: str) -> None:
        """Ask `model` from now on; a UsageError where the server does not list it."""
        if model not in self._models:
            raise UsageError(unknown("model", model, self._models))
        self._model = model

    def ask(self, text: str) -> str | None:
        """Send `text` behind the conversation, show the answer as it comes, and return it.

        None where Ctrl-C stopped it. What was refused, stopped or broken off leaves the conversation as it was.
        """
        question: Message = {"role": "user", "content": text}
        pieces: list[str] = []
        try:
            self._show_answer([*self._messages, question], pieces)
        except ChatError:
            if pieces:
                self._console.print()
            raise
        except KeyboardInterrupt:
            self._console.print()
            self._tell("stopped; the conversation is what it was before")
            return None
        answer = "".join(pieces)
        self._messages += [question, {"role": "assistant", "content": answer}]
        return answer

    def _show_answer(self, messages: list[Message], pieces: list[str]) -> None:
        with closing(self._server.answer(self._model, messages, **self._options)) as answer:
            for piece in answer:
                if isinstance(piece, Figures):
                    self._console.print()
                    self._figures.append(piece)
                    self._tell(figures_text(piece))
                else:
                    pieces.append(piece)
                    self._console.print(printable(piece), end="", markup=False)

    def _obey(self, line: str) -> None:
        name, *words = line.split()
        forms = {form.split()[0]: form for form in COMMANDS}
        if name not in forms:
            raise UsageError(unknown("command", name, forms))
        wanted = forms[name].split()[1:]
        least = sum(not word.startswith("[") for word in wanted)
        if not least <= len(words) <= len(wanted):
            raise UsageError(f"{name}: write {forms[name]}")
        commands: dict[str, Callable[..., None]] = {
            "/help": self._help,
            "/ask": self._ask_task,
            "/stats": self._stats,
            "/history": self._history,
            "/new": self._forget,
            "/model": self._show_models,
        }
        commands[name](*words)

    def _help(self) -> None:
        self._table(*COMMANDS.items())
        self._tell("Prompts to try, and their right answers:")
        examples = ((task.name, example(task, Random())) for task in TASKS.values())
        self._table(*((name, escaped(one.prompt), escaped(one.answer)) for name, one in examples))

    def _ask_task(self, name: str, size: str | None = None) -> None:
        exchange = _drawn(name, size)
        # The model was trained on conversations about one block of facts.
        self._messages.clear()
        self._console.print(f"{YOU}{escaped(exchange.prompt)}", markup=False)
        answer = self.ask(exchange.prompt)
        if answer is not None:
            self._tell("right" if answer == exchange.answer else f"wrong: the answer is {escaped(exchange.answer)}")

    def _stats(self) -> None:
        if not self._figures:
            self._tell("no answer yet")
            return
        self._table(*((f"answer {number}", figures_text(one)) for number, one in enumerate(self._figures, 1)))

    def _history(self) -> None:
        if not self._messages:
            self._tell("nothing was said yet")
        self._table(*((message["role"], escaped(message["content"])) for message in self._messages))

    def _forget(self) -> None:
        self._messages.clear()
        self._tell("forgotten; the next prompt begins a new conversation")

    def _show_models(self, name: str | None = None) -> None:
        if name is not None:
            self.choose(name)
        self._table(*(("*" if model == self._model else "", model) for model in self._models))

    def _tell(self, text: str) -> None:
        self._console.print(printable(text), style="dim", markup=False)

    def _table(self, *rows: tuple[str, ...]) -> None:
        table = Table.grid(padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        self._console.print(table)


def figures_text(figures: Figures) -> str:
    """One line: time to the first token, and tokens with their rate after it where the server counts them."""
    parts = [f"{figures.first_token * 1000:.0f} ms to the first token"]
    tokens = figures.completion_tokens
    if tokens is not None:
        parts.append(f"{tokens} tokens in {figures.total * 1000:.0f} ms")
    if figures.prompt_tokens is not None:
        cached = f", {figures.cached_tokens} of them cached" if figures.cached_tokens else ""
        parts.append(f"prompt of {figures.prompt_tokens}{cached}")
    if figures.cut:
        parts.append("cut off: an answer may not be longer; --max-tokens allows more")
    return "; ".join(parts)


def printable(text: str) -> str:
    """`text` without what could move the cursor or colour the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)


def _drawn(name: str, size: str | None) -> Exchange:
    """A fresh exchange of the task, of an example's size unless told; a UsageError names what there is."""
    if name not in TASKS:
        raise UsageError(unknown("task", name, TASKS))
    task = TASKS[name]
    if size is None:
        return example(task, Random())
    try:
        return task.draw(Random(), int(size))
    except ValueError as error:
        least, most = task.sizes[0], task.sizes[-1]
        known = f"a number from {least} to {most}" if most > least else f"{least} or nothing"
        raise UsageError(f"/ask: read the size {size!r} of {name}; write {known} ({task.counts})") from error


def _lines(console: Console) -> Iterator[str]:
    """What is typed, line by line; of a file or a pipe each line is shown as if it had been typed."""
    typed = sys.stdin.isatty()
    if typed:
        with suppress(ImportError):
            # Once it is there, `input` has the arrow keys, and what was typed before.
            import_module("readline")
    while True:
        try:
            line = input(YOU if typed else "").strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            console.print("\nCtrl-D or /quit leaves")
            continue
        if not typed:
            console.print(f"{YOU}{line}", markup=False)
        if line:
            yield line
