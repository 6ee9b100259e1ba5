from acme_hung_replica import HungReplica

from chaosgate.conformance import check_fault


def test_a_hung_replica_keeps_the_contract() -> None:
    dose = {"parameter": "landed", "values": ["25 %", "50 %"], "hold": "1m", "washout": "20s"}
    check_fault(HungReplica, {"name": "one-of-four", "kind": "acme.hung-replica", "dose": dose})
