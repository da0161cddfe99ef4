"""Networks that the manuals of torchdiffeq, torchcde and PyTorch Geometric let their users write, and N-BEATS."""

import torch
from torch import Tensor, nn


class OdeClassifier(nn.Module):
    """A neural ODE: the state follows a learned field from time 0 to 1, then a linear layer."""

    def __init__(self, features: int = 2, width: int = 32, classes: int = 2) -> None:
        super().__init__()
        self.lift = nn.Linear(features, 8)
        self.field = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 8))
        self.head = nn.Linear(8, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        from torchdiffeq import odeint

        times = torch.tensor([0.0, 1.0], device=x.device)
        return self.head(
            odeint(lambda _, state: self.field(state), self.lift(x), times, method="dopri5", rtol=1e-3, atol=1e-4)[-1]
        )


class CdeClassifier(nn.Module):
    """A neural CDE: the state is driven by a path; its input are the coefficients of the path."""

    def __init__(self, channels: int = 3, hidden: int = 8, classes: int = 2) -> None:
        super().__init__()
        self.channels, self.hidden = channels, hidden
        self.start = nn.Linear(channels, hidden)
        self.field = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, hidden * channels), nn.Tanh())
        self.head = nn.Linear(hidden, classes)

    def _matrix(self, _: Tensor, state: Tensor) -> Tensor:
        return self.field(state).view(*state.shape[:-1], self.hidden, self.channels)

    def forward(self, coeffs: Tensor) -> Tensor:
        """Logits."""
        import torchcde

        path = torchcde.CubicSpline(coeffs)
        begin = self.start(path.evaluate(path.interval[0]))
        states = torchcde.cdeint(
            path, self._matrix, begin, path.interval, adjoint=False, method="rk4", options={"step_size": 2.0}
        )
        return self.head(states[:, -1])


class GraphIsomorphism(nn.Module):
    """Three GIN layers of PyTorch Geometric, the sum over nodes, and a dense network."""

    def __init__(self, features: int = 3, width: int = 32, classes: int = 10) -> None:
        super().__init__()
        from torch_geometric.nn import GINConv

        sizes = (features, width, width)
        self.convs = nn.ModuleList(
            [
                GINConv(nn.Sequential(nn.Linear(a, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width)))
                for a in sizes
            ]
        )
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, classes))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Logits of each graph."""
        from torch_geometric.nn import global_add_pool

        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.mlp(global_add_pool(x, batch))


class NBeats(nn.Module):
    """N-BEATS with generic blocks; returns (backcast, forecast)."""

    def __init__(self, past: int = 48, future: int = 12, blocks: int = 3, width: int = 64) -> None:
        super().__init__()
        self.past, self.future = past, future
        self.stacks = nn.ModuleList(
            [
                nn.Sequential(
                    nn.Linear(past, width),
                    nn.ReLU(),
                    nn.Linear(width, width),
                    nn.ReLU(),
                    nn.Linear(width, past + future),
                )
                for _ in range(blocks)
            ]
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What is left of the past (n, past), and the forecast (n, future)."""
        forecast = x.new_zeros(len(x), self.future)
        for stack in self.stacks:
            back, ahead = stack(x).split((self.past, self.future), dim=1)
            x, forecast = x - back, forecast + ahead
        return x, forecast
