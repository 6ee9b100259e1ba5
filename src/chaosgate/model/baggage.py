"""The W3C header `baggage`: what an application gives its requests along the way, read exactly as its grammar says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

BAGGAGE_HEADER = "baggage"
MAX_BYTES = 8192
MAX_MEMBERS = 64
"""What everybody has to bear (W3C Baggage, 3.3.2.1 Limits); a longer header is read as none, later members are left."""
MAX_SHOWN = 60
"""Characters of a member that are quoted when it is refused."""

TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
"""A token, such as the name of a header: RFC 9110, 5.6.2."""
_OCTETS = r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
_SPACE = r"[ \t]*"
_PROPERTY = rf"{_SPACE};{_SPACE}{TOKEN}(?:{_SPACE}={_SPACE}{_OCTETS})?"
_MEMBER = re.compile(rf"({TOKEN}){_SPACE}={_SPACE}({_OCTETS})((?:{_PROPERTY})*)")
"""`key = value *( ; property )`: W3C Baggage, 3.3.1.2."""


@dataclass(frozen=True)
class Baggage:
    """The members of a `baggage` header by their keys, and in words what of it could not be read."""

    members: Mapping[str, str] = field(default_factory=dict)
    """Values are decoded; of a key that comes twice, the last."""
    refused: tuple[str, ...] = ()


def read_baggage(text: str | None) -> Baggage:
    """What `text` carries; several headers of the name are one, with commas between them. Nothing raises."""
    if text is None:
        return Baggage()
    size = len(text.encode(errors="surrogateescape"))
    if size > MAX_BYTES:
        return Baggage({}, (f"baggage has {size} bytes; at most {MAX_BYTES} are read: send fewer members",))
    written = [part.strip(" \t") for part in text.split(",")]
    pairs = [(part, _MEMBER.fullmatch(part)) for part in written[:MAX_MEMBERS] if part]
    members = {match[1]: unquote(match[2], errors="replace") for _, match in pairs if match}
    refused = [_refusal(part) for part, match in pairs if not match]
    if len(written) > MAX_MEMBERS:
        refused.append(f"baggage has {len(written)} members; the first {MAX_MEMBERS} are read: send fewer")
    return Baggage(members, tuple(refused))


def _refusal(part: str) -> str:
    shown = part if len(part) <= MAX_SHOWN else part[: MAX_SHOWN - 3] + "..."
    return f"baggage member {shown!r} is no key=value; within a value write a comma as %2C, a space as %20"
