"""What a spec may say about safety: which rules it may override, and when faults may be injected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import get_args
from zoneinfo import ZoneInfo

import pytest
from cluster_drills import drill_text, fault
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import SpecError
from chaosgate.model.load import parse_spec
from chaosgate.model.safety import DAYS, FIXED, PROTECTED, AllowedTime, Overridable, Rule, Safety, why_closed

OFFICE = AllowedTime.model_validate(
    {"days": ("mon", "tue", "wed", "thu", "fri"), "from": "09:00", "to": "17:00", "timezone": "Europe/Berlin"}
)
NIGHT = AllowedTime.model_validate({"days": ("fri",), "from": "22:00", "to": "06:00", "timezone": "UTC"})
WEEK = [datetime(2026, 3, 23, tzinfo=UTC) + timedelta(minutes=15 * step) for step in range(7 * 24 * 4)]


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def test_each_rule_is_either_overridable_or_fixed() -> None:
    assert {*get_args(Overridable), *FIXED} == set(get_args(Rule))
    assert not set(get_args(Overridable)) & set(FIXED)


def test_protected_namespaces_only_grow() -> None:
    assert Safety(protected_namespaces=()).protected == set(PROTECTED)
    assert Safety(protected_namespaces=("payments",)).protected == {*PROTECTED, "payments"}


def test_an_override_is_found_by_its_rule() -> None:
    safety = Safety.model_validate({"overrides": ({"rule": "max-pods", "reason": "both copies at once"},)})

    found = safety.overridden("max-pods")
    assert found is not None
    assert found.reason == "both copies at once"
    assert safety.overridden("min-healthy") is None


@pytest.mark.parametrize(
    ("moment", "holds"),
    [
        (at("2026-03-23T09:00", "Europe/Berlin"), True),
        (at("2026-03-23T16:59", "Europe/Berlin"), True),
        (at("2026-03-23T17:00", "Europe/Berlin"), False),
        (at("2026-03-23T08:59", "Europe/Berlin"), False),
        (at("2026-03-28T12:00", "Europe/Berlin"), False),
        # One hour of UTC further from 29 March on: the clocks of Berlin count, not those of UTC.
        (at("2026-03-27T07:30"), False),
        (at("2026-03-30T07:30"), True),
    ],
)
def test_clocks_and_days_are_those_of_the_time_zone(moment: datetime, holds: bool) -> None:
    assert OFFICE.holds(moment) is holds


@pytest.mark.parametrize(
    ("moment", "holds"),
    [
        ("2026-03-27T21:59", False),
        ("2026-03-27T22:00", True),
        ("2026-03-28T05:59", True),
        ("2026-03-28T06:00", False),
        ("2026-03-28T22:30", False),
    ],
)
def test_a_night_belongs_to_the_day_on_which_it_begins(moment: str, holds: bool) -> None:
    assert NIGHT.holds(at(moment)) is holds


@given(st.sets(st.sampled_from(DAYS), min_size=1), st.integers(0, 23), st.integers(0, 24))
def test_a_week_holds_the_hours_of_each_day_that_is_named(days: set[str], begin: int, end: int) -> None:
    if begin == end:
        return
    allowed = AllowedTime.model_validate(
        {"days": tuple(days), "from": f"{begin:02}:00", "to": f"{end:02}:00", "timezone": "UTC"}
    )
    inside = [allowed.holds(moment) for moment in WEEK]

    assert sum(inside) == len(days) * 4 * ((end - begin) if end > begin else 24 - begin + end)
    starts = {
        moment for (before, now), moment in zip(pairwise([inside[-1], *inside]), WEEK, strict=True) if now > before
    }
    assert all(DAYS[moment.weekday()] in days and moment.hour == begin for moment in starts)


def test_without_any_allowed_time_it_is_always_allowed() -> None:
    assert why_closed((), at("2026-03-29T03:00"), 60.0) is None


def test_a_fault_may_not_outlast_the_allowed_time() -> None:
    friday = at("2026-03-27T16:59", "Europe/Berlin")

    assert why_closed((OFFICE,), friday, 59.0) is None
    assert why_closed((OFFICE,), friday, 60.0) == (
        "Fri 2026-03-27 17:00 Europe/Berlin is outside mon, tue, wed, thu, fri from 09:00 to 17:00 Europe/Berlin"
    )
    # The twin: with the next hours allowed, too, the same fault may.
    evening = AllowedTime.model_validate({"from": "17:00", "to": "18:00", "timezone": "Europe/Berlin"})
    assert why_closed((OFFICE, evening), friday, 60.0) is None
    assert str(evening) == "every day from 17:00 to 18:00 Europe/Berlin"


@pytest.mark.parametrize("place", [*PROTECTED, "payments"])
def test_a_fault_is_not_aimed_at_a_protected_namespace(place: str) -> None:
    aimed = fault("pod.delete", target=f"{{namespace: {place}, labels: {{app: web}}}}")
    text = drill_text([aimed], safety="{protectedNamespaces: [payments]}")

    with pytest.raises(SpecError) as refused:
        parse_spec(text, "drill.yaml")
    assert str(refused.value).endswith(
        f"spec.faults[0].target.namespace: read '{place}'; nothing is changed in argo, kube-node-lease, kube-public, "
        "kube-system, payments: choose another"
    )
    # The twin: any other namespace is a matter for the cluster.
    assert parse_spec(text.replace(f"namespace: {place}", "namespace: models"), "drill.yaml").metadata.name == "drill"
