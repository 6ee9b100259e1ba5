"""Text from specs and servers made harmless for Markdown and XML: all of it is shown, none of it is obeyed."""

from __future__ import annotations

import re

from chaosgate.errors import one_line

_MARKDOWN = re.compile(r"[\\`*_\[~|]")
"""What starts markup within a line or ends a cell; the text never stands at the beginning of a line."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
"""What some renderers read in spite of a backslash: HTML, character references and mathematics."""
_NAMES = re.compile(r"[@#](?=\w)|:(?=[\w+-]+:)")
"""`@name`, `#12` and `:emoji:` are found in the text after all markup is read, where no escape is left."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/=-]*")
_APART = "\u200b"
"""A zero-width space: invisible, and no part of any name."""
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document may hold, not even as a character reference (XML 1.0, production 2, Char)."""


def markdown_text(text: str) -> str:
    """`text` as one line that any Markdown shows as it is, in a paragraph, a list or a cell of a table."""
    apart = _NAMES.sub(rf"\g<0>{_APART}", one_line(text))
    escaped = _MARKDOWN.sub(r"\\\g<0>", apart)
    return "".join(_ENTITIES.get(char, char) for char in escaped)


def markdown_code(text: str) -> str:
    """`text` in a fixed-width font where it is a plain name, digest or path; else as `markdown_text`."""
    return f"`{text}`" if _PLAIN.fullmatch(text) else markdown_text(text)


def markdown_command(text: str) -> str:
    """A command line in a fixed-width font, on the same terms as `markdown_code`."""
    return f"`{text}`" if all(_PLAIN.fullmatch(word.lstrip("-")) for word in text.split(" ")) else markdown_text(text)


def xml_text(text: str) -> str:
    """`text` with `\ufffd` for each character that XML 1.0 cannot carry; escaping markup is the XML writer's part."""
    return _NO_XML.sub("\ufffd", text)
