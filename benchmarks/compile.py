"""How long a team's whole repository takes: validating 200 specs, compiling 500, comparing two runs.

    python benchmarks/compile.py                a table; hera and kfp alone beside it
    python benchmarks/compile.py --json         one JSON object a line: name, value, unit, goal, peers
    python benchmarks/compile.py --selftest     compiles twice as many and must see it take twice as long

Wall-clock seconds of whole processes, imports included. The peers build and dump as many workflows of eight container
steps by the library alone, with nothing validated, planned, passed on or read back.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from figures import BIN, ROOT, Figure, median, seconds, see_twofold, show

SPEC = ROOT / "chaos-specs/scenarios/stream-degradation.yaml"
PYTHON = BIN / "python"
COMPILE = """
import sys
from pathlib import Path
from chaosgate.compile.{engine} import compile_{engine} as compiled
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.planner import CLUSTER, make_plan
spec = load_spec(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    compiled(make_plan(spec, CLUSTER), spec, Carrier())
"""
HERA_ALONE = """
import sys
from hera.workflows import DAG, Container, Task, Workflow
for _ in range(int(sys.argv[2])):
    with Workflow(generate_name="w-", entrypoint="dag") as workflow:
        step = Container(name="step", image="i:1", command=["python"], args=["-c", "pass"])
        with DAG(name="dag"):
            tasks = [Task(name=f"t{number}", template=step) for number in range(8)]
            for before, after in zip(tasks, tasks[1:]):
                before >> after
    workflow.to_yaml()
"""
KFP_ALONE = """
import sys, tempfile
from kfp import compiler, dsl
@dsl.container_component
def step():
    return dsl.ContainerSpec(image="i:1", command=["python"], args=["-c", "pass"])
for _ in range(int(sys.argv[2])):
    @dsl.pipeline(name="w")
    def pipeline():
        before = step()
        for _ in range(7):
            before = step().after(before)
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        compiler.Compiler().compile(pipeline, file.name)
"""
ALONE = {"hera": HERA_ALONE, "kfp": KFP_ALONE}


def python(script: str, count: int) -> list[str | Path]:
    """The command line of a script that works on the spec `count` times."""
    return [PYTHON, "-c", script, SPEC, str(count)]


def compile_figure(engine: str, peer: str, goal: float) -> Figure:
    """500 specs compiled in one process, and the library alone beside it."""
    figure = Figure(f"compile_500_{engine}_s", seconds(python(COMPILE.format(engine=engine), 500)), "s", goal)
    figure.peers[f"{peer} alone"] = seconds(python(ALONE[peer], 500))
    return figure


def validate_figure(folder: Path) -> Figure:
    """200 files by one command."""
    files = [folder / f"spec-{number}.yaml" for number in range(200)]
    for file in files:
        file.write_text(SPEC.read_text())
    return Figure("validate_200_s", median([BIN / "chaosgate", "validate", *files], runs=3), "s", 3.0)


def compare_figure(folder: Path) -> Figure:
    """Two runs as a whole drill leaves them, written without one."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from finished_run import finish

    runs = [finish(folder / "runs" / name) for name in ("run-a", "run-b")]
    command = [BIN / "chaosgate", "compare", *(run.name for run in runs), "--state", folder]
    return Figure("compare_2_s", median(command), "s", 1.0)


def selftest() -> None:
    """Twice as many specs must take about twice as long."""
    script = COMPILE.format(engine="argo")
    see_twofold(seconds(python(script, 500)), seconds(python(script, 1000)))


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--json", "--selftest"):
        parser.add_argument(flag, action="store_true")
    words = parser.parse_args()
    if words.selftest:
        selftest()
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = [
            validate_figure(Path(folder)),
            compile_figure("argo", "hera", 6.0),
            compile_figure("kfp", "kfp", 9.0),
            compare_figure(Path(folder)),
        ]
    show(figures, words.json)


if __name__ == "__main__":
    main()
