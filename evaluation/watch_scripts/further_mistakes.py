"""Further mistakes of kinds that people ask about in forums; the list was written before the detectors for them.

The first run is recorded in ``results/further_mistakes.md``.
"""

from evaluation.watch_scripts.mistakes import LOOP, STEP, ZERO, Mistake

FORWARD = "        output = model(data)\n        loss = F.nll_loss(output, target)\n"
SCHEDULER = "    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)\n"
FULL_STEP = FORWARD + STEP
BATCHES = "    for batch_idx, (data, target) in enumerate(train_loader):\n"
ADADELTA = "    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)\n"
FIRST_LINES = "    model = Net().to(device)\n"

FURTHER_MISTAKES = (
    Mistake(
        "layer replaced after the optimizer was created",
        "mnist",
        ((SCHEDULER, "    model.fc2 = nn.Linear(128, 10)\n" + SCHEDULER),),
        ("not-in-optimizer",),
    ),
    Mistake(
        "backward of a detached average",
        "mnist",
        ((STEP, "        loss = torch.stack([loss.detach()]).mean().requires_grad_()\n" + STEP),),
        ("detached-loss",),
    ),
    Mistake("zero_grad once per epoch", "mnist_rnn", ((ZERO, ""), (BATCHES, "    optimizer.zero_grad()\n" + BATCHES)),
            ("gradients-not-cleared",)),
    Mistake(
        "cosine schedule of epochs stepped in each batch",
        "mnist",
        ((SCHEDULER, "    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)\n"),
         ("        train(args, model, device, train_loader, optimizer, epoch)\n",
          "        train(args, model, device, train_loader, optimizer, epoch, scheduler)\n"),
         ("optimizer, epoch):", "optimizer, epoch, scheduler):"),
         (STEP, STEP + "        scheduler.step()\n"), (LOOP, LOOP.replace("        scheduler.step()\n", ""))),
        ("scheduler-too-fast",),
    ),
    Mistake("eval mode during the whole training", "mnist_rnn", (("    model.train()\n", "    model.eval()\n"),),
            ("train-missing",)),
    Mistake(
        "no_grad around the forward pass of training",
        "mnist",
        ((FORWARD, "        with torch.no_grad():\n            output = model(data)\n"
                   "        loss = F.nll_loss(output, target).requires_grad_()\n"),),
        ("detached-loss",),
    ),
    Mistake(
        "gradients of eight batches summed without division",
        "mnist",
        ((ADADELTA, "    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)\n"), (ZERO, ""),
         (STEP, "        loss.backward()\n        if batch_idx % 8 == 7:\n            optimizer.step()\n"
                "            optimizer.zero_grad()\n")),
        ("accumulation-not-averaged",),
    ),
    Mistake(
        "batch normalization with batches of one",
        "mnist",
        (("nn.Dropout(0.25)", "nn.BatchNorm1d(9216)"), ("        x = self.dropout1(x)\n        x = torch.flatten(x, 1)\n",
          "        x = torch.flatten(x, 1)\n        x = self.dropout1(x[..., None])[..., 0]\n"),
         ("{'batch_size': args.batch_size}", "{'batch_size': 1}"), ("nn.BatchNorm1d(9216)", "nn.BatchNorm1d(9216)"),
         ("        x = self.dropout1(x[..., None])[..., 0]\n",
          "        x = self.dropout1(torch.stack((x, x), 2)).mean(2)\n"), ("        if batch_idx % args.log_interval == 0:\n",
          "        if batch_idx == 60:\n            break\n        if batch_idx % args.log_interval == 0:\n")),
        ("batch-too-small",),
    ),
    Mistake("targets of shape n against outputs of shape n x 1", "regression",
            (("batch_y)\n", "batch_y.squeeze(1))\n"), ("    if loss < 1e-3:", "    if loss < 1e-3 or batch_idx > 300:")),
            ("loss-broadcast",)),
    Mistake("softmax in the model before cross-entropy", "mnist",
            (("F.log_softmax(x, dim=1)", "F.softmax(x, dim=1)"), ("F.nll_loss(", "F.cross_entropy(")),
            ("softmax-before-loss",)),
    Mistake("log_softmax missing before nll_loss", "mnist", (("F.log_softmax(x, dim=1)", "x"),),
            ("nll-without-log-softmax",)),
    Mistake("validation on the training data", "mnist",
            (("    train_loader = torch", "    dataset2 = dataset1\n    train_loader = torch"),),
            ("validation-on-training-data",)),
    Mistake("next(iter(loader)) inside the loop", "mnist",
            ((BATCHES, BATCHES + "        data, target = next(iter(train_loader))\n"),), ("same-batch",)),
    Mistake("gradient values clipped to a millionth", "vae",
            (("        optimizer.step()\n",
              "        torch.nn.utils.clip_grad_value_(model.parameters(), 1e-6)\n        optimizer.step()\n"),
             ("optim.Adam(model.parameters(), lr=1e-3)", "optim.SGD(model.parameters(), lr=1e-3)")),
            ("clipped-to-nothing",)),
    Mistake("NaN in one image of a later batch", "vae",
            (("        optimizer.zero_grad()\n",
              "        optimizer.zero_grad()\n        if epoch == 3 and batch_idx == 4:\n"
              "            data[0, 0, 0, 0] = float('nan')\n"),),
            ("loss-not-finite",)),
    Mistake("learning rate zero after the warmup", "mnist",
            ((SCHEDULER, "    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: float(epoch < 1))\n"),),
            ("learning-rate-zero",)),
    Mistake("weight decay of ten", "mnist_rnn",
            (("optim.Adadelta(model.parameters(), lr=args.lr)",
              "optim.SGD(model.parameters(), lr=0.05, weight_decay=10)"),),
            ("weight-decay-too-large",)),
    Mistake("two optimizer steps for each batch", "mnist", ((STEP, STEP + "        optimizer.step()\n"),),
            ("step-repeated", "gradients-not-cleared")),
    Mistake("backward of a growing sum of losses", "vae",
            (("        loss.backward()\n        train_loss += loss.item()\n",
              "        train_loss = train_loss + loss\n        train_loss.backward(retain_graph=True)\n"),
             ("        optimizer.step()\n", ""),
             ("    print('====> Epoch: {} Average loss", "    optimizer.step()\n    print('====> Epoch: {} Average loss")),
            ("graph-kept",)),
    Mistake("functional dropout without its training flag", "mnist",
            (("        x = self.dropout1(x)\n", "        x = F.dropout(x, 0.25)\n"),), ("eval-missing", "random-in-eval")),
    Mistake("loader without a batch", "mnist",
            (("train_kwargs = {'batch_size': args.batch_size}", "train_kwargs = {'batch_size': 4096, 'drop_last': True}"),),
            ("no-batches",)),
    Mistake("validation of a copy that is never trained", "mnist",
            ((SCHEDULER, SCHEDULER + "    import copy\n    best = copy.deepcopy(model)\n"),
             (LOOP, LOOP.replace("test(model", "test(best"))),
            ("validated-model-not-trained",)),
    Mistake("best weights kept by reference", "mnist",
            ((SCHEDULER, SCHEDULER + "    best = None\n"),
             (LOOP, LOOP + "        if epoch == 1:\n            best = model.state_dict()\n"),
             ("    if args.save_model:\n", "    model.load_state_dict(best)\n    if args.save_model:\n")),
            ("state-is-a-reference",)),
    Mistake("softmax over the batch", "mnist", (("F.log_softmax(x, dim=1)", "F.log_softmax(x, dim=0)"),),
            ("softmax-over-batch",)),
)  # fmt: skip
"""All further mistakes."""
