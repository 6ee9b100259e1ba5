"""Keeps an answer to one JSON object (RFC 8259), written without spaces between its parts, that is whole in time."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from chaosgate.engine.network.stored import Ints
from chaosgate.engine.network.tokenizer import token_bytes
from chaosgate.engine.network.vocabulary import TOKENS

LEAST_TOKENS = 2
"""The shortest object, `{}`, spelled in bytes."""

DEEPEST = 8
"""Objects and lists inside each other: every level must still be closed, and each depth has states of its own."""

HEX = frozenset(b"0123456789abcdefABCDEF")
LITERALS = {b"t"[0]: "rue", b"f"[0]: "alse", b"n"[0]: "ull"}
# A literal's mode is what is left of it; all other modes are listed here with the bytes that at least end them.
COST = {
    "begin": 2, "done": 0, "member": 0, "key": 4, "colon": 2, "value": 1, "item": 0, "after": 0, "string": 1,
    "escape": 2, "hex4": 5, "hex3": 4, "hex2": 3, "hex1": 2, "more3": 4, "more2": 3, "more1": 2,
    "after E0": 3, "after ED": 3, "after F0": 4, "after F4": 4,
    "minus": 1, "zero": 0, "digits": 0, "point": 1, "fraction": 0, "exponent": 1, "sign": 1, "power": 0,
}  # fmt: skip
NUMBER = {
    "minus": {"0": "zero", "1-9": "digits"},
    "zero": {".": "point", "e": "exponent"},
    "digits": {"0": "digits", "1-9": "digits", ".": "point", "e": "exponent"},
    "point": {"0": "fraction", "1-9": "fraction"},
    "fraction": {"0": "fraction", "1-9": "fraction", "e": "exponent"},
    "exponent": {"0": "power", "1-9": "power", "+": "sign"},
    "sign": {"0": "power", "1-9": "power"},
    "power": {"0": "power", "1-9": "power"},
}
NUMBER_CLASSES = {
    **dict.fromkeys(b"123456789", "1-9"), b"0"[0]: "0", b"."[0]: ".", **dict.fromkeys(b"eE", "e"),
    **dict.fromkeys(b"+-", "+"),
}  # fmt: skip

# UTF-8 (RFC 3629, section 4). What may begin a character beyond ASCII, and the mode after it; then for each of these
# modes what may come next. Four first bytes leave the second one less room: past it lie longer forms than needed,
# surrogates, and numbers past U+10FFFF.
FIRST_BYTES = (
    (0xC2, 0xDF, "more1"), (0xE0, 0xE0, "after E0"), (0xE1, 0xEC, "more2"), (0xED, 0xED, "after ED"),
    (0xEE, 0xEF, "more2"), (0xF0, 0xF0, "after F0"), (0xF1, 0xF3, "more3"), (0xF4, 0xF4, "after F4"),
)  # fmt: skip
NEXT_BYTES = {
    "after E0": (0xA0, 0xBF, "more1"), "after ED": (0x80, 0x9F, "more1"),
    "after F0": (0x90, 0xBF, "more2"), "after F4": (0x80, 0x8F, "more2"),
    "more3": (0x80, 0xBF, "more2"), "more2": (0x80, 0xBF, "more1"), "more1": (0x80, 0xBF, "string"),
}  # fmt: skip


class State(NamedTuple):
    """Where in an object one is: what may come next, the open brackets, and whether a string is a member's name."""

    mode: str = "begin"
    open: str = ""
    name: bool = False

    @property
    def cost(self) -> int:
        """The bytes, and so the tokens, that at least make the object whole from here."""
        # After a member's name come a colon and a value.
        rest = 2 if self.name else 0
        return COST.get(self.mode, len(self.mode)) + rest + len(self.open)

    def after(self, byte: int) -> State | None:
        """The state after one more byte; None where JSON does not go on like this."""
        if self.mode in ("string", "escape", *NEXT_BYTES) or self.mode.startswith("hex"):
            return self._moved(_in_string(self.mode, byte))
        if self.mode in NUMBER:
            mode = NUMBER[self.mode].get(NUMBER_CLASSES.get(byte, ""))
            return self._closed_by(byte) if mode is None and not COST[self.mode] else self._moved(mode)
        if self.mode not in COST:
            return self._replace(mode=self.mode[1:] or "after") if byte == ord(self.mode[0]) else None
        return self._between(byte)

    def _between(self, byte: int) -> State | None:
        char = chr(byte)
        if self.mode == "begin":
            return State("member", "{") if char == "{" else None
        if self.mode in ("member", "key") and char == '"':
            return self._replace(mode="string", name=True)
        if self.mode == "colon":
            return self._replace(mode="value") if char == ":" else None
        if self.mode in ("value", "item") and (begun := self._value(byte)):
            return begun
        return self._closed_by(byte) if self.mode in ("member", "item", "after") else None

    def _value(self, byte: int) -> State | None:
        char = chr(byte)
        if char in "{[":
            mode = "member" if char == "{" else "item"
            return State(mode, self.open + char) if len(self.open) < DEEPEST else None
        if char == '"':
            return self._replace(mode="string")
        if byte in LITERALS:
            return self._replace(mode=LITERALS[byte])
        return self._moved("minus" if char == "-" else NUMBER["minus"].get(NUMBER_CLASSES.get(byte, "")))

    def _closed_by(self, byte: int) -> State | None:
        """A comma or the closing bracket; a comma directly after the opening one is no JSON."""
        if byte == ord(",") and self.mode not in ("member", "item"):
            return self._replace(mode="key" if self.open[-1] == "{" else "value")
        if chr(byte) != {"{": "}", "[": "]"}[self.open[-1]]:
            return None
        return State("after" if len(self.open) > 1 else "done", self.open[:-1])

    def _moved(self, mode: str | None) -> State | None:
        if mode == "end":
            return State("colon" if self.name else "after", self.open)
        return self._replace(mode=mode) if mode else None


