"""Mistakes of a training loop, planted into copies of the public scripts: what is replaced, and which finding names it.

The list was written before the detectors were tuned; the first run is recorded in ``results/first_run.md``.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake: the script, the replacements (old text, new text) in one of its files, and the kinds that name it."""

    id: str
    script: str
    replacements: tuple[tuple[str, str], ...]
    kinds: tuple[str, ...]
    file: str = ""


STEP = "        loss.backward()\n        optimizer.step()\n"
ZERO = "        optimizer.zero_grad()\n"
LOOP = "        test(model, device, test_loader)\n        scheduler.step()\n"

MISTAKES = (
    Mistake("zero_grad missing", "mnist", ((ZERO, ""),), ("gradients-not-cleared",)),
    Mistake(
        "zero_grad between backward and step",
        "mnist",
        ((ZERO, ""), (STEP, "        loss.backward()\n        optimizer.zero_grad()\n        optimizer.step()\n")),
        ("gradients-cleared-too-early",),
    ),
    Mistake("step missing", "vae", (("        optimizer.step()\n", ""),), ("step-missing",)),
    Mistake(
        "loss rebuilt from a Python number",
        "mnist_rnn",
        ((STEP, "        loss = torch.tensor(loss.item(), requires_grad=True)\n" + STEP),),
        ("detached-loss",),
    ),
    Mistake("backward missing", "mnist", (("        loss.backward()\n", ""),), ("backward-missing",)),
    Mistake("scheduler never stepped", "mnist", (("        scheduler.step()\n", ""),), ("scheduler-never-stepped",)),
    Mistake(
        "scheduler of epochs stepped in each batch",
        "mnist_rnn",
        (
            ("optimizer, epoch):", "optimizer, epoch, scheduler):"),
            ("optimizer, epoch)\n", "optimizer, epoch, scheduler)\n"),
            (STEP, STEP + "        scheduler.step()\n"),
            ("        test(args, model, device, test_loader)\n        scheduler.step()\n",
             "        test(args, model, device, test_loader)\n"),
        ),
        ("scheduler-too-fast",),
    ),
    Mistake(
        "scheduler stepped before the optimizer",
        "mnist",
        ((LOOP, "        test(model, device, test_loader)\n"),
         ("        train(args, model, device, train_loader", "        scheduler.step()\n        train(args, model, device, train_loader")),
        ("scheduler-before-optimizer",),
    ),
    Mistake("eval missing in validation", "mnist", (("    model.eval()\n", ""),), ("eval-missing",)),
    Mistake("train missing after validation", "mnist_rnn", (("    model.train()\n", ""),), ("train-missing",)),
    Mistake(
        "parameters missing from the optimizer",
        "mnist",
        (("optim.Adadelta(model.parameters()", "optim.Adadelta([*model.fc1.parameters(), *model.fc2.parameters()]"),),
        ("not-in-optimizer",),
    ),
    Mistake(
        "gradients clipped to nothing",
        "minGPT-adder",
        (("config.grad_norm_clip)", "1e-7)"),),
        ("clipped-to-nothing",),
        file="mingpt/trainer.py",
    ),
    Mistake(
        "gradients clipped after the step",
        "mnist",
        ((STEP, STEP + "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"),),
        ("clip-without-effect",),
    ),
    Mistake(
        "learning rate far too large",
        "mnist_rnn",
        (("optim.Adadelta(model.parameters(), lr=args.lr)", "optim.SGD(model.parameters(), lr=1e4)"),),
        ("training-diverged", "exploding-gradients", "loss-not-finite", "loss-not-falling"),
    ),
    Mistake(
        "the same batch in every step",
        "mnist",
        (("    for batch_idx, (data, target) in enumerate(train_loader):\n",
          "    first = next(iter(train_loader))\n    for batch_idx in range(len(train_loader)):\n        data, target = first\n"),),
        ("same-batch",),
    ),
    Mistake(
        "data sorted by label",
        "mnist",
        (("    train_loader = torch", "    order = dataset1.targets.argsort(stable=True)\n    dataset1.data, dataset1.targets = dataset1.data[order], dataset1.targets[order]\n    train_loader = torch"),),
        ("sorted-data",),
    ),
    Mistake(
        "graph cut in the middle of the model",
        "makemore",
        (("        x = self.transformer.ln_f(x)", "        x = self.transformer.ln_f(x.detach())"),),
        ("no-gradient",),
    ),
    Mistake(
        "overflow in the forward pass",
        "vae",
        (("torch.exp(0.5*logvar)", "torch.exp(1e4*logvar.abs())"),),
        ("loss-not-finite",),
    ),
    Mistake(
        "model rebuilt after the optimizer",
        "mnist",
        (("    scheduler = StepLR", "    model = Net().to(device)\n    scheduler = StepLR"),),
        ("optimizer-of-another-model",),
    ),
    Mistake(
        "validation builds graphs",
        "mnist_rnn",
        (("    with torch.no_grad():\n", "    if True:\n"),),
        ("validation-with-gradients",),
    ),
    Mistake(
        "seed set in every step",
        "nanoGPT",
        (("    ix = torch.randint(", "    torch.manual_seed(1337)\n    ix = torch.randint("),),
        ("seed-reset", "same-batch"),
    ),
    Mistake(
        "optimizer rebuilt in every step",
        "mnist_rnn",
        ((ZERO, "        optimizer = optim.Adam(model.parameters())\n" + ZERO),),
        ("optimizer-rebuilt",),
    ),
    Mistake(
        "gradients of three of four batches thrown away",
        "minGPT-adder",
        (("            self.optimizer.step()\n", "            if self.iter_num % 4 == 3:\n                self.optimizer.step()\n"),),
        ("gradients-discarded",),
        file="mingpt/trainer.py",
    ),
    Mistake(
        "backward and step after the loop over batches",
        "vae",
        (("        loss.backward()\n", ""), ("        optimizer.step()\n", ""),
         ("    print('====> Epoch: {} Average loss", "    loss.backward()\n    optimizer.step()\n    print('====> Epoch: {} Average loss")),
        ("batches-unused",),
    ),
)  # fmt: skip
"""All planted mistakes."""
