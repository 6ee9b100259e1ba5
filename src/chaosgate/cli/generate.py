"""`make generate`: write every file that is derived from the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from chaosgate.cli.kind_pages import catalogue_pages
from chaosgate.components.definition import BUILT_IN, find_component
from chaosgate.engine.network import card
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.model.schema import profile_schema_text, schema_text
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import CLUSTER, make_plan
from chaosgate.prompts.assistant_log import drawn_log
from chaosgate.prompts.lines import write_prompts
from chaosgate.report.comparison import comparison_schema
from chaosgate.report.history import history_schema
from chaosgate.report.machine import run_report_schema

Provider = Callable[[Path], Mapping[str, str]]


def schemas(root: Path) -> dict[str, str]:
    """The JSON Schemas, for editors and for whoever reads our files."""
    return {
        "schemas/chaos-spec.v1.json": schema_text(),
        "schemas/chaos-profile.v1.json": profile_schema_text(),
        "schemas/run-report.v1.json": run_report_schema(),
        "schemas/run-comparison.v1.json": comparison_schema(),
        "schemas/run-history.v1.json": history_schema(),
    }


def argo_pipelines(root: Path) -> dict[str, str]:
    """The Argo workflow of each scenario, as it runs without a profile."""
    from chaosgate.compile.argo import compile_argo

    carrier = Carrier()
    return {
        f"pipelines/{name}/argo.yaml": compile_argo(make_plan(spec, CLUSTER, carrier.steps), spec, carrier)
        for name, spec in scenarios(root).items()
    }


def kfp_pipelines(root: Path) -> dict[str, str]:
    """The KFP package of each scenario, as it runs without a profile."""
    from chaosgate.compile.kfp import compile_kfp

    carrier = Carrier()
    return {
        f"pipelines/{name}/kfp.yaml": compile_kfp(make_plan(spec, CLUSTER, carrier.steps), spec, carrier)
        for name, spec in scenarios(root).items()
    }


def kfp_components(root: Path) -> dict[str, str]:
    """Each built-in component for use in a hand-written KFP pipeline."""
    from chaosgate.compile.kfp import component_yaml

    return {
        f"components/{name}/component.yaml": component_yaml(find_component(name), Carrier())
        for name in sorted(BUILT_IN)
    }


def model_card(root: Path) -> dict[str, str]:
    """The page of the embedded model, from the card that was measured with its weights."""
    return {"docs/engine-model.md": card.markdown(card.shipped())}


def scenarios(root: Path) -> dict[str, ChaosSpec]:
    """The scenarios by the names of their files."""
    return {file.stem: load_spec(file) for file in sorted(root.glob("chaos-specs/scenarios/*.yaml"))}


def prompt_logs(root: Path) -> dict[str, str]:
    """The log of an assistant that is shipped as a prompt set."""
    return {"src/chaosgate/prompts/data/assistant-log.jsonl": write_prompts(drawn_log())}


PROVIDERS: tuple[Provider, ...] = (
    schemas,
    argo_pipelines,
    kfp_pipelines,
    kfp_components,
    catalogue_pages,
    prompt_logs,
    model_card,
)
"""Each takes the repository's root and returns file to text."""


def generated(root: Path) -> dict[str, str]:
    """Every generated file, by its path below `root`."""
    return {name: text for provider in PROVIDERS for name, text in provider(root).items()}


def generate(root: Path) -> list[Path]:
    """Write the generated files below `root` and return those that changed."""
    changed = []
    for name, text in generated(root).items():
        path = root / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            changed.append(path)
    return changed


if __name__ == "__main__":
    for path in generate(Path.cwd()):
        print(f"wrote {path}")
