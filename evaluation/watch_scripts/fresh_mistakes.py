"""A third list of planted mistakes, written before their detectors were read or changed.

The kinds come from forum questions, lists of common mistakes and published studies of training bugs. The first run is
recorded in ``results/fresh_mistakes.md``.
"""

from evaluation.watch_scripts.further_mistakes import BATCHES, FIRST_LINES
from evaluation.watch_scripts.mistakes import STEP, Mistake

RNN_SETUP = (
    "    model = Net().to(device)\n"
    "    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)\n"
    "\n"
    "    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)\n"
)
RNN_EPOCHS = "    for epoch in range(1, args.epochs + 1):\n"
RNN_TEST = "        test(args, model, device, test_loader)\n"
NANO_SCALER = "scaler = torch.cuda.amp.GradScaler(enabled=(dtype == 'float16'))\n"
NANO_CONTEXT = (
    "ctx = nullcontext() if device_type == 'cpu' else torch.amp.autocast(device_type=device_type, dtype=ptdtype)\n"
)

FRESH_MISTAKES = (
    Mistake(
        "zero_grad between the batches of one accumulated step",
        "nanoGPT",
        (("        scaler.scale(loss).backward()\n",
          "        optimizer.zero_grad(set_to_none=True)\n        scaler.scale(loss).backward()\n"),),
        ("gradients-discarded",),
    ),
    Mistake(
        "step before backward",
        "mnist_rnn",
        ((STEP, "        optimizer.step()\n        loss.backward()\n"),),
        ("gradients-cleared-too-early",),
    ),
    Mistake(
        "one-cycle schedule of batches stepped once per epoch",
        "vae",
        (("optimizer = optim.Adam(model.parameters(), lr=1e-3)\n",
          "optimizer = optim.Adam(model.parameters(), lr=1e-3)\n"
          "scheduler = optim.lr_scheduler.OneCycleLR(\n"
          "    optimizer, 1e-2, epochs=args.epochs, steps_per_epoch=len(train_loader))\n"),
         ("        test(epoch)\n", "        test(epoch)\n        scheduler.step()\n")),
        ("scheduler-too-slow",),
    ),
    Mistake(
        "losses summed for the log without item()",
        "mnist",
        ((BATCHES, "    total_loss = 0\n" + BATCHES), (STEP, STEP + "        total_loss += loss\n")),
        ("graph-kept",),
    ),
    Mistake(
        "second parameter group forgotten",
        "minGPT-adder",
        (('            {"params": [param_dict[pn] for pn in sorted(list(no_decay))], "weight_decay": 0.0},\n', ""),),
        ("not-in-optimizer",),
        file="mingpt/model.py",
    ),
    Mistake(
        "random layers frozen as if they were pretrained",
        "mnist",
        ((FIRST_LINES, FIRST_LINES + "    model.conv1.requires_grad_(False)\n    model.conv2.requires_grad_(False)\n"),),
        ("frozen-at-random",),
    ),
    Mistake(
        "optimizer rebuilt in each epoch",
        "mnist",
        ((BATCHES, "    optimizer = optim.Adam(model.parameters(), lr=1e-3)\n" + BATCHES),),
        ("optimizer-rebuilt",),
    ),
    Mistake(
        "model and optimizer rebuilt in each epoch",
        "mnist_rnn",
        ((RNN_SETUP, ""),
         (RNN_EPOCHS, RNN_EPOCHS + "".join(f"    {line}\n" for line in RNN_SETUP.splitlines() if line))),
        ("model-rebuilt",),
    ),
    Mistake(
        "penalty on the weights subtracted",
        "mnist_rnn",
        ((STEP, "        loss = loss - 1e-2 * sum(p.pow(2).sum() for p in model.parameters())\n" + STEP),),
        ("penalty-sign",),
    ),
    Mistake(
        "gradients clipped before they are unscaled",
        "nanoGPT",
        ((NANO_SCALER, "scaler = torch.amp.GradScaler('cpu')\n"), ("    scaler.unscale_(optimizer)\n", "")),
        ("clip-before-unscale",),
    ),
    Mistake(
        "gradients clipped before backward",
        "minGPT-adder",
        (("            torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_norm_clip)\n", ""),
         ("            self.loss.backward()\n",
          "            torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_norm_clip)\n"
          "            self.loss.backward()\n")),
        ("clip-without-effect",),
        file="mingpt/trainer.py",
    ),
    Mistake(
        "labels shuffled without their images",
        "mnist",
        (("    train_loader = torch",
          "    dataset1.targets = dataset1.targets[torch.randperm(len(dataset1.targets))]\n    train_loader = torch"),),
        ("labels-unrelated", "loss-not-falling"),
    ),
    Mistake(
        "softmax in a language model before cross-entropy",
        "makemore",
        (("        logits = self.lm_head(x)\n", "        logits = F.softmax(self.lm_head(x), dim=-1)\n"),),
        ("softmax-before-loss",),
    ),
    Mistake(
        "number of errors as the loss",
        "gcn",
        (("    loss = criterion(output[mask_train], target[mask_train])",
          "    loss = (output[mask_train].argmax(dim=1) != target[mask_train]).float().mean().requires_grad_()"),),
        ("detached-loss",),
    ),
    Mistake(
        "test loader reads the training images",
        "mnist_rnn",
        (("datasets.MNIST('../data', train=False, transform", "datasets.MNIST('../data', train=True, transform"),),
        ("validation-on-training-data",),
    ),
    Mistake(
        "checkpoint with other names loaded with strict=False",
        "mnist",
        ((FIRST_LINES,
          FIRST_LINES + "    state = {'module.' + name: value for name, value in Net().state_dict().items()}\n"
                        "    model.load_state_dict(state, strict=False)\n"),),
        ("state-not-loaded",),
    ),
    Mistake(
        "averaged weights never updated",
        "vae",
        (("optimizer = optim.Adam(model.parameters(), lr=1e-3)\n",
          "optimizer = optim.Adam(model.parameters(), lr=1e-3)\nema = optim.swa_utils.AveragedModel(model)\n"),
         ("            recon_batch, mu, logvar = model(data)\n            test_loss",
          "            recon_batch, mu, logvar = ema(data)\n            test_loss"),
         ("    model.eval()\n", "    ema.eval()\n")),
        ("validated-model-not-trained",),
    ),
    Mistake(
        "tokens masked in the corpus itself",
        "word_language_model",
        (("        data, targets = get_batch(train_data, i)\n",
          "        data, targets = get_batch(train_data, i)\n        data[torch.rand(data.shape) < 0.15] = 0\n"),
         ("range(1, args.epochs+1)", "range(1, 5)")),
        ("data-changed-in-place",),
    ),
    Mistake(
        "half precision without a gradient scaler",
        "nanoGPT",
        ((NANO_CONTEXT, "ctx = torch.amp.autocast(device_type='cpu', dtype=torch.float16)\n"),),
        ("half-precision-without-scaler",),
    ),
    Mistake(
        "hidden state never detached",
        "word_language_model",
        (("            hidden = repackage_hidden(hidden)\n            output, hidden = model(data, hidden)\n        loss",
          "            output, hidden = model(data, hidden)\n        loss"),
         ("        loss.backward()\n", "        loss.backward(retain_graph=True)\n")),
        ("graph-kept", "hidden-state-not-detached"),
    ),
    Mistake(
        "functional dropout in a graph network",
        "gcn",
        (("        x = self.dropout(x) #", "        x = F.dropout(x, 0.5) #"),),
        ("random-in-eval",),
    ),
    Mistake(
        "learning rate written to an attribute of the optimizer",
        "nanoGPT",
        (("    for param_group in optimizer.param_groups:\n        param_group['lr'] = lr\n", "    optimizer.lr = lr\n"),),
        ("learning-rate-not-applied",),
    ),
    Mistake(
        "optimizer steps in the test loop",
        "mnist_rnn",
        (("def test(args, model, device, test_loader):", "def test(args, model, device, test_loader, optimizer):"),
         (RNN_TEST, RNN_TEST.replace("test_loader)", "test_loader, optimizer)")),
         ("    with torch.no_grad():\n", "    if True:\n"),
         ("            output = model(data)\n            test_loss",
          "            output = model(data)\n            optimizer.zero_grad()\n"
          "            F.nll_loss(output, target).backward()\n            optimizer.step()\n            test_loss")),
        ("step-in-validation",),
    ),
    Mistake(
        "break of a debugging session left in the loop",
        "mnist",
        (("            if args.dry_run:\n                break\n", "            break\n"),
         ("range(1, args.epochs + 1)", "range(1, 21)")),
        ("epoch-cut-short", "same-batch"),
    ),
)  # fmt: skip
"""All mistakes of the third list."""
