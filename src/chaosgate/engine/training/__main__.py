"""`python -m chaosgate.engine.training`: trains the shipped model, its adapters, and measures them for the card."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console

from chaosgate.engine.network import adapters, card, stored, weights
from chaosgate.engine.network.config import ModelConfig
from chaosgate.errors import UsageError

SEED = 1
STEPS = 2600
ADAPTER_STEPS = 450
NO_TORCH = "training needs torch, which is not installed; install it with: pip install 'chaosgate[torch]'"


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=stored.DATA, help="Folder of the weights and the card.")
@click.option(
    "--checkpoints",
    type=click.Path(path_type=Path),
    default=Path("build/training"),
    show_default=True,
    help="Folder of the checkpoints: an interrupted training goes on from there.",
)
@click.option("--seed", type=click.IntRange(min=0), default=SEED, show_default=True)
@click.option("--steps", type=click.IntRange(min=1), default=STEPS, show_default=True, help="Of the model.")
@click.option("--adapter-steps", type=click.IntRange(min=1), default=ADAPTER_STEPS, show_default=True, help="Of each.")
def train(out: Path, checkpoints: Path, seed: int, steps: int, adapter_steps: int) -> None:
    """Train the embedded model anew: about half an hour on one core.

    What is finished already is not trained again: a second call measures what the first one trained.
    """
    checkpoints.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    _train_model(out, checkpoints / "model.pt", seed, steps, console)
    for name in adapters.NAMES:
        _train_adapter(name, out, checkpoints / f"{name}.pt", seed, adapter_steps, console)
    _measure(out, seed, steps, adapter_steps, console)


def _train_model(out: Path, checkpoint: Path, seed: int, steps: int, console: Console) -> None:
    from chaosgate.engine.training.loop import run
    from chaosgate.engine.training.trainer import Trainer

    training = Trainer(seed, steps, ModelConfig())
    run(training, checkpoint, console)
    stored.write("tiny", dict(training.network.weights().named()), out)


def _train_adapter(name: str, out: Path, checkpoint: Path, seed: int, steps: int, console: Console) -> None:
    from chaosgate.engine.training.loop import run
    from chaosgate.engine.training.low_rank import AdapterTrainer

    # On the weights as they are stored, rounded to float16: those it will be used with.
    base = weights.shipped(out)
    training = AdapterTrainer(name, seed, steps, ModelConfig(), base)
    run(training, checkpoint, console)
    stored.write(name, dict(training.adapter().named()), out)


def _measure(out: Path, seed: int, steps: int, adapter_steps: int, console: Console) -> None:
    from chaosgate.engine.training.grading import make_card
    from chaosgate.engine.training.optimizer import ADAM_RATE, MUON_RATE
    from chaosgate.engine.training.schedule import DECAY_SHARE, TOKENS_PER_STEP, WARM_UP

    console.log("measuring")
    recipe = {
        "start": "random, but for one head of the first layer, which looks at the token before",
        "steps": f"{steps} of up to {TOKENS_PER_STEP} tokens, seed {seed}; {adapter_steps} for each adapter",
        "optimizer": f"Muon at {MUON_RATE:g} for the layers' matrices, AdamW at {ADAM_RATE:g} for the rest",
        "rate": f"warm-up over {WARM_UP} steps, constant, linear decay over the last {DECAY_SHARE:.0%}",
        "data": "conversations of the tasks, drawn without end; more facts once the model recalls most of them",
        "loss": "cross-entropy of the answers' tokens, and a small one for an even load of the experts",
        "stored as": "float16",
        "torch": version("torch"),
    }
    made = make_card(ModelConfig(), weights.shipped(out), adapters.shipped(out), recipe)
    (out / card.FILE).write_text(made.text(), encoding="utf-8")
    console.print(card.markdown(made), markup=False, highlight=False)


def main() -> int:
    """The exit code: 2 for a wrong option, a missing torch or a checkpoint of another training, 130 once stopped."""
    try:
        train(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        print("chaosgate training: stopped; the same command goes on from the last checkpoint", file=sys.stderr)
        return 130
    except UsageError as error:
        print(f"chaosgate training: {error}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        print(f"chaosgate training: {NO_TORCH}", file=sys.stderr)
        return UsageError.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
