"""Kubernetes quantities as numbers and back."""

from __future__ import annotations

import re

from chaosgate.errors import ClusterError
from chaosgate.model.change import Resource

# A decimal number with an SI suffix, a binary one or an exponent (Kubernetes API reference, Quantity).
_QUANTITY = re.compile(r"([+-]?[0-9]*\.?[0-9]+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {suffix: 1024.0**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)}


def parse_quantity(text: str) -> float:
    """`250m` as 0.25, `1Gi` as 1073741824; a ClusterError for what is no quantity."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ClusterError(f"read the quantity {text!r}; an API server writes such as 250m or 512Mi")
    number, suffix = match[1], match[2] or ""
    if suffix in _BINARY:
        return float(number) * _BINARY[suffix]
    exponent = suffix[1:] if suffix[:1] in ("e", "E") and len(suffix) > 1 else _DECIMAL.get(suffix, 0)
    # In one go, so that 100m is the number nearest to 0.1.
    return float(f"{number}e{exponent}")


def format_quantity(value: float, resource: Resource) -> str:
    """CPU in millicores, memory in bytes: the finest that Kubernetes keeps of each, rounded up to 1 of them."""
    return f"{max(1, round(value * 1000))}m" if resource == "cpu" else str(max(1, round(value)))