def _in_string(mode: str, byte: int) -> str | None:
    """The mode after one more byte of a string, "end" at its end, None where it cannot go on like this."""
    if mode == "escape":
        return "hex4" if byte == ord("u") else "string" if byte in b'"\\/bfnrt' else None
    if mode in NEXT_BYTES:
        first, last, following = NEXT_BYTES[mode]
        return following if first <= byte <= last else None
    if mode.startswith("hex"):
        left = int(mode[-1])
        return (f"hex{left - 1}" if left > 1 else "string") if byte in HEX else None
    if byte in b'"\\':
        return "end" if byte == ord('"') else "escape"
    if 0x20 <= byte < 0x80:
        return "string"
    return next((mode for first, last, mode in FIRST_BYTES if first <= byte <= last), None)


class JsonGrammar:
    """One answer on its way to a whole object."""

    def __init__(self) -> None:
        self._state = State()

    @property
    def done(self) -> bool:
        """Whether the object is whole."""
        return self._state.mode == "done"

    def allowed(self, left: int) -> Ints:
        """Ids after which the object can still be whole when `left` tokens are left, the next one included."""
        ids, _, costs = _continuations(self._state)
        return ids[costs < left]

    def push(self, token: int) -> None:
        """Goes on by an allowed token."""
        ids, states, _ = _continuations(self._state)
        self._state = states[int(np.searchsorted(ids, token))]


@lru_cache(maxsize=1024)
def _continuations(state: State) -> tuple[Ints, list[State], Ints]:
    """Ids that can follow, in rising order, the state after each, and that state's cost."""
    found = {token: after for token in range(len(TOKENS)) if (after := _after_token(state, token))}
    return np.array(list(found)), list(found.values()), np.array([after.cost for after in found.values()])


def _after_token(state: State, token: int) -> State | None:
    data = token_bytes(token)
    after: State | None = state if data else None
    for byte in data:
        after = after and after.after(byte)
    return after
