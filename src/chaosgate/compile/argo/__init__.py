"""Argo Workflows, built with Hera: compile a plan, read it back, and what every compiled workflow owes."""

from chaosgate.compile.argo.build import compile_argo
from chaosgate.compile.argo.cron import argo_cron_problems, compile_argo_cron
from chaosgate.compile.argo.guards import argo_problems
from chaosgate.compile.argo.readback import read_argo

__all__ = ["argo_cron_problems", "argo_problems", "compile_argo", "compile_argo_cron", "read_argo"]
