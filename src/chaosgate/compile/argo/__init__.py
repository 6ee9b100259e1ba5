"""Argo Workflows, built with Hera: compile a plan, read it back, and what every compiled workflow owes."""

from chaosgate.compile.argo.build import compile_argo
from chaosgate.compile.argo.guards import argo_problems
from chaosgate.compile.argo.readback import read_argo

__all__ = ["argo_problems", "compile_argo", "read_argo"]
