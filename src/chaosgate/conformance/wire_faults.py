"""What a fault of the wire owes: pure behaviour that is sane, does nothing at dose 0, and grows with the dose."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaosgate.conformance.common import call, check_documented, require
from chaosgate.conformance.wire_samples import PROMPTS, STREAMS
from chaosgate.draws import Draw
from chaosgate.model.fault import Delay, Effect, Reply, Reset, WireFault
from chaosgate.model.prompt_text import PromptText
from chaosgate.model.stream_edit import Break, Finish, Pause, Step, StreamEditor, StreamEvent

REQUESTS = 256
"""Draws on which behaviour is compared: enough that a share of 5 % is hit and spared several times."""
METHODS = ("effects", "rewrite", "editor")


@dataclass(frozen=True)
class Behaviour:
    """All that a fault does at one dose with one draw: its effects, each sample prompt as it leaves it, each stream."""

    effects: tuple[Effect, ...]
    prompts: tuple[PromptText, ...]
    streams: tuple[tuple[Step, ...], ...]

    @property
    def bites(self) -> bool:
        """Whether anything of a request or its response is changed."""
        delayed = any(not (isinstance(effect, Delay) and effect.seconds == 0) for effect in self.effects)
        return delayed or self.prompts != PROMPTS or self.streams != STREAMS


def check_wire_fault(fault: WireFault, doses: Sequence[float]) -> None:
    """Check what `fault` does at `doses`, ascending from 0; a ConformanceError says what is owed."""
    kind = type(fault)
    own = [name for name in METHODS if getattr(kind, name) is not getattr(WireFault, name)]
    require(bool(own), kind, f"it does nothing; write one of {', '.join(METHODS)}")
    check_documented(kind, *own)
    # Effects are cheap and vary most with the draw; prompts and streams are long, and fewer of them show the same.
    requests = REQUESTS if own == ["effects"] else REQUESTS // 4
    draws = [fault.draw(7, f"7.block1.{number}") for number in range(requests)]
    table = [[_behaviour(fault, dose, draw) for dose in doses] for draw in draws]
    for draw, row in zip(draws, table, strict=True):
        for dose, behaviour in zip(doses, row, strict=True):
            _check_sane(kind, dose, behaviour)
        _check_row(kind, doses, row)
        # In the other order of doses: a kind that keeps a state shows here.
        again = [_behaviour(fault, dose, draw) for dose in reversed(doses)][::-1]
        _check_same(kind, row, again)
    bites = any(row[-1].bites for row in table)
    require(bites, kind, f"nothing happens to any of {requests} requests at max_dose {fault.max_dose}")


def _behaviour(fault: WireFault, dose: float, draw: Draw) -> Behaviour:
    kind = type(fault)
    effects = tuple(call(kind, f"effects({dose})", lambda: fault.effects(dose, draw)))
    prompts = tuple(call(kind, f"rewrite({dose})", lambda: [fault.rewrite(one, dose, draw) for one in PROMPTS]))
    streams = tuple(_edited(fault, stream, dose, draw) for stream in STREAMS)
    return Behaviour(effects, prompts, streams)


def _edited(fault: WireFault, stream: Sequence[Step], dose: float, draw: Draw) -> tuple[Step, ...]:
    editor = call(type(fault), f"editor({dose})", lambda: fault.editor(dose, draw))
    if editor is None:
        return tuple(stream)
    steps = call(type(fault), f"the editor at dose {dose}", lambda: list(_steps(editor, stream)))
    ends = [number for number, step in enumerate(steps) if isinstance(step, Finish | Break)]
    said = editor.effect is not None
    changed = tuple(steps) != tuple(stream)
    require(
        said == changed, type(fault), f"its editor's effect is {editor.effect!r}; it is None while nothing is changed"
    )
    return tuple(steps[: ends[0] + 1] if ends else steps)


def _steps(editor: StreamEditor, stream: Iterable[Step]) -> Iterable[Step]:
    number = 0
    for raw in stream:
        event = StreamEvent(bytes(raw), number)  # type: ignore[arg-type]
        number += event.counts
        for step in editor.event(event):
            yield step
            if isinstance(step, Finish | Break):
                return
    yield from editor.end()


def _check_row(kind: type[WireFault], doses: Sequence[float], row: Sequence[Behaviour]) -> None:
    """One request over all doses: untouched at 0, and once hit it stays hit."""
    require(not row[0].bites, kind, f"{_what(row[0])} at dose 0; nothing may change there")
    hits = [behaviour.bites for behaviour in row]
    first = hits.index(True) if True in hits else len(hits)
    for dose, hit in zip(doses[first:], hits[first:], strict=True):
        require(
            hit, kind, f"a request hit at dose {doses[first]} is spared at {dose}; the draw may not depend on the dose"
        )


def _what(behaviour: Behaviour) -> str:
    """What of a request is changed, for an error."""
    if behaviour.prompts != PROMPTS:
        return "the prompt is changed"
    return "the stream is changed" if behaviour.streams != STREAMS else f"effects are {behaviour.effects}"


def _check_same(kind: type[WireFault], row: Sequence[Behaviour], again: Sequence[Behaviour]) -> None:
    effects, later = ([list(one.effects) for one in each] for each in (row, again))
    require(effects == later, kind, f"effects of one draw differ between calls: {effects} and {later}; keep no state")
    require(list(row) == list(again), kind, "prompts or streams of one draw differ between calls; keep no state")


def _check_sane(kind: type[WireFault], dose: float, behaviour: Behaviour) -> None:
    for effect in behaviour.effects:
        match effect:
            case Delay(seconds):
                good = math.isfinite(seconds) and seconds >= 0
            case Reply(status, headers, body):
                texts = all(isinstance(text, str) for item in headers.items() for text in item)
                good = 200 <= status <= 599 and texts and _is_json(body)
            case _:
                good = isinstance(effect, Reset)
        require(good, kind, f"effects({dose}) gave {effect}; effects are finite, not negative, and plain data")
    for prompt in behaviour.prompts:
        require(bool(prompt.turns), kind, f"rewrite({dose}) left no turn; a request asks something")
    for step in (step for stream in behaviour.streams for step in stream):
        good = isinstance(step, bytes | Finish | Break)
        if isinstance(step, Pause):
            good = math.isfinite(step.seconds) and step.seconds >= 0
        require(good, kind, f"the editor at dose {dose} gave {step!r}; steps are bytes, Pause, Finish or Break")


def _is_json(body: Mapping[str, Any]) -> bool:
    try:
        json.dumps(dict(body), allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
