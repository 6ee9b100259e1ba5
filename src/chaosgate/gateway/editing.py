"""Passing a stream through editors: one after the other, each given the events that the one before it has sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from chaosgate.gateway.passage import PlannedEdit
from chaosgate.model.stream_edit import Break, Finish, Pause, Step, StreamEvent
from chaosgate.sse import EventSplitter


class EventTooLong(Exception):
    """The stream cannot be edited, as its events do not end; all its bytes can still be passed on."""


class Stage:
    """One editor of one stream, fed with bytes."""

    def __init__(self, planned: PlannedEdit) -> None:
        self._editor = planned.editor
        self.touch = planned.touch
        self._before = planned.touch.effect
        self._splitter = EventSplitter()
        self._number = 0
        self._waiting: deque[bytes] = deque()
        """Whole events that the editor has not seen."""
        self._unsent: deque[Step] = deque()
        """What it made of the last one, as far as nobody took it."""

    def feed(self, chunk: bytes) -> Iterator[Step]:
        """The steps for the events that `chunk` completes; EventTooLong when an event has no end."""
        try:
            events = self._splitter.feed(chunk)
        except ValueError as error:
            raise EventTooLong from error
        return self._edited(events)

    def end(self) -> Iterator[Step]:
        """The steps for what is left when the stream has ended."""
        yield from self._edited(self._splitter.close())
        yield from self._editor.end()
        self._note()
        yield self._splitter.rest

    def release(self) -> bytes:
        """The bytes that are still held here, unedited. Nothing may be fed after that."""
        held = (step for step in (*self._unsent, *self._editor.end()) if isinstance(step, bytes))
        return b"".join((*held, *self._waiting, self._splitter.rest))

    def close(self, reason: str) -> None:
        """The stream is over: where the editor never did anything, `reason` says why, else its own words."""
        self.touch.bypass(reason or self._editor.missed)

    def _edited(self, events: Sequence[bytes]) -> Iterator[Step]:
        self._waiting.extend(events)
        while self._waiting:
            event = StreamEvent(self._waiting.popleft(), self._number)
            self._number += event.counts
            self._unsent.extend(self._editor.event(event))
            self._note()
            while self._unsent:
                yield self._unsent.popleft()

    def _note(self) -> None:
        """Enter into the ledger what the editor has done so far; the window counts the stream at its first effect."""
        effect = self._editor.effect
        if effect is not None:
            self.touch.apply(effect)
            self.touch.effect = effect if self._before is None else f"{self._before}; {effect}"


class Editing:
    """All editors of one stream. Where an editor ends it, Finish or Break comes, and nothing may be sent after that."""

    def __init__(self, edits: Sequence[PlannedEdit]) -> None:
        self._stages = [Stage(planned) for planned in edits]
        self._ended_by: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Step]:
        """What is sent for `chunk`, which may be cut anywhere."""
        return self._through([chunk], 0)

    def end(self) -> Iterator[Step]:
        """What is still sent when the server's stream has ended."""
        return self._finish(0)

    def release(self) -> bytes:
        """What is held back by all editors, in the order of the stream, so that the rest can be passed on unedited."""
        return b"".join(stage.release() for stage in reversed(self._stages))

    def close(self, reason: str = "") -> None:
        """Tell the ledger of each fault that did nothing why: `reason`, else who ended the stream, else the editor."""
        ended = f"cut by {self._ended_by}" if self._ended_by else ""
        for stage in self._stages:
            stage.close(reason or ended)

    def _through(self, steps: Iterable[Step], index: int) -> Iterator[Step]:
        if index == len(self._stages):
            yield from steps
            return
        stage = self._stages[index]
        for step in steps:
            if isinstance(step, bytes):
                yield from self._noting(stage, self._through(stage.feed(step), index + 1))
            elif isinstance(step, Pause):
                yield from self._through([step], index + 1)
            elif isinstance(step, Finish):
                yield from self._finish(index)
                yield step
            else:
                yield from self._through([stage.release(), step], index + 1)

    def _finish(self, index: int) -> Iterator[Step]:
        """The end of the stream for the editor at `index` and those after it."""
        if index < len(self._stages):
            stage = self._stages[index]
            yield from self._noting(stage, self._through(stage.end(), index + 1))
            yield from self._finish(index + 1)

    def _noting(self, stage: Stage, steps: Iterator[Step]) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, Finish | Break) and self._ended_by is None:
                self._ended_by = stage.touch.fault
            yield step
