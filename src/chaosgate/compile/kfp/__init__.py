"""Kubeflow Pipelines, built with its own SDK: packages of a plan, and its components for use by hand."""

from chaosgate.compile.kfp.build import compile_kfp
from chaosgate.compile.kfp.components import component_yaml
from chaosgate.compile.kfp.guards import kfp_problems
from chaosgate.compile.kfp.readback import read_kfp

__all__ = ["compile_kfp", "component_yaml", "kfp_problems", "read_kfp"]
