from acme_answers import DifferentAnswers
from acme_stall import LongestStall

from chaosgate.conformance import check_sli


def test_both_slis_keep_the_contract() -> None:
    check_sli(LongestStall)
    check_sli(DifferentAnswers)
