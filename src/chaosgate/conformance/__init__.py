"""What every kind and every component owes chaosgate, as checks for your own pytest suite.

    from chaosgate.conformance import check_fault

    def test_my_fault_keeps_the_contract() -> None:
        check_fault(MyFault, {"name": "mine", "kind": "my.fault", "dose": {...}})

Each check returns nothing, or raises a ConformanceError that names the kind or component, what it did and what it owes.
"""

from chaosgate.conformance.common import ConformanceError
from chaosgate.conformance.components import check_component
from chaosgate.conformance.faults import check_fault
from chaosgate.conformance.filters import check_filter
from chaosgate.conformance.fits import check_fit
from chaosgate.conformance.scorers import check_scorer
from chaosgate.conformance.slis import check_sli

__all__ = [
    "ConformanceError",
    "check_component",
    "check_fault",
    "check_filter",
    "check_fit",
    "check_scorer",
    "check_sli",
]
