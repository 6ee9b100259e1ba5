from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.model.change import drawn

NAMES = st.lists(st.text("abc0", min_size=1, max_size=4), unique=True, max_size=8)


@given(NAMES, st.integers(0, 2**31), st.integers(0, 40))
def test_the_order_is_one_of_the_names_whatever_the_order_they_come_in(
    names: list[str], seed: int, window: int
) -> None:
    draw = Draw(seed, "mine", f"block1.{window}")

    found = drawn(names, draw)

    assert sorted(found) == sorted(names)
    assert drawn(names[::-1], draw) == found


@given(st.integers(1, 6), st.integers(0, 2**31))
def test_the_places_that_are_hit_are_the_same_in_every_run_though_names_differ(count: int, seed: int) -> None:
    draw = Draw(seed, "mine", "block1.3")
    one, other = ([f"engine-{word}-{number}" for number in range(count)] for word in ("7f9", "b2c"))

    assert [name[-1] for name in drawn(one, draw)] == [name[-1] for name in drawn(other, draw)]


def test_every_pod_is_hit_first_about_as_often_as_any_other() -> None:
    firsts = Counter(drawn(["a", "b", "c"], Draw(7, "mine", f"block1.{window}"))[0] for window in range(3000))

    assert set(firsts) == {"a", "b", "c"}
    # Four standard deviations of a binomial with n = 3000 and p = 1/3 are 103.
    assert all(abs(count - 1000) < 103 for count in firsts.values())
