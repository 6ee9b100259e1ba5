from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import initial
from chaosgate.engine.training.network import Network
from chaosgate.engine.training.optimizer import Muon, optimizers, orthogonalised, set_rates


@pytest.mark.parametrize("shape", [(32, 32), (16, 64), (64, 16)])
def test_orthogonalising_keeps_the_directions_and_evens_their_size(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    inner = left.T @ orthogonalised(matrix) @ right.T
    sizes = torch.diagonal(inner)
    assert sizes.min() > 0.6
    assert sizes.max() < 1.3
    assert (inner - torch.diag(sizes)).abs().max() < 1e-3


def test_muon_steps_by_its_rate_whatever_the_gradient_s_size() -> None:
    moved = []
    for size in (1e-4, 1e4):
        weight = torch.nn.Parameter(torch.zeros(16, 16))
        weight.grad = size * torch.randn(16, 16, generator=torch.Generator().manual_seed(2))
        Muon([weight], 0.1).step()
        moved.append(weight.detach())
    assert torch.allclose(*moved, atol=1e-4)
    assert 0.06 < torch.linalg.matrix_norm(moved[0], 2) < 0.13


def test_every_parameter_has_one_optimizer_and_muon_only_the_layers_matrices() -> None:
    config = ModelConfig()
    network = Network(config, initial(config, 0))
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    muon, adam = optimizers(network)
    owned = [[names[id(one)] for group in opt.param_groups for one in group["params"]] for opt in (muon, adam)]
    assert sorted(owned[0] + owned[1]) == sorted(names.values())
    assert {name.split(".")[-1] for name in owned[0]} == {"qkv", "output", "gate_up", "down"}
    undecayed = [names[id(one)] for group in adam.param_groups if not group["weight_decay"] for one in group["params"]]
    assert all("norm" in name for name in undecayed)
    assert len(undecayed) == 7


def test_rates_are_shares_of_the_first_ones() -> None:
    weight = torch.nn.Parameter(torch.zeros(2, 2))
    optimizer = Muon([weight], 0.5)
    for share in (0.1, 1.0, 0.2):
        set_rates([optimizer], share)
        assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * share)
