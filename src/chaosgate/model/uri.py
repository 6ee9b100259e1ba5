"""Addresses as they stand in a spec or an environment variable: whether they can be read, and what may be shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

MASK = "***"
"""What stands for a password wherever an address is shown."""

# Over HTTP the user information ends before the first `/` (RFC 3986, 3.2). In a database's URI SQLAlchemy takes the
# password up to the last `@`, whatever stands in it, so that urlsplit alone would miss some.
_HTTP = re.compile(r"(?i)(https?://[^:/?#]*:)([^/?#]+)(?=@)")
_DATABASE = re.compile(r"(?i)((?!https?:)[a-z0-9+.-]+://[^:/?#@]*:)(.+)(?=@)", re.DOTALL)
_QUERY = re.compile(r"(?i)([?&][^=&#]*(?:password|passwd|pwd|secret|token)[^=&#]*=)([^&#]+)")


def without_password(uri: str) -> str:
    """`uri` as it may be shown: every password in its user information or its query becomes `***`."""
    for pattern in (_HTTP, _DATABASE):
        if found := pattern.match(uri):
            uri = found[1] + MASK + uri[found.end() :]
    return _QUERY.sub(lambda found: found[1] + MASK, uri)


def has_password(uri: str) -> bool:
    """Whether `uri` holds a password; one that is masked counts, for it was meant to be replaced."""
    return without_password(uri) != uri or MASK in uri


def hide_password(text: str, uri: str) -> str:
    """`text` that another library wrote about `uri`, without the passwords in it."""
    text = text.replace(uri, without_password(uri))
    for pattern in (_HTTP, _DATABASE, _QUERY):
        for found in pattern.finditer(uri):
            text = re.sub(rf"(?<=[:='\"]){re.escape(found[2])}", MASK, text)
    return text


def why_malformed(uri: str) -> str | None:
    """Why `uri` cannot be taken apart, in words that repeat nothing of it; None when it can."""
    if not uri.isprintable():
        return "it holds characters that cannot be printed"
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "its brackets hold no IPv6 address"
    try:
        _ = parts.port
    except ValueError:
        return "its port is no number from 0 to 65535; a `/` in a password is written %2F"
    return None
