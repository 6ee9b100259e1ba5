from acme_stall import LongestStall

from chaosgate.conformance import check_sli


def test_the_longest_stall_keeps_the_contract() -> None:
    check_sli(LongestStall)
