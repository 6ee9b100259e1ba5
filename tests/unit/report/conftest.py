"""A view for each verdict."""

from __future__ import annotations

import pytest
import report_views

from chaosgate.report.view import ReportView


@pytest.fixture
def passing() -> ReportView:
    return report_views.passing()


@pytest.fixture
def failing() -> ReportView:
    return report_views.failing()


@pytest.fixture
def undecided() -> ReportView:
    return report_views.undecided()


@pytest.fixture
def broken() -> ReportView:
    return report_views.broken()
