"""The twins leave the registries again: there is one of each for the whole process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chaosgate.model.fault import FAULTS
from chaosgate.model.filter import FILTERS
from chaosgate.model.fit import FITS
from chaosgate.model.scorer import SCORERS
from chaosgate.model.sli import SLIS
from chaosgate.registry import Registry, load_kinds


@pytest.fixture(autouse=True)
def _registries_as_they_were() -> Iterator[None]:
    load_kinds()
    registries: tuple[Registry, ...] = (FAULTS, FILTERS, FITS, SCORERS, SLIS)
    before = [dict(registry._kinds) for registry in registries]
    yield
    for registry, kinds in zip(registries, before, strict=True):
        registry._kinds.clear()
        registry._kinds.update(kinds)
