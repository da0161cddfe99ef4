"""Games of a GAN: one step of each rule by hand, what is recorded, and the field of the game."""

import pytest
import torch
from torch import nn

from gnomon.generative import GAN, train_gan
from gnomon.generative.game import AlternatingUpdate, ExtragradientUpdate, simulate_game
from gnomon.generative.gan import MinimaxLosses, NonSaturatingLosses, WassersteinLosses
from gnomon.generative.train_gan import GanRun, _Table, gan_gradient_field
from gnomon.training import SGD

DATA = torch.tensor([[0.3], [1.7], [2.2], [-0.4], [0.9]])


def gan(game=None):
    torch.manual_seed(0)
    return GAN(
        nn.Linear(2, 1), nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 1)), latent=2, shape=(1,), game=game
    )


def losses(model, real):
    """Both players' losses with new fakes from torch's random state, non-saturating."""

    def fake():
        return model.maker(torch.randn(len(real), 2))

    def judge():
        made = fake().detach()
        return (nn.functional.softplus(-model.judge(real)) + nn.functional.softplus(model.judge(made))).mean()

    def maker():
        return nn.functional.softplus(-model.judge(fake())).mean()

    return maker, judge


def moved(model, part, loss, lr):
    own = list(getattr(model, part).parameters())
    value = loss()
    for p, g in zip(own, torch.autograd.grad(value, own), strict=True):
        p.data -= lr * g
    return float(value.detach())


@pytest.mark.parametrize(("inner", "batch", "used"), [(1, 3, 3), (2, 4, 4), (1, 99, 5)])
def test_players_in_turn_take_gradient_steps(inner, batch, used):
    run = train_gan(gan(), DATA, steps=2, optimizer=SGD(0.1), discriminator_steps=inner, batch=batch, seed=3)
    model = gan()
    torch.manual_seed(3)
    rows = []
    for _ in range(2):
        for _ in range(inner):
            judged = moved(model, "judge", losses(model, DATA[torch.randint(5, (used,))])[1], 0.1)
        rows.append((moved(model, "maker", losses(model, DATA[torch.randint(5, (used,))])[0], 0.1), judged))
    for found, expected in zip(run.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(found, expected)
    assert run.steps.tolist() == [1, 2]
    assert run.generator_loss.tolist() == pytest.approx([r[0] for r in rows], rel=1e-5)
    assert run.discriminator_loss.tolist() == pytest.approx([r[1] for r in rows], rel=1e-5)


def test_a_look_ahead_takes_the_gradients_of_where_it_would_lead():
    run = train_gan(gan(), DATA, steps=1, optimizer=SGD(0.2), rule=ExtragradientUpdate(), batch=4, seed=3)
    model, ahead = gan(), gan()
    torch.manual_seed(3)
    for target in (ahead, model):
        maker, judge = losses(ahead if target is model else model, DATA[torch.randint(5, (4,))])
        source = ahead if target is model else model
        parts = [list(source.maker.parameters()), list(source.judge.parameters())]
        slopes = [torch.autograd.grad(loss(), own) for loss, own in zip((maker, judge), parts, strict=True)]
        goal = [*target.maker.parameters(), *target.judge.parameters()]
        start = [*model.maker.parameters(), *model.judge.parameters()]
        for p, q, g in zip(goal, start, [*slopes[0], *slopes[1]], strict=True):
            p.data = q.data - 0.2 * g
    for found, expected in zip(run.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(found, expected)


def test_about_sixty_steps_are_recorded_and_the_last_in_any_case(monkeypatch):
    monkeypatch.setattr(_Table, "_turns", lambda self, step: (torch.ones(()), torch.ones(())))
    run = train_gan(gan(), DATA, steps=125, optimizer=SGD(1e-3), batch=2)
    assert run.steps.tolist() == [1, *range(2, 125, 2), 125]


def test_a_loss_that_is_not_finite_ends_the_game():
    model = gan()
    model.maker.weight.data.fill_(float("inf"))
    run = train_gan(model, DATA, steps=9, optimizer=SGD(0.1), batch=2)
    assert run.stopped == "diverged" and run.steps[-1] == 1 and run.findings[0].level.name == "PROBLEM"
    assert GanRun(model, torch.tensor([4]), torch.ones(1), torch.ones(1), "finished", 1.0).findings == ()


def test_the_time_budget_ends_the_game():
    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    run = train_gan(gan(), DATA, steps=50, optimizer=SGD(1e-3), batch=2, budget=5.0, clock=clock)
    assert run.stopped == "time" and run.steps[-1] < 50


@pytest.mark.parametrize("game", [MinimaxLosses(), NonSaturatingLosses(), WassersteinLosses()])
def test_the_field_of_a_game_is_both_gradients_in_one_vector(game):
    model = gan(game)
    field, point = gan_gradient_field(model, DATA, seed=2)
    z = torch.randn(5, 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64).float()
    real, fake = model.judge(DATA)[:, 0], model.judge(model.maker(z))[:, 0]
    soft = nn.functional.softplus
    maker = {"MinimaxLosses": -soft(fake), "NonSaturatingLosses": soft(-fake), "WassersteinLosses": -fake}[
        type(game).__name__
    ].mean()
    judge = (fake - real if isinstance(game, WassersteinLosses) else soft(-real) + soft(fake)).mean()
    first = torch.autograd.grad(maker, list(model.maker.parameters()), retain_graph=True)
    second = torch.autograd.grad(judge, list(model.judge.parameters()))
    expected = torch.cat([g.flatten() for g in (*first, *second)])
    torch.testing.assert_close(field(point), expected)
    torch.testing.assert_close(point, torch.cat([p.detach().flatten() for p in model.parameters()]))


def test_losses_of_a_gan_are_those_of_its_game_on_new_fakes():
    model = gan(WassersteinLosses(7.0))
    torch.manual_seed(1)
    found = model.discriminator_loss(DATA)
    torch.manual_seed(1)
    fake = model.maker(torch.randn(5, 2)).detach()
    place = torch.rand(5, 1)
    between = (place * DATA + (1 - place) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(model.judge(between).sum(), between)
    expected = (model.judge(fake) - model.judge(DATA)).mean() + 7 * (slope.norm(dim=1) - 1).square().mean()
    torch.testing.assert_close(found, expected)
    z = torch.randn(3, 2, generator=torch.Generator().manual_seed(6), dtype=torch.float64).float()
    torch.testing.assert_close(model.sample(3, seed=6), model.maker(z).detach())
    assert WassersteinLosses().weight == 10.0


def test_players_of_unequal_size_move_one_after_the_other():
    matrix = torch.tensor([[1.0, 2.0, -1.0], [0.5, -1.0, 3.0], [2.0, 0.0, 1.0]])
    start = torch.tensor([1.0, -2.0, 0.5])
    path = simulate_game(
        lambda w: matrix @ w, start, steps=1, lr=0.1, rule=AlternatingUpdate()
    )  # players (1) and (2) long
    first = start.clone()
    first[0] -= 0.1 * (matrix @ start)[0]
    second = first.clone()
    second[1:] -= 0.1 * (matrix @ first)[1:]
    torch.testing.assert_close(path[1], second)
    own = simulate_game(lambda w: matrix @ w, start, steps=1, lr=0.1, rule=AlternatingUpdate(), players=[slice(0, 3)])
    torch.testing.assert_close(own[1], start - 0.1 * matrix @ start)
