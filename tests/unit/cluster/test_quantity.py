from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.cluster.quantity import format_quantity, parse_quantity
from chaosgate.errors import ClusterError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("250m", 0.25),
        ("100m", 0.1),
        ("2", 2.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1Gi", 2.0**30),
        ("512Mi", 2.0**29),
        ("1G", 1e9),
        ("1e3", 1000.0),
        ("1E", 1e18),
        ("500u", 0.0005),
    ],
)
def test_a_quantity_is_a_number(text: str, value: float) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "half", "1 Gi", "1KiB", "Mi", "1e", "--2"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ClusterError) as refused:
        parse_quantity(text)
    assert str(refused.value) == f"read the quantity {text!r}; an API server writes such as 250m or 512Mi"


@given(st.integers(1, 10**6))
def test_millicores_and_bytes_come_back(amount: int) -> None:
    assert format_quantity(amount / 1000, "cpu") == f"{amount}m"
    assert parse_quantity(format_quantity(amount / 1000, "cpu")) == amount / 1000
    assert parse_quantity(format_quantity(float(amount), "memory")) == amount


def test_nothing_becomes_the_least_that_kubernetes_keeps() -> None:
    assert format_quantity(0.0001, "cpu") == "1m"
    assert format_quantity(0.2, "memory") == "1"
